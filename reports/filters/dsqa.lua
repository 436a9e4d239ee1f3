-- What the report's documents mean, for pandoc alone; with Quarto, only what Quarto does not know.
--
-- Both: tables (spanners, row groups, scopes, stacking on a phone), references to sections, cards, coloured verdicts.
-- pandoc alone (the files in pandoc/): the executed notebook with its `#|` options, numbers and references of figures,
-- tables and equations, callouts. Quarto does these itself.

local in_quarto = quarto ~= nil

-- Quarto runs filters from a script of its own, and tells where they lie.
local function beside(name)
  if in_quarto then return dofile(quarto.utils.resolve_path(name)) end
  return dofile(pandoc.path.join({ pandoc.path.directory(PANDOC_SCRIPT_FILE), name }))
end

local common = beside("common.lua")
local html, typst = common.html, common.typst
local has, raw = common.has, common.raw

-- ---------------------------------------------------------------- sections

local sections = {}

local function number_sections(doc)
  local counts, top = {}, 7
  doc.blocks = doc.blocks:walk({
    -- A card is one of many of its kind, and a callout's heading is its title.
    Div = function(div)
      if not has(div, "card") and not div.classes:find_if(function(class) return class:match("^callout%-") end) then
        return nil
      end
      return div:walk({ Header = function(header)
        header.classes:insert("unnumbered")
        return header
      end })
    end,
  })
  local wanted = doc.meta["number-sections"] and pandoc.utils.stringify(doc.meta["number-sections"]) == "true"
  local function is_numbered(header)
    return wanted and not has(header, "unnumbered")
  end
  doc.blocks:walk({ Header = function(header)
    if is_numbered(header) then top = math.min(top, header.level) end
  end })
  doc.blocks = doc.blocks:walk({
    traverse = "topdown",
    Header = function(header)
      local title = pandoc.Inlines({ pandoc.Str("“") }) .. header.content .. { pandoc.Str("”") }
      if is_numbered(header) then
        for level = top, header.level do counts[level] = counts[level] or 0 end
        counts[header.level] = counts[header.level] + 1
        for level = header.level + 1, 7 do counts[level] = nil end
        local number = table.concat(counts, ".", top, header.level)
        title = { pandoc.Str("Section\u{a0}" .. number) }
        if not in_quarto and not typst then
          local shown = pandoc.Span({ pandoc.Str(number) }, pandoc.Attr("", { "header-section-number" }))
          header.content = pandoc.Inlines({ shown, pandoc.Space() }) .. header.content
        end
      end
      if header.identifier:match("^sec%-") then
        if sections[header.identifier] then error("the label '" .. header.identifier .. "' is used twice") end
        sections[header.identifier] = title
      end
      return header
    end,
  })
end

local function section_reference(cite)
  local resolved = pandoc.List()
  for i, citation in ipairs(cite.citations) do
    if not citation.id:match("^[Ss]ec%-") then return nil end
    local id = "s" .. citation.id:sub(2)
    if not sections[id] then error("@" .. citation.id .. " refers to nothing in the document") end
    if i > 1 then resolved:extend({ pandoc.Str(","), pandoc.Space() }) end
    resolved:insert(pandoc.Link(sections[id], "#" .. id, "", { class = "ref" }))
  end
  return resolved
end

-- ---------------------------------------------------------------- tables

local function first_span(cell, class)
  local block = cell.contents[1]
  local inline = block and block.content and block.content[1]
  return inline and inline.t == "Span" and has(inline, class) and inline or nil
end

local function set_scope(cell, scope)
  if html then cell.attr.attributes.scope = scope end
end

