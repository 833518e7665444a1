// What scrolls sideways fades at the edge behind which there is more: code, tables, formulas, and on a phone figures.
"use strict";

(() => {
  const SCROLLS = "pre, .pst-scrollable-table-container, div.math, span.math.wide, .figure-scroll, .output_html, .output_html .refsvm";

  function mark(element) {
    const behind = element.scrollLeft > 2;
    const ahead = element.scrollLeft + element.clientWidth < element.scrollWidth - 2;
    const more = [behind && "left", ahead && "right"].filter(Boolean).join(" ");
    if (more !== (element.dataset.more || "")) {
      if (more) element.dataset.more = more;
      else delete element.dataset.more;
    }
  }

  // Formulas in a line: whether the line is wide enough.
  function measure(formula) {
    const inner = formula.querySelector("math, mjx-math");
    const wide = inner !== null && inner.getBoundingClientRect().width > formula.closest("p, dd, dt, li, div").clientWidth;
    formula.classList.toggle("wide", wide);
    if (!wide) delete formula.dataset.more;
  }

  // A stop or a bracket behind a formula stays on its line, and so does a bracket before it.
  function join(formula) {
    const beside = (node, pattern) => (node?.nodeType === Node.TEXT_NODE && pattern.exec(node.data)?.[0]) || "";
    const outer = formula.parentElement.matches("a.reference") ? formula.parentElement : formula; // a symbol that is a link
    const before = outer.previousSibling, after = outer.nextSibling;
    const open = beside(before, /[([]+$/), stop = beside(after, /^[.,;:!?)\]]+/);
    if (!open && !stop) return;
    const kept = document.createElement("span");
    kept.className = "kept";
    outer.replaceWith(kept);
    kept.append(open, outer, stop);
    if (open) before.data = before.data.slice(0, -open.length);
    if (stop) after.data = after.data.slice(stop.length);
  }

  // A number of a table stays on its line: 8.7e-12 would break at the hyphen, < 0.001 and Table 2 at the space.
  function keep(cell) {
    for (const text of [...cell.childNodes].filter((node) => node.nodeType === Node.TEXT_NODE)) {
      const parts = text.data.split(/(^[\d.,e-]+ \/ [\d.,e-]+$|(?:± )?[\d.,]+e-\d+|[<±] [\d.,]+|(?:Table|Figure) [\dIVX]+)/);
      if (parts.length === 1) continue;
      text.replaceWith(...parts.map((part, k) => {
        if (k % 2 === 0) return part;
        const number = document.createElement("span");
        number.className = "kept";
        number.textContent = part;
        return number;
      }));
    }
  }

  // A number stays with its unit and its name: 11 % and C = 1 would break at the space.
  function withUnits() {
    const walker = document.createTreeWalker(document.querySelector(".bd-article") || document.body, NodeFilter.SHOW_TEXT,
      (node) => (node.parentElement.closest("pre, code, script, math, mjx-container, svg") ? NodeFilter.FILTER_REJECT : NodeFilter.FILTER_ACCEPT));
    while (walker.nextNode()) {
      const text = walker.currentNode.data, kept = text.replace(/(\d)[ \n](%|[mµn]?s\b|[KMG]i?B\b|C$)/g, "$1\u00a0$2")
        .replace(/\b([A-Za-zα-ω])[ \n]=[ \n](?=\d)/g, "$1\u00a0=\u00a0");
      if (kept !== text) walker.currentNode.data = kept;
    }
  }

  // Long code in a table may break behind a bracket, a comma, a dot, a slash or a long word, so that all columns fit.
  function breakable(code) {
    for (const text of [...code.childNodes].filter((node) => node.nodeType === Node.TEXT_NODE && node.length > 19)) {
      const parts = text.data.split(/(?<=[(,/]|::|[a-z]{4}_)(?=\w)|(?<=[.=])(?=[a-z_])/i);
      if (parts.length > 1) text.replaceWith(...parts.flatMap((part, k) => (k ? [document.createElement("wbr"), part] : [part])));
    }
  }

  // A dotted name as a title breaks behind a dot.
  function dotted(title) {
    for (const text of [...title.childNodes].filter((node) => node.nodeType === Node.TEXT_NODE)) {
      const parts = text.data.split(/(?<=\w\.)(?=[a-z_])/);
      if (parts.length > 1) text.replaceWith(...parts.flatMap((part, k) => (k ? [document.createElement("wbr"), part] : [part])));
    }
  }

  function all() {
    document.querySelectorAll(":not(td, th) > span.math").forEach(measure);
    document.querySelectorAll(SCROLLS).forEach(mark);
  }

  // A figure made for a wide page is not made smaller than is legible, and scrolls where that is too wide.
  function frame(image) {
    const room = document.createElement("div");
    room.className = "figure-scroll";
    room.tabIndex = 0;
    image.replaceWith(room);
    room.append(image);
    const size = () => { image.style.setProperty("--natural", `${image.naturalWidth}px`); mark(room); };
    if (image.complete) size();
    else image.addEventListener("load", size);
  }

  function start() {
    document.querySelectorAll("img.sphx-glr-single-img, .bd-article p > img, .bd-article figure > img").forEach(frame);
    document.querySelectorAll(":not(td, th) > span.math").forEach(join);
    document.querySelectorAll("td, td p, th, th p").forEach(keep);
    withUnits();
    document.querySelectorAll("h1, .prev-next-title").forEach(dotted);
    document.querySelectorAll("td code, td code .pre").forEach(breakable);
    // a short word of code stays on its line: --only would break between its hyphens
    document.querySelectorAll("code.literal .pre").forEach((word) => word.classList.toggle("kept", word.textContent.length <= 20));
    all();
    document.addEventListener("scroll", (event) => { if (event.target.matches?.(SCROLLS)) mark(event.target); }, true);
    document.addEventListener("toggle", all, true); // folded answers
    document.addEventListener("change", all, true); // tabs
    addEventListener("resize", all);
    addEventListener("load", () => { all(); window.MathJax?.startup?.promise.then(all); });
  }

  document.addEventListener("DOMContentLoaded", start);
})();
