-- Figures and tables with captions and numbers, and callouts, for pandoc alone.

return function(common, crossref, callout)
  local has, raw, html, typst, word = common.has, common.raw, common.html, common.typst, common.word
  local module = {}

  local styled = common.styled

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
    return pandoc.Inlines({ crossref.title_of(id), pandoc.Space() }) .. caption
  end

  -- ------------------------------------------------------------ pictures

  function module.picture(image)
    local alt = image.attributes["fig-alt"] or image.attributes.alt or pandoc.utils.stringify(image.caption)
    if not alt:match("%S") then
      error("the picture " .. image.src .. " has no text for those who cannot see it (fig-alt)")
    end
    image.attributes["fig-alt"] = nil
    local width = image.attributes.width or "100%"
    if html then
      -- Written out, since pandoc gives an SVG an aria-label and no alt.
      local share = tonumber(width:match("^(%d+)%%$")) or 100
      local class = share > 60 and "full" or "part"
      return pandoc.RawInline("html", '<img class="' .. class .. '" style="width: ' .. share * 0.56 .. 'rem" src="'
        .. common.escape_html(image.src) .. '" alt="' .. common.escape_html(alt) .. '">')
    end
    if word then image.src = image.src:gsub("%.svg$", ".png") end
    image.attributes.alt = alt
    image.attributes.width = width
    image.caption = {}
    return image
  end

  -- ![caption](picture){#fig-x} on a line of its own is the same as a labelled division.
  function module.as_div(figure)
    if crossref.kind_of(figure.identifier) ~= "fig" then return nil end
    local content = pandoc.Blocks(figure.content)
    content:insert(pandoc.Para(pandoc.utils.blocks_to_inlines(figure.caption.long)))
    return pandoc.Div(content, pandoc.Attr(figure.identifier))
  end

  local function figure(div)
    local content, caption = split_caption(div)
    caption = numbered(div.identifier, caption)
    if not html then
      return pandoc.Figure(content, { long = { pandoc.Plain(caption) } }, pandoc.Attr(div.identifier))
    end
    local id = div.identifier
    local blocks = pandoc.List({ raw('<figure id="' .. id .. '" class="figure"><div class="figure-scroll" role="group" '
      .. 'tabindex="0" aria-labelledby="' .. id .. '-caption">') })
    blocks:extend(content)
    blocks:insert(raw('</div><figcaption id="' .. id .. '-caption">'))
    blocks:insert(pandoc.Plain(caption))
    blocks:insert(raw("</figcaption></figure>"))
    return blocks
  end

  -- ------------------------------------------------------------ tables

  local function captioned_table(div)
    local content, caption = split_caption(div)
    caption = numbered(div.identifier, caption)
    if html then
      local id = div.identifier
      local classes = "table " .. table.concat(div.classes, " ")
      local inside, below = pandoc.List(), pandoc.List()
      for _, block in ipairs(content) do
        (block.t == "Div" and has(block, "table-notes") and below or inside):insert(block)
      end
      local blocks = pandoc.List({
        raw('<figure id="' .. id .. '" class="' .. classes .. '"><figcaption id="' .. id .. '-caption">'),
        pandoc.Plain(caption),
        raw('</figcaption><div class="table-scroll" role="region" tabindex="0" aria-labelledby="' .. id .. '-caption">'),
      })
      blocks:extend(inside)
      blocks:insert(raw("</div>"))
      blocks:extend(below)
      blocks:insert(raw("</figure>"))
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
    if typst then
      -- Without a caption it is no figure, and takes no number.
      return div.content:walk({ Table = function(tbl)
        tbl.classes:insert("typst:no-figure")
        return tbl
      end })
    elseif not html then
      return div.content
    end
    local classes = table.concat(div.classes, " ")
    local blocks = pandoc.List({ raw('<div class="table ' .. classes .. '">') })
    for _, block in ipairs(div.content) do
      if block.t == "Table" then
        blocks:insert(raw('<div class="table-scroll" role="region" tabindex="0" aria-label="Table">'))
        blocks:insert(block)
        blocks:insert(raw("</div>"))
      else
        blocks:insert(block)
      end
    end
    blocks:insert(raw("</div>"))
    return blocks
  end

  function module.lay_out(div)
    local kind = crossref.kind_of(div.identifier)
    if kind == "fig" then return figure(div) end
    if kind == "tbl" then return captioned_table(div) end
    if has(div, "data") then return bare_table(div) end
    return callout(div)
  end

  return module
end