-- Titles that begin with the same [..]{.spanner} stand under it, in a row above their own.
local function gather_spanners(tbl)
  local titles = tbl.head.rows[1]
  if not titles then return end
  local above, any = pandoc.List(), false
  for i, cell in ipairs(titles.cells) do
    local span = first_span(cell, "spanner")
    local last = above[#above]
    local name = span and pandoc.utils.stringify(span) or ""
    if span then
      any = true
      cell.contents[1].content:remove(1)
      if cell.contents[1].content[1] and cell.contents[1].content[1].t == "Space" then
        cell.contents[1].content:remove(1)
      end
    end
    if span and last and last.name == name then
      last.cell.col_span = last.cell.col_span + 1
    else
      local content = span and { pandoc.Plain(span.content) } or {}
      local made = pandoc.Cell(content, span and "AlignCenter" or "AlignDefault", 1, 1, pandoc.Attr("", span and { "spanner" } or {}))
      if span then set_scope(made, "colgroup") end
      above:insert({ name = span and name or nil, cell = made })
    end
  end
  if any then tbl.head.rows:insert(1, pandoc.Row(above:map(function(entry) return entry.cell end))) end
end

-- A row of [..]{.group} and nothing else heads the rows below it.
local function gather_groups(tbl)
  local bodies = pandoc.List()
  for _, body in ipairs(tbl.bodies) do
    local rows = pandoc.List()
    local head = pandoc.List()
    local function close()
      if #rows > 0 or #head > 0 then
        bodies:insert({ attr = body.attr, body = rows, head = head, row_head_columns = 1 })
      end
      rows, head = pandoc.List(), pandoc.List()
    end
    for _, row in ipairs(body.body) do
      local span = row.cells[1] and first_span(row.cells[1], "group")
      if span then
        close()
        local cell = pandoc.Cell({ pandoc.Plain({ pandoc.Strong(span.content) }) }, "AlignLeft", 1, #row.cells, pandoc.Attr("", { "group" }))
        set_scope(cell, "rowgroup")
        head:insert(pandoc.Row({ cell }))
      else
        if row.cells[1] then set_scope(row.cells[1], "row") end
        rows:insert(row)
      end
    end
    close()
  end
  tbl.bodies = bodies
end

local function label_cells(tbl)
  local titles = {}
  local head = tbl.head.rows[#tbl.head.rows]
  if not head then return end
  for i, cell in ipairs(head.cells) do titles[i] = pandoc.utils.stringify(cell.contents) end
  for _, body in ipairs(tbl.bodies) do
    for _, row in ipairs(body.body) do
      for i, cell in ipairs(row.cells) do
        if i > 1 then cell.attr.attributes["data-label"] = titles[i] or "" end
      end
    end
  end
end

local function style_cells(rows, style)
  for _, row in ipairs(rows) do
    for _, cell in ipairs(row.cells) do
      -- As paragraphs: what is plain has a style of its own in Word.
      local paragraphs = cell.contents:walk({ Plain = function(plain) return pandoc.Para(plain.content) end })
      cell.contents = { common.styled(paragraphs, style) }
    end
  end
end

-- Typst breaks no word: an identifier of a question would print over the next column.
local function breakable(text)
  if #text <= 10 then return text end
  local broken = text:gsub("([_/.=,:%-])(%w)", "%1\u{200b}%2")
  -- What has no such place is broken anywhere; never within a letter.
  return (broken:gsub("%w%w%w%w%w%w%w%w%w%w%w%w%w%w%w%w+", function(run)
    return (run:gsub("%w%w%w%w%w%w%w%w", "%0\u{200b}"))
  end))
end

local function break_words(rows)
  for _, row in ipairs(rows) do
    for _, cell in ipairs(row.cells) do
      cell.contents = cell.contents:walk({
        Str = function(str) return pandoc.Str(breakable(str.text)) end,
        Code = function(code)
          code.text = breakable(code.text)
          return code
        end,
      })
    end
  end
end

local function dress_table(tbl)
  gather_spanners(tbl)
  gather_groups(tbl)
  if common.word then
    -- Quarto centres what says nothing of its place.
    for i, spec in ipairs(tbl.colspecs) do
      if spec[1] == "AlignDefault" then tbl.colspecs[i] = { "AlignLeft", spec[2] } end
    end
  end
  if typst then
    for _, body in ipairs(tbl.bodies) do
      break_words(body.head)
      break_words(body.body)
    end
  end
  if common.word then
    style_cells(tbl.head.rows, "Table Heading")
    for _, body in ipairs(tbl.bodies) do
      style_cells(body.head, "Table Text")
      style_cells(body.body, "Table Text")
    end
  end
  if html then
    -- Whether widths are needed depends on the page: a browser finds its own.
    for i, spec in ipairs(tbl.colspecs) do tbl.colspecs[i] = { spec[1], nil } end
    label_cells(tbl)
  end
  for _, row in ipairs(tbl.head.rows) do
    for _, cell in ipairs(row.cells) do
      if #cell.contents > 0 and not cell.attr.attributes.scope then set_scope(cell, "col") end
      if typst then
        cell.contents = cell.contents:walk({ Plain = function(plain) return pandoc.Plain({ pandoc.Strong(plain.content) }) end })
      end
    end
  end
  return tbl
end

-- ---------------------------------------------------------------- cards, notes, spans

local function boxed(name, content)
  local blocks = pandoc.List({ raw("#" .. name .. "[") })
  blocks:extend(content)
  blocks:insert(raw("]"))
  return blocks
end

local function dress_div(div)
  if has(div, "card") and typst then return boxed("dsqa-card", div.content) end
  if has(div, "table-notes") then
    if typst then return boxed("dsqa-table-notes", div.content) end
    if common.word then return common.styled(div.content, "Table Note") end
  end
end

local typst_spans = { verdict = true, count = true, interval = true, note = true, facts = true, level = true }
local tones = { right = true, wrong = true, unstable = true, zero = true }

local function dress_span(span)
  if not typst then return nil end
  for _, class in ipairs(span.classes) do
    if typst_spans[class] then
      local tone = "plain"
      for _, other in ipairs(span.classes) do
        if tones[other] then tone = other end
      end
      local inlines = pandoc.List({ pandoc.RawInline("typst", "#dsqa-" .. class .. '("' .. tone .. '")[') })
      inlines:extend(span.content)
      -- A following parenthesis or bracket must not be taken for an argument.
      inlines:insert(pandoc.RawInline("typst", "];"))
      return inlines
    end
  end
end

local function share_lines(inlines)
  -- One answer a line, in every format.
  local changed = false
  for i = 2, #inlines - 1 do
    local before, after = inlines[i - 1], inlines[i + 1]
    if inlines[i].t == "Space" and before.t == "Span" and after.t == "Span" and has(before, "share") and has(after, "share") then
      inlines[i] = pandoc.LineBreak()
      changed = true
    end
  end
  if changed then return inlines end
end

-- ---------------------------------------------------------------- the document

-- Word shows the picture's other form: what it makes of an SVG depends on its version.
local function for_word(image)
  -- Quarto drops fig-alt here, and Word's text for those who cannot see a picture is its caption.
  local alt = image.attributes["fig-alt"]
  if alt then image.caption = pandoc.Inlines({ pandoc.Str(alt) }) end
  image.src = image.src:gsub("%.svg$", ".png")
  return image
end

-- A vector picture above this is shown as its PNG on a screen: a point a run, it would outweigh the rest of the page.
local most_svg_bytes = 300000

local function size_of(path)
  local file = io.open(path, "rb")
  if not file then return nil end
  local size = file:seek("end")
  file:close()
  return size
end

local function for_screen(image)
  local other, count = image.src:gsub("%.svg$", ".png")
  local heavy, light = size_of(image.src), count > 0 and size_of(other)
  if heavy and light and heavy > most_svg_bytes and light < heavy then
    image.src = other
    return image
  end
end

local function with_quarto(doc)
  if html then
    quarto.doc.add_html_dependency({ name = "dsqa", version = "1.0.0", scripts = { "../theme/dsqa.js" } })
  end
  number_sections(doc)
  if common.word then doc = doc:walk({ Image = for_word }) end
  if html then doc = doc:walk({ Image = for_screen }) end
  return doc:walk({ Cite = section_reference })
end

local function with_pandoc_alone(doc)
  local function part(name) return beside("pandoc/" .. name .. ".lua") end
  local crossref = part("crossref")(common)
  local blocks = part("blocks")(common, crossref, beside("callouts.lua"))
  doc = part("notebook")(common)(doc)
  doc.blocks = doc.blocks:walk({ Figure = blocks.as_div })
  number_sections(doc)
  crossref.collect(doc)
  doc = doc:walk({ Cite = section_reference }):walk({ Cite = crossref.resolve, Para = crossref.equation, Image = blocks.picture })
  crossref.check_citations(doc)
  return doc, blocks.lay_out
end

function Pandoc(doc)
  local lay_out
  if in_quarto then doc = with_quarto(doc) else doc, lay_out = with_pandoc_alone(doc) end
  doc = doc:walk({ Table = dress_table, Inlines = share_lines })
  if lay_out then doc = doc:walk({ Div = lay_out }) end
  return doc:walk({ Div = dress_div, Span = dress_span })
end
