-- What the filters share: the format that is written, and small pieces of documents.

local html = FORMAT:match("html") ~= nil

local common = { html = html, typst = FORMAT:match("typst") ~= nil, word = FORMAT == "docx" }

function common.has(element, class)
  return element.classes and element.classes:includes(class)
end

function common.raw(text)
  return pandoc.RawBlock(html and "html" or "typst", text)
end

function common.escape_html(text)
  return (text:gsub("&", "&amp;"):gsub("<", "&lt;"):gsub(">", "&gt;"):gsub('"', "&quot;"))
end

function common.read_inlines(text)
  return pandoc.utils.blocks_to_inlines(pandoc.read(text, "markdown").blocks)
end

-- In Word: paragraphs in a style of reference.docx.
function common.styled(blocks, style)
  return pandoc.Div(blocks, pandoc.Attr("", {}, { ["custom-style"] = style }))
end

return common
