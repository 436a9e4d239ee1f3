-- Numbers of figures, tables and equations in document order, and references to them as Quarto has them:
-- @fig-x, [@fig-x; @tbl-y], -@fig-x (the number alone), [Panel @fig-x] (another word before it).

return function(common)
  local html, typst = common.html, common.typst
  local prefixes = { fig = "Figure", tbl = "Table", eq = "Equation" }
  local numbers, counts = {}, { fig = 0, tbl = 0, eq = 0 }
  local module = {}

  function module.kind_of(id)
    local kind = id:match("^(%a+)%-")
    return prefixes[kind] and kind or nil
  end

  -- The number of a figure or table, as it stands before its caption.
  function module.title_of(id)
    return pandoc.Strong({ pandoc.Str(prefixes[module.kind_of(id)] .. "\u{a0}" .. numbers[id] .. ".") })
  end

  local function register(id)
    local kind = module.kind_of(id)
    if not kind then return end
    if numbers[id] then error("the label '" .. id .. "' is used twice") end
    counts[kind] = counts[kind] + 1
    numbers[id] = counts[kind]
  end

  local function equation_label(paragraph)
    local last = paragraph.content[#paragraph.content]
    if last and last.t == "Str" then return last.text:match("^{#(eq%-[%w-]+)}$") end
  end

  function module.collect(doc)
    doc:walk({
      traverse = "topdown",
      Div = function(div) register(div.identifier) end,
      Para = function(paragraph)
        local label = equation_label(paragraph)
        if label then register(label) end
      end,
    })
  end

  -- pandoc itself only warns of a source that is not in the bibliography.
  function module.check_citations(doc)
    if not doc.meta.bibliography then return end
    local known = {}
    for _, reference in ipairs(pandoc.utils.references(doc)) do known[reference.id] = true end
    doc:walk({ Cite = function(cite)
      for _, citation in ipairs(cite.citations) do
        if not known[citation.id] then error("@" .. citation.id .. " is not in the bibliography") end
      end
    end })
  end

  function module.resolve(cite)
    local resolved, references = pandoc.List(), 0
    for i, citation in ipairs(cite.citations) do
      local id = citation.id:sub(1, 1):lower() .. citation.id:sub(2)
      local kind = module.kind_of(id)
      if kind then
        references = references + 1
        if not numbers[id] then error("@" .. citation.id .. " refers to nothing in the document") end
        if i > 1 then resolved:extend({ pandoc.Str(","), pandoc.Space() }) end
        local text = pandoc.Inlines({})
        if #citation.prefix > 0 then
          text:extend(citation.prefix)
          text:insert(pandoc.Str("\u{a0}"))
        elseif citation.mode ~= "SuppressAuthor" then
          text:insert(pandoc.Str(prefixes[kind] .. "\u{a0}"))
        end
        text:insert(pandoc.Str(tostring(numbers[id])))
        resolved:insert(pandoc.Link(text, "#" .. id, "", { class = "ref" }))
      end
    end
    if references == 0 then return nil end
    if references < #cite.citations then
      error("the brackets around @" .. cite.citations[1].id .. " hold both references and sources; write two brackets")
    end
    return resolved
  end

  function module.equation(paragraph)
    local label = equation_label(paragraph)
    if not label then return nil end
    local math, number = paragraph.content[1], "(" .. numbers[label] .. ")"
    if html then
      local span = pandoc.Span({ pandoc.Str(number) }, pandoc.Attr("", { "equation-number" }))
      return pandoc.Div({ pandoc.Plain({ math, span }) }, pandoc.Attr(label, { "equation" }))
    elseif typst then
      -- Its label goes right behind the formula; Typst numbers what is labelled.
      local written = pandoc.write(pandoc.Pandoc({ pandoc.Para({ math }) }), "typst"):gsub("%s+$", "")
      return common.raw('#math.equation(block: true, numbering: "(1)", ' .. written .. ") <" .. label .. ">")
    end
    return pandoc.Para({ pandoc.Span({ math, pandoc.Space(), pandoc.Str(number) }, pandoc.Attr(label)) })
  end

  return module
end
