-- The words of every page, by section, for theme/search.js: run by Quarto after it has rendered the site.
-- Writes search-index.js beside the pages, which says window.dsqaSearch = [{href, page, section, text}, ...].

local folder = os.getenv("QUARTO_PROJECT_OUTPUT_DIR") or "_site"

local function words(blocks)
  return (pandoc.utils.stringify(pandoc.Pandoc(blocks)):gsub("%s+", " "):gsub("^ ", ""):gsub(" $", ""))
end

local function silent(div)
  return div.identifier == "title-block-header" or div.classes:includes("code-fold") or div.classes:includes("cell-code")
end

local function sections_of(blocks, page, href)
  local rows, last = pandoc.List(), { href = href, page = page, section = "", text = pandoc.Blocks({}) }
  local function close()
    local text = words(last.text)
    if text ~= "" or last.section ~= "" then
      rows:insert({ href = last.href, page = last.page, section = last.section, text = text })
    end
  end
  local function walk(list, id)
    for i, block in ipairs(list) do
      if block.t == "Header" then
        close()
        -- Quarto gives the identifier to the section around the heading.
        local anchor = block.identifier ~= "" and block.identifier or (i == 1 and id or "")
        last = { href = anchor ~= "" and href .. "#" .. anchor or href, page = page, section = words({ pandoc.Plain(block.content) }), text = pandoc.Blocks({}) }
      elseif block.t == "Div" then
        if not silent(block) then walk(block.content, block.identifier) end
      elseif block.t ~= "CodeBlock" and block.t ~= "RawBlock" then
        last.text:insert(block)
      end
    end
  end
  walk(blocks, "")
  close()
  return rows
end

local function content_of(doc)
  local found
  doc:walk({ Div = function(div)
    if div.identifier == "quarto-document-content" then found = div.content end
  end })
  return found
end

local names = pandoc.List(pandoc.system.list_directory(folder)):filter(function(name) return name:match("%.html$") end)
names:sort()
local all = pandoc.List()
for _, name in ipairs(names) do
  local file = assert(io.open(pandoc.path.join({ folder, name }), "rb"))
  local html = file:read("a")
  file:close()
  local title = html:match("<title>(.-)</title>") or name
  local content = html:match("<main.-</main>")
  if content and name ~= "article.html" then
    local doc = pandoc.read(content, "html-auto_identifiers")
    -- The site's own name follows the page's.
    local page = words(pandoc.read(title:gsub(" [–-] .*$", ""), "html").blocks)
    all:extend(sections_of(content_of(doc) or doc.blocks, page, name))
  end
end
local lines = all:map(function(row) return pandoc.json.encode(row) end)
local out = assert(io.open(pandoc.path.join({ folder, "search-index.js" }), "wb"))
out:write("window.dsqaSearch = [\n", table.concat(lines, ",\n"), "\n];\n")
out:close()
