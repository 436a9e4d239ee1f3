-- An executed notebook as pandoc reads it (`ipynb+raw_markdown --ipynb-output=all`) → the document that Quarto would
-- make of it: `#|` options (echo, include, output, code-fold, code-summary, label, fig-cap, fig-alt, tbl-cap),
-- Markdown outputs, front matter.

return function(common)
  local has, raw, html = common.has, common.raw, common.html

  local function options_of(source)
    local options, body, reading = {}, {}, true
    for line in (source .. "\n"):gmatch("(.-)\n") do
      local key, value = line:match("^#|%s*([%w-]+):%s*(.-)%s*$")
      if reading and key then
        options[key] = value:gsub('^"(.*)"$', "%1"):gsub("^'(.*)'$", "%1")
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
    return markdown and kept or output.content
  end

  local function shown_code(options, body, default)
    local echo = options.echo
    if echo == nil then echo = default end
    if echo == "false" or body == "" then return {} end
    local code = pandoc.CodeBlock(body, pandoc.Attr("", { "python" }))
    local fold = options["code-fold"] or "true"
    if not html or fold == "false" then return { code } end
    return {
      raw('<details class="code-fold"' .. (fold == "show" and " open" or "") .. "><summary>"
        .. common.escape_html(options["code-summary"] or "Code") .. "</summary>"),
      code,
      raw("</details>"),
    }
  end

  local function code_cell(cell, default_echo)
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
    local blocks = pandoc.List(shown_code(options, body, default_echo))
    if options.output == "false" then return blocks end
    if options["fig-alt"] then
      outputs = outputs:walk({ Image = function(image)
        image.attributes["fig-alt"] = image.attributes["fig-alt"] or options["fig-alt"]
        return image
      end })
    end
    local caption = options["fig-cap"] or options["tbl-cap"]
    if options.label and caption and options.label:match("^%a+%-") then
      outputs:insert(pandoc.Para(common.read_inlines(caption)))
      outputs = pandoc.List({ pandoc.Div(outputs, pandoc.Attr(options.label)) })
    end
    blocks:extend(outputs)
    return blocks
  end

  return function(doc)
    local blocks = pandoc.List()
    -- Code is folded on a screen, and on paper only where it is asked for.
    local echo = doc.meta.echo == nil and tostring(html) or pandoc.utils.stringify(doc.meta.echo)
    for _, cell in ipairs(doc.blocks) do
      local is_cell = cell.t == "Div" and has(cell, "cell")
      if is_cell and has(cell, "markdown") then
        for _, block in ipairs(cell.content) do
          blocks:extend(block.t == "RawBlock" and pandoc.read(block.text, "markdown").blocks or { block })
        end
      elseif is_cell and has(cell, "raw") then
        local front = pandoc.read(cell.content[1] and cell.content[1].text or "", "markdown").meta
        for key, value in pairs(front) do
          if doc.meta[key] == nil then doc.meta[key] = value end
        end
      elseif is_cell and has(cell, "code") then
        blocks:extend(code_cell(cell, echo))
      else
        blocks:insert(cell)
      end
    end
    doc.meta.jupyter = nil
    return pandoc.Pandoc(blocks, doc.meta)
  end
end
