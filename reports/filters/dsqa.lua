-- What the report's documents mean, for pandoc alone; with Quarto, only what Quarto does not know.
--
-- Without Quarto this filter reads an executed notebook (pandoc's own ipynb reader, with
-- `ipynb+raw_markdown --ipynb-output=all`) and understands the part of Quarto's language that the notebooks use:
-- `#|` options (echo, include, output, code-fold, code-summary, label, fig-cap, tbl-cap), Markdown outputs,
-- ::: {#fig-…} and ::: {#tbl-…}, equations {#eq-…}, @fig-… @tbl-… @eq-… references, callouts.
-- In both it lays out: cards, tables that stack on a phone, coloured verdicts.

local in_quarto = quarto ~= nil
local html = FORMAT:match("html") ~= nil
local typst = FORMAT:match("typst") ~= nil
local prefixes = { fig = "Figure", tbl = "Table", eq = "Equation" }

local function has(element, class)
  return element.classes and element.classes:includes(class)
end

local function raw(text)
  return pandoc.RawBlock(html and "html" or "typst", text)
end

local function escape_html(text)
  return (text:gsub("&", "&amp;"):gsub("<", "&lt;"):gsub(">", "&gt;"):gsub('"', "&quot;"))
end

local function read_inlines(text)
  return pandoc.utils.blocks_to_inlines(pandoc.read(text, "markdown").blocks)
end

-- ---------------------------------------------------------------- the notebook

local function options_of(source)
  local options, body, reading = {}, {}, true
  for line in (source .. "\n"):gmatch("(.-)\n") do
    local key, value = line:match("^#|%s*([%w-]+):%s*(.-)%s*$")
    if reading and key then
      value = value:gsub('^"(.*)"$', "%1"):gsub("^'(.*)'$", "%1")
      options[key] = value
    else
      reading = false
      body[#body + 1] = line
    end
  end
  return options, (table.concat(body, "\n"):gsub("^%s*\n", ""):gsub("%s+$", ""))
end

local function output_blocks(output)
  local kept, markdown = pandoc.List(), false
  if has(output, "stderr") then return kept end
  for _, block in ipairs(output.content) do
    if block.t == "RawBlock" and block.format == "markdown" then
      markdown = true
      kept:extend(pandoc.read(block.text, "markdown").blocks)
    end
  end
  if markdown then return kept end
  return output.content
end

local function code_cell(cell)
  local source, outputs = nil, pandoc.List()
  for _, block in ipairs(cell.content) do
    if block.t == "CodeBlock" and not source then
      source = block.text
    elseif block.t == "Div" and has(block, "output") then
      outputs:extend(output_blocks(block))
    end
  end
  local options, body = options_of(source or "")
  if options.include == "false" then return {} end
  local blocks = pandoc.List()
  if html and options.echo ~= "false" and body ~= "" then
    blocks:insert(raw('<details class="code-fold"><summary>' .. escape_html(options["code-summary"] or "Code") .. "</summary>"))
    blocks:insert(pandoc.CodeBlock(body, pandoc.Attr("", { "python" })))
    blocks:insert(raw("</details>"))
  end
  if options.output == "false" then return blocks end
  local caption = options["fig-cap"] or options["tbl-cap"]
  if options.label and caption and options.label:match("^%a+%-") then
    outputs:insert(pandoc.Para(read_inlines(caption)))
    outputs = pandoc.List({ pandoc.Div(outputs, pandoc.Attr(options.label)) })
  end
  blocks:extend(outputs)
  return blocks
end

local function unfold_notebook(doc)
  local blocks = pandoc.List()
  for _, cell in ipairs(doc.blocks) do
    if cell.t == "Div" and has(cell, "cell") and has(cell, "markdown") then
      for _, block in ipairs(cell.content) do
        blocks:extend(block.t == "RawBlock" and pandoc.read(block.text, "markdown").blocks or { block })
      end
    elseif cell.t == "Div" and has(cell, "cell") and has(cell, "raw") then
      local front = pandoc.read(cell.content[1] and cell.content[1].text or "", "markdown").meta
      for key, value in pairs(front) do
        if doc.meta[key] == nil then doc.meta[key] = value end
      end
    elseif cell.t == "Div" and has(cell, "cell") and has(cell, "code") then
      blocks:extend(code_cell(cell))
    else
      blocks:insert(cell)
    end
  end
  doc.meta.jupyter = nil
  return pandoc.Pandoc(blocks, doc.meta)
end

-- ---------------------------------------------------------------- numbers and references

local numbers, counts, defined = {}, { fig = 0, tbl = 0, eq = 0 }, {}

local function kind_of(id)
  local kind = id:match("^(%a+)%-")
  return prefixes[kind] and kind or nil
end

local function register(id)
  local kind = kind_of(id)
  if not kind then return end
  if defined[id] then error("the label '" .. id .. "' is used twice") end
  counts[kind] = counts[kind] + 1
  defined[id] = true
  numbers[id] = counts[kind]
end

local function equation_label(paragraph)
  local last = paragraph.content[#paragraph.content]
  if last and last.t == "Str" then return last.text:match("^{#(eq%-[%w-]+)}$") end
end

local function collect(doc)
  doc:walk({
    traverse = "topdown",
    Div = function(div) register(div.identifier) end,
    Para = function(paragraph)
      local label = equation_label(paragraph)
      if label then register(label) end
    end,
  })
end

local function resolve(cite)
  local resolved = pandoc.List()
  for i, citation in ipairs(cite.citations) do
    local kind = kind_of(citation.id)
    if not kind then return nil end
    local number = numbers[citation.id]
    if not number then error("@" .. citation.id .. " refers to nothing in the document") end
    if i > 1 then resolved:extend({ pandoc.Str(","), pandoc.Space() }) end
    local text = prefixes[kind] .. "\u{a0}" .. number
    resolved:insert(pandoc.Link({ pandoc.Str(text) }, "#" .. citation.id, "", { class = "ref" }))
  end
  return resolved
end

local function equation(paragraph)
  local label = equation_label(paragraph)
  if not label then return nil end
  local math = paragraph.content[1]
  if html then
    local number = pandoc.Span({ pandoc.Str("(" .. numbers[label] .. ")") }, pandoc.Attr("", { "equation-number" }))
    return pandoc.Div({ pandoc.Plain({ math, number }) }, pandoc.Attr(label, { "equation" }))
  elseif typst then
    -- Its label goes right behind the formula; Typst numbers what is labelled.
    local written = pandoc.write(pandoc.Pandoc({ pandoc.Para({ math }) }), "typst"):gsub("%s+$", "")
    return raw('#math.equation(block: true, numbering: "(1)", ' .. written .. ") <" .. label .. ">")
  end
  return pandoc.Para({ math, pandoc.Space(), pandoc.Str("(" .. numbers[label] .. ")") })
end

-- ---------------------------------------------------------------- layout

local function label_cells(tbl)
  local titles = {}
  local head = tbl.head.rows[1]
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

local function dress_table(tbl, stacks)
  -- Whether widths are needed depends on the page: a browser finds its own.
  if html then
    for i, spec in ipairs(tbl.colspecs) do tbl.colspecs[i] = { spec[1], nil } end
  end
  for _, body in ipairs(tbl.bodies) do body.row_head_columns = 1 end
  if stacks then label_cells(tbl) end
  return tbl
end

local function dress_tables(blocks, stacks)
  return blocks:walk({ Table = function(tbl) return dress_table(tbl, stacks) end })
end

local function split_caption(div)
  local content = pandoc.Blocks(div.content)
  local last = content[#content]
  if last and last.t == "Para" and #content > 1 then
    content:remove()
    return content, last.content
  end
  return content, pandoc.Inlines({})
end

local function numbered(id, caption)
  -- Typst numbers figures and tables itself.
  if typst then return caption end
  local kind = kind_of(id)
  local title = pandoc.Strong({ pandoc.Str(prefixes[kind] .. "\u{a0}" .. numbers[id] .. ".") })
  return pandoc.Inlines({ title, pandoc.Space() }) .. caption
end

local function dress_image(image)
  local alt = image.attributes["fig-alt"] or ""
  image.attributes["fig-alt"] = nil
  local width = image.attributes.width or "100%"
  if html then
    -- Written out, since pandoc gives an SVG an aria-label and no alt.
    local share = tonumber(width:match("^(%d+)%%$")) or 100
    local class = share > 60 and "full" or "part"
    return pandoc.RawInline("html", '<img class="' .. class .. '" style="width: ' .. share * 0.56 .. 'rem" src="'
      .. escape_html(image.src) .. '" alt="' .. escape_html(alt) .. '">')
  end
  if FORMAT == "docx" then image.src = image.src:gsub("%.svg$", ".png") end
  image.attributes.alt = alt
  image.attributes.width = width
  return image
end

local function figure(div)
  local content, caption = split_caption(div)
  content = content:walk({ Image = dress_image })
  caption = numbered(div.identifier, caption)
  if html then
    local blocks = pandoc.List({ raw('<figure id="' .. div.identifier .. '" class="figure"><div class="figure-scroll" tabindex="0">') })
    blocks:extend(content)
    blocks:insert(raw("</div><figcaption>"))
    blocks:insert(pandoc.Plain(caption))
    blocks:insert(raw("</figcaption></figure>"))
    return blocks
  end
  return pandoc.Figure(content, { long = { pandoc.Plain(caption) } }, pandoc.Attr(div.identifier))
end

local function captioned_table(div)
  local content, caption = split_caption(div)
  content = dress_tables(content, has(div, "stack"))
  caption = numbered(div.identifier, caption)
  if html then
    local id = div.identifier
    local classes = "table " .. table.concat(div.classes, " ")
    local blocks = pandoc.List({
      raw('<figure id="' .. id .. '" class="' .. classes .. '"><figcaption id="' .. id .. '-caption">'),
      pandoc.Plain(caption),
      raw('</figcaption><div class="table-scroll" role="region" tabindex="0" aria-labelledby="' .. id .. '-caption">'),
    })
    blocks:extend(content)
    blocks:insert(raw("</div></figure>"))
    return blocks
  end
  for i, block in ipairs(content) do
    if block.t == "Table" then
      block.caption = { long = { pandoc.Plain(caption) } }
      block.attr = pandoc.Attr(div.identifier)
      content[i] = block
    end
  end
  if typst and has(div, "whole") then
    content:insert(1, raw("#block(breakable: false)["))
    content:insert(raw("]"))
  end
  return content
end

local function bare_table(div)
  local content = dress_tables(div.content, has(div, "stack"))
  if typst then
    -- Without a caption it is no figure, and takes no number.
    return content:walk({ Table = function(tbl)
      tbl.classes:insert("typst:no-figure")
      return tbl
    end })
  elseif not html then
    return content
  end
  local classes = table.concat(div.classes, " ")
  local blocks = pandoc.List({ raw('<div class="table ' .. classes .. '"><div class="table-scroll" role="region" tabindex="0" aria-label="Table">') })
  blocks:extend(content)
  blocks:insert(raw("</div></div>"))
  return blocks
end

local function callout(div)
  local kind
  for _, class in ipairs(div.classes) do kind = kind or class:match("^callout%-(%a+)$") end
  if not kind then return nil end
  local title = div.attributes.title and read_inlines(div.attributes.title) or { pandoc.Str(kind:gsub("^%l", string.upper)) }
  local blocks = pandoc.List()
  if html then
    local folds = div.attributes.collapse ~= nil
    local open = div.attributes.collapse == "false" and " open" or ""
    local class = 'class="callout callout-' .. kind .. '"'
    blocks:insert(raw(folds and "<details " .. class .. open .. "><summary>" or "<div " .. class .. '><p class="callout-title">'))
    blocks:insert(pandoc.Plain(title))
    blocks:insert(raw(folds and "</summary>" or "</p>"))
    blocks:extend(div.content)
    blocks:insert(raw(folds and "</details>" or "</div>"))
  elseif typst then
    blocks:insert(raw('#dsqa-callout("' .. kind .. '")['))
    blocks:insert(pandoc.Plain(title))
    blocks:insert(raw("]["))
    blocks:extend(div.content)
    blocks:insert(raw("]"))
  else
    blocks:insert(pandoc.Para({ pandoc.Strong(title) }))
    blocks:extend(div.content)
  end
  return blocks
end

local function card(div)
  if not typst then return nil end
  local blocks = pandoc.List({ raw("#dsqa-card[") })
  blocks:extend(div.content)
  blocks:insert(raw("]"))
  return blocks
end

local typst_spans = { verdict = true, count = true, interval = true, note = true, facts = true, level = true }

local function dress_span(span)
  if not typst then return nil end
  for _, class in ipairs(span.classes) do
    if typst_spans[class] then
      local tone = "plain"
      for _, other in ipairs(span.classes) do
        if other == "right" or other == "wrong" or other == "unstable" or other == "zero" then tone = other end
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

local function lay_out(div)
  if not in_quarto then
    local kind = kind_of(div.identifier)
    if kind == "fig" then return figure(div) end
    if kind == "tbl" then return captioned_table(div) end
    if has(div, "data") then return bare_table(div) end
    local made = callout(div)
    if made then return made end
  elseif has(div, "stack") then
    div.content = dress_tables(div.content, true)
    return div
  end
  if has(div, "card") then return card(div) end
end

function Pandoc(doc)
  if not in_quarto then
    doc = unfold_notebook(doc)
    collect(doc)
    doc = doc:walk({ Cite = resolve, Para = equation })
  end
  doc = doc:walk({ Inlines = share_lines })
  doc = doc:walk({ Div = lay_out })
  return doc:walk({ Span = dress_span })
end
