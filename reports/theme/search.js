/* Search over the whole site, without a server: window.dsqaSearch (search-index.js) is a list of
   {href, page, section, text}. Fills <search id="search">. Text from the index is only ever set as text. */
(function () {
  "use strict";
  var MOST = 20, AROUND = 70;

  function plain(text) {
    return String(text || "").normalize("NFD").replace(/[\u0300-\u036f]/g, "").toLowerCase();
  }

  function occurrences(text, word) {
    var n = 0, at = text.indexOf(word);
    while (at >= 0 && n < 10) { n += 1; at = text.indexOf(word, at + word.length); }
    return n;
  }

  /* Every word must occur; titles count more than text. */
  function score(entry, words) {
    var total = 0;
    for (var i = 0; i < words.length; i += 1) {
      var here = 8 * occurrences(entry.titles, words[i]) + occurrences(entry.body, words[i]);
      if (!here) { return 0; }
      total += here;
    }
    return total;
  }

  function element(name, className, text) {
    var made = document.createElement(name);
    if (className) { made.className = className; }
    if (text !== undefined) { made.textContent = text; }
    return made;
  }

  /* The words around the first hit, hits marked. Accents are compared letter by letter, so lengths agree. */
  function excerpt(text, words) {
    var shown = element("p", "excerpt"), letters = Array.from(String(text || "").normalize("NFC"));
    var low = letters.map(function (letter) { return plain(letter).charAt(0) || " "; }).join("");
    var hits = words.map(function (word) { return low.indexOf(word); }).filter(function (at) { return at >= 0; });
    var from = Math.max(0, (hits.length ? Math.min.apply(null, hits) : 0) - AROUND), end = from + 3 * AROUND, i = from;
    if (from > 0) { shown.appendChild(document.createTextNode("… ")); }
    while (i < Math.min(end, letters.length)) {
      var word = words.find(function (candidate) { return low.startsWith(candidate, i); });
      if (word) {
        shown.appendChild(element("mark", "", letters.slice(i, i + word.length).join("")));
        i += word.length;
      } else {
        shown.appendChild(document.createTextNode(letters[i]));
        i += 1;
      }
    }
    shown.normalize();
    if (end < letters.length) { shown.appendChild(document.createTextNode(" …")); }
    return shown;
  }

  function start() {
    var place = document.getElementById("search"), entries = null;
    if (!place || !Array.isArray(window.dsqaSearch)) { return; }
    var label = element("label", "unseen", "Search all pages"), field = element("input");
    var said = element("p", "unseen"), list = element("ul", "hits");
    field.type = "search";
    field.id = "search-field";
    field.placeholder = "Search";
    field.autocomplete = "off";
    label.htmlFor = field.id;
    said.setAttribute("role", "status");
    list.hidden = true;
    [label, field, said, list].forEach(function (part) { place.appendChild(part); });

    function index() {
      entries = entries || window.dsqaSearch.map(function (entry) {
        return { shown: entry, titles: plain(entry.page + " " + entry.section), body: plain(entry.text) };
      });
      return entries;
    }

    function look() {
      var words = plain(field.value).split(/\s+/).filter(Boolean);
      list.textContent = "";
      list.hidden = !words.length;
      if (!words.length) { said.textContent = ""; return; }
      var hits = index().map(function (entry, at) { return { entry: entry.shown, at: at, score: score(entry, words) }; })
        .filter(function (hit) { return hit.score; })
        .sort(function (a, b) { return b.score - a.score || a.at - b.at; });
      said.textContent = hits.length ? hits.length + " found" : "Nothing found";
      if (!hits.length) { list.appendChild(element("li", "none", "Nothing found")); }
      hits.slice(0, MOST).forEach(function (hit) {
        var item = element("li"), link = element("a", "", hit.entry.section || hit.entry.page);
        link.href = hit.entry.href;
        item.appendChild(link);
        if (hit.entry.section) { item.appendChild(element("span", "where", hit.entry.page)); }
        item.appendChild(excerpt(hit.entry.text, words));
        list.appendChild(item);
      });
      if (hits.length > MOST) { list.appendChild(element("li", "none", hits.length - MOST + " more; add a word")); }
    }

    function step(by) {
      var stops = [field].concat(Array.from(list.querySelectorAll("a")));
      var next = stops[stops.indexOf(document.activeElement) + by];
      if (next) { next.focus(); }
    }

    field.addEventListener("input", look);
    place.addEventListener("keydown", function (event) {
      if (event.key === "ArrowDown" || event.key === "ArrowUp") {
        step(event.key === "ArrowDown" ? 1 : -1);
        event.preventDefault();
      } else if (event.key === "Escape") {
        field.value = "";
        look();
        field.focus();
      }
    });
    /* A hit on this very page only scrolls: the list must not stay over it. */
    list.addEventListener("click", function (event) { if (event.target.closest("a")) { list.hidden = true; } });
    field.addEventListener("focus", function () { list.hidden = !field.value.trim(); });
    document.addEventListener("click", function (event) { if (!place.contains(event.target)) { list.hidden = true; } });
    document.addEventListener("keydown", function (event) {
      var typing = /^(input|textarea|select)\b/i.test(event.target.tagName || "");
      if (event.key === "/" && !typing) { field.focus(); event.preventDefault(); }
    });
  }

  if (document.readyState === "loading") { document.addEventListener("DOMContentLoaded", start); } else { start(); }
})();
