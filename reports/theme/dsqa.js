/* Light or dark, and tables that sort. Inline in every page (its hash is in the page's Content-Security-Policy), so no
   dollar sign may occur here: pandoc reads this file as part of a template. Without it the page is whole. */
(function () {
  "use strict";
  var root = document.documentElement, key = "dsqa-theme";

  function remembered() {
    try { return localStorage.getItem(key); } catch (refused) { return null; }
  }
  function remember(theme) {
    try { localStorage.setItem(key, theme); } catch (refused) { /* for this page only, then */ }
  }
  /* At once, before anything is painted. */
  if (/^(light|dark)\b/.test(remembered() || "")) { root.setAttribute("data-theme", remembered()); }

  function themeSwitch() {
    var button = document.getElementById("theme-switch"), system = matchMedia("(prefers-color-scheme: dark)");
    if (!button) { return; }
    function isDark() {
      var chosen = root.getAttribute("data-theme");
      return chosen ? chosen === "dark" : system.matches;
    }
    function show() { button.setAttribute("aria-pressed", String(isDark())); }
    button.hidden = false;
    show();
    system.addEventListener("change", show);
    button.addEventListener("click", function () {
      var theme = isDark() ? "light" : "dark";
      root.setAttribute("data-theme", theme);
      remember(theme);
      show();
    });
  }

  /* "0.83 [0.79, 0.87]", "1,230", "−0.5", "< 0.001", "7/10", "1.2 × 10−7", "[0.1, 0.2]" → the number that leads. */
  var leading = /^\[?\s*([<>]?)\s*([+−-]?)\s*(\d[\d,]*(?:\.\d+)?|\.\d+)(?:\s*×\s*10([−-]?\d+)|\s*\/\s*([\d,]+))?/;

  /* What is read, without a formula's source and, for a title, without marks of footnotes. */
  function shownText(cell, leftOut) {
    var copy = cell.cloneNode(true);
    copy.querySelectorAll(leftOut).forEach(function (part) { part.remove(); });
    return copy.textContent.trim();
  }

  function missing(text) { return text === "" || text.charAt(0) === "–"; }

  function number(text) {
    var found = leading.exec(text);
    if (!found) { return null; }
    var value = Number(found[3].replace(/,/g, ""));
    if (found[4]) { value *= Math.pow(10, Number(found[4].replace("−", "-"))); }
    if (found[5]) { value /= Number(found[5].replace(/,/g, "")); }
    if (found[1]) { value *= found[1] === "<" ? 1 - 1e-9 : 1 + 1e-9; }
    return found[2] && found[2] !== "+" ? -value : value;
  }

  function sortBody(body, column, direction) {
    var rows = Array.prototype.filter.call(body.rows, function (row) { return !row.querySelector("th.group"); });
    rows.forEach(function (row, i) { if (!row.dataset.at) { row.dataset.at = i; } });
    var entries = rows.map(function (row) {
      var text = row.cells[column] ? shownText(row.cells[column], "annotation") : "";
      return { row: row, at: Number(row.dataset.at), text: text, gone: missing(text), number: number(text) };
    });
    var numeric = entries.every(function (entry) { return entry.gone || entry.number !== null; });
    entries.sort(function (a, b) {
      if (!direction) { return a.at - b.at; }
      /* What is missing comes last either way. */
      if (a.gone || b.gone) { return a.gone - b.gone || a.at - b.at; }
      var order = numeric ? a.number - b.number : a.text.localeCompare(b.text, root.lang || "en", { numeric: true });
      return direction * order || a.at - b.at;
    });
    entries.forEach(function (entry) { body.appendChild(entry.row); });
  }

  function makeSortable(table, say) {
    var titles = table.tHead && table.tHead.rows.length ? table.tHead.rows[table.tHead.rows.length - 1].cells : [];
    Array.prototype.forEach.call(titles, function (title, column) {
      var name = shownText(title, "annotation, sup"), button = document.createElement("button");
      if (!name) { return; }
      button.type = "button";
      button.className = "sort";
      button.title = "Sort by this column";
      while (title.firstChild) { button.appendChild(title.firstChild); }
      title.appendChild(button);
      button.addEventListener("click", function () {
        var next = { ascending: "descending", descending: "none" }[title.getAttribute("aria-sort")] || "ascending";
        Array.prototype.forEach.call(titles, function (other) { other.removeAttribute("aria-sort"); });
        if (next !== "none") { title.setAttribute("aria-sort", next); }
        var direction = { ascending: 1, descending: -1, none: 0 }[next];
        Array.prototype.forEach.call(table.tBodies, function (body) { sortBody(body, column, direction); });
        say(next === "none" ? "in the original order" : "sorted by " + name + ", " + next);
      });
    });
  }

  document.addEventListener("DOMContentLoaded", function () {
    var tables = document.querySelectorAll(".sortable table"), said = document.createElement("p");
    themeSwitch();
    if (!tables.length) { return; }
    said.className = "unseen";
    said.setAttribute("role", "status");
    document.body.appendChild(said);
    Array.prototype.forEach.call(tables, function (table) {
      makeSortable(table, function (text) { said.textContent = "Table " + text; });
    });
  });
})();
