-- Callouts, in Quarto as without it: a box with a title on a screen, Typst's and Word's own on paper. A filter of
-- Quarto's that runs before Quarto reads them; for pandoc alone, a function of a division.

local common = dofile(quarto and quarto.utils.resolve_path("common.lua")
  or pandoc.path.join({ pandoc.path.directory(PANDOC_SCRIPT_FILE), "common.lua" }))
local html, typst, raw, styled = common.html, common.typst, common.raw, common.styled

local titles = { note = "Note", tip = "Tip", important = "Important", warning = "Warning", caution = "Caution" }

local function callout(div)
  local kind
  for _, class in ipairs(div.classes) do kind = kind or class:match("^callout%-(%a+)$") end
  if not kind then return nil end
  if not titles[kind] then error("callout-" .. kind .. " is none of Quarto's callouts") end
  local content = pandoc.Blocks(div.content)
  local title = { pandoc.Str(titles[kind]) }
  if div.attributes.title then
    title = common.read_inlines(div.attributes.title)
  elseif content[1] and content[1].t == "Header" then
    title = content:remove(1).content
  end
  local blocks = pandoc.List()
  if html then
    local folds = div.attributes.collapse ~= nil
    local open = div.attributes.collapse == "false" and " open" or ""
    local class = 'class="callout callout-' .. kind .. '"'
    -- The kind is said in words where the title does not, since colour alone says nothing to some.
    local said = pandoc.utils.stringify(title) == titles[kind] and "" or '<span class="unseen">' .. titles[kind] .. ": </span>"
    blocks:insert(raw((folds and "<details " .. class .. open .. "><summary>"
      or "<div " .. class .. '><p class="callout-title">') .. said))
    blocks:insert(pandoc.Plain(title))
    blocks:insert(raw(folds and "</summary>" or "</p>"))
    blocks:extend(content)
    blocks:insert(raw(folds and "</details>" or "</div>"))
  elseif typst then
    blocks:insert(raw('#dsqa-callout("' .. kind .. '")['))
    blocks:insert(pandoc.Plain(title))
    blocks:insert(raw("]["))
    blocks:extend(content)
    blocks:insert(raw("]"))
  else
    blocks:insert(styled({ pandoc.Para(title) }, "Callout " .. titles[kind] .. " Title"))
    blocks:insert(styled(content, "Callout " .. titles[kind]))
  end
  return blocks
end

if quarto then return { { Div = callout } } end
return callout
