// The stepper of a notebook: the kernel takes the steps, and `picture` and `panels` draw the states that it sends.
"use strict";

const { SIDE, show } = picture;
const numbers = (view, Kind = Float64Array) => // copy, because a view may begin at any byte
  new Kind(view.buffer.slice(view.byteOffset, view.byteOffset + view.byteLength));
const plainly = (text) => text.replace(/[&<>"]/g, (c) => `&#${c.charCodeAt(0)};`);
const TITLES = [["points", "Examples, boundary, margins"], ["pair", "The pair that moves next"], ["gradient", "G on either side of b"],
  ["closing", "f and F, and the gap"], ["rivals", "Two pairs, two parabolas"]];
const rowsOf = (flat, width) => Array.from({ length: flat.length / width }, (_, k) => Array.from(flat.slice(k * width, (k + 1) * width)));
const BUTTONS = [["reset", "Restart"], ["back", "Back"], ["step", "Step"], ["play", "Play"], ["end", "End"],
  ["predict", "Predict"], ["minus", "Add −1"], ["plus", "Add +1"]];
const PATIENCE = 6000; // milliseconds without an answer after which the kernel counts as missing

function render({ model, el }) {
  const names = model.get("runs").map((run) => run.title), inPlane = model.get("examples").X !== null;
  const titles = inPlane ? TITLES : TITLES.slice(1);
  const figure = ([name, title]) => `<figure><div class="stepper-title">${title}</div>
    <svg data-panel="${name}" viewBox="0 0 ${SIDE} ${SIDE}" role="img" aria-label="${title}"></svg><figcaption></figcaption></figure>`;
  const slider = (name, text, least, most) => `<label data-for="${name}">${text} = <output></output>
    <input type="range" aria-label="${text}" data-set="${name}" min="${least}" max="${most}" step="0.05"></label>`;
  const root = document.createElement("div");
  root.className = "stepper";
  root.classList.toggle("dark", document.querySelector("html.dark, body.dark") !== null); // marimo sets the class outside its shadow root
  root.innerHTML = `<div class="stepper-buttons">${BUTTONS.map(([name, title]) =>
    `<button type="button" data-do="${name}">${title}</button>`).join("")}</div>
    <div class="stepper-controls">${slider("C", "C", -2, 4)}${slider("gamma", "γ", -4, 3)}
    <label><input type="checkbox" data-set="warm" checked> go on from α</label></div>
    <p class="stepper-said" role="status"></p>
    ${names.length > 1 ? `<svg class="stepper-race" viewBox="0 0 960 130" role="img" aria-label="KKT gap of both runs against steps"></svg>` : ""}
    <div class="stepper-runs">${names.map((title, r) => `<section aria-label="run ${r + 1}"><div class="stepper-run run-${r}">${plainly(title)}</div>
      <div class="stepper-counts"></div><div class="stepper-panels">${titles.map(figure).join("")}</div>
      <pre class="stepper-failure" hidden></pre></section>`).join("")}</div>
    <style>.${model.get("hides")} { display: none; }</style>
    <details class="stepper-log" hidden><summary>printed</summary><pre></pre></details>`;
  el.append(root);
  const find = (selector) => root.querySelector(selector), sections = [...root.querySelectorAll("section")];
  const sliders = ["C", "gamma"].map((name) => find(`[data-set=${name}]`));
  let given, runs, plane = null, guess = null, first = -1, chosen = -1, right = 0, asked = 0, note = "";

  // --- messages to the kernel, one at a time; if several wait, only the last is sent ---

  let waiting = 0, later = null, ending = false;
  function ask(name, ...values) {
    if (waiting) { later = [name, ...values]; return; }
    waiting = setTimeout(() => { waiting = 0; stop(); say(" No kernel answers: run the cell again to go on."); }, PATIENCE);
    model.send({ do: name, with: values });
  }

  function answered() {
    clearTimeout(waiting);
    waiting = 0;
    read();
    if (later) { const next = later; later = null; ask(...next); }
    else if (ending && more()) ask("end");
    else if (ending) stop();
  }

  function read() {
    const { X, y, box, numbers: values, tolerance, ranges, levels, labels } = model.get("examples");
    const signs = Array.from(numbers(y)), n = signs.length, bounds = numbers(box), [C, gamma] = numbers(values);
    given = { y: signs, lower: bounds.slice(0, n), upper: bounds.slice(n), C, gamma, tol: tolerance, levels, labels };
    if (X) {
      const flat = Array.from(numbers(X)), points = signs.map((_, t) => flat.slice(2 * t, 2 * t + 2));
      plane = new picture.Plane(points, signs, undefined, ranges);
    }
    runs = model.get("runs").map((run) => {
      const [k, gap, b, objective, primal, rows, reach] = numbers(run.numbers), history = rowsOf(numbers(run.history), 4);
      return { ...given, ...run, k, gap, b, objective, primal, rows, reach, next: run.next && step(numbers(run.next)),
        alpha: numbers(run.alpha), G: numbers(run.gradient), h: run.grid && numbers(run.grid, Float32Array),
        history, gaps: history.map(([at, , , psi]) => [at, psi]),
        rivals: rowsOf(numbers(run.rivals), 6).map(([i, j, slope, q, high, gain]) => ({ i, j, slope, q, high, gain })) };
    });
    draw();
  }

  function step([i, j, mu, slope, q, raw, low, high, kappa, along, planned, Kii, Kjj, toI, toJ]) {
    return { i, j, mu, slope, q, raw, low, high, kappa, along, planned, to: [toI, toJ], K: [Kii, Kjj, (Kii + Kjj - raw) / 2] };
  }

  // --- the pictures ---

  const more = () => runs.some((s) => s.next);

  function draw() {
    runs.forEach((s, r) => {
      const put = (name, [content, caption]) => {
        const svg = sections[r].querySelector(`[data-panel=${name}]`);
        svg.innerHTML = content;
        svg.nextElementSibling.innerHTML = caption;
      };
      const hidden = guess !== null && r === 0, why = plainly(s.ending.replace(/\.$/, ""));
      const tapped = (guess ?? (first < 0 ? [] : [first])).map((t, k) => [t, "ij"[k]]);
      const named = hidden ? tapped : [...(s.next ? [[s.next.i, "i"], [s.next.j, "j"]] : []), ...(r === 0 ? tapped : [])];
      if (plane) put("points", panels.points(s, plane, plane.levels(s.h, s.levels), [...named, ...(chosen >= 0 ? [[chosen, ""]] : [])]));
      put("pair", panels.pair(s, hidden, why));
      put("gradient", panels.gradient(s, s.reach, hidden));
      put("closing", panels.closing(s.history, given.tol));
      put("rivals", panels.rivals(s, s.rivals, hidden));
      sections[r].querySelector(".stepper-counts").textContent = `${s.k} steps, ${s.rows} kernel rows, f = ${show(s.objective, 6)}, `
        + `F = ${show(s.primal, 6)}, ψ = ${show(s.gap)}${s.ending ? `. ${s.ending}` : ""}`;
      const failure = sections[r].querySelector(".stepper-failure");
      failure.hidden = !s.failure;
      failure.textContent = s.failure;
    });
    if (runs.length > 1) drawRace();
    [given.C, given.gamma].forEach((value, k) => {
      sliders[k].parentElement.hidden = Number.isNaN(value);
      sliders[k].value = Number.isFinite(value) ? Math.log10(value) : sliders[k].max;
      tell(sliders[k], value);
    });
    for (const name of ["step", "play", "end"]) find(`[data-do=${name}]`).disabled = !more();
    find("[data-do=back]").disabled = !runs.some((s) => s.k);
    find("[data-do=predict]").disabled = !plane || !runs[0].next;
    find("[data-do=predict]").textContent = guess ? "Reveal" : "Predict";
    find("[data-do=end]").textContent = ending ? "Stop" : "End";
    find("[data-do=minus]").hidden = !plane || !given.labels;
    find("[data-do=plus]").hidden = !plane;
    const { log } = model.get("words"), printed = find(".stepper-log");
    printed.hidden = !log;
    printed.lastElementChild.textContent = log;
    say();
  }

  // Sets the value beside a slider, and the text for screen readers, because the slider's own value is the logarithm.
  function tell(slider, value) {
    slider.previousElementSibling.textContent = show(value);
    slider.setAttribute("aria-valuetext", show(value));
  }

  // ψ of both runs: half as wide on a narrow screen, so that its text stays legible
  let across = 960;
  function drawRace() {
    find(".stepper-race").setAttribute("viewBox", `0 0 ${across} 130`);
    find(".stepper-race").innerHTML = panels.history(runs.map((s) => s.gaps), given.tol, 15, across, 130);
  }
  const sized = new ResizeObserver(() => requestAnimationFrame(() => { // later, because drawing changes the height of the observed element
    const fit = root.clientWidth < 800 ? 480 : 960;
    if (fit === across || runs.length < 2 || !root.clientWidth) return;
    across = fit;
    drawRace();
  }));

  function say(added = "") {
    const k = Math.max(...runs.map((s) => s.k)), said = model.get("words").note;
    find(".stepper-said").textContent = `Step ${k}${said ? `; ${said.replace(/\.$/, "")}.` : "."}${note}${added}`;
  }

  // --- predict the next pair of the first run; otherwise two taps move a pair, or relabel an example tapped twice ---

  function predict() {
    if (guess) return reveal();
    forget();
    guess = [];
    note = " Which pair is next? Tap i, which rises, then j, which falls.";
    draw();
  }

  function reveal() {
    const [i, j] = guess, next = runs[0].next;
    guess = null;
    if (j !== undefined) asked++;
    if (i === next.i && j === next.j) right++;
    note = j === undefined ? ` The pair is (${next.i}, ${next.j}).`
      : ` You said (${i}, ${j}), the pair is (${next.i}, ${next.j}). ${right} of ${asked} right.`;
    draw();
  }

  function tapped(t) {
    if (guess) {
      guess.push(t);
      if (guess.length === 2) reveal(); else draw();
    } else if (first < 0) {
      first = t;
      note = ` i = ${t}. Tap j to move this pair${given.labels ? `, or ${t} again to give it the other label` : ""}.`;
      draw();
    } else {
      const i = first;
      forget();
      if (i !== t) ask("own", i, t);
      else if (given.labels) ask("relabel", t);
      else draw();
    }
  }

  function forget() { stop(); note = ""; guess = null; first = -1; }

  // --- actions of the reader ---

  const forward = () => { if (!waiting) { note = ""; guess = null; first = -1; ask("step"); } return more(); };
  const play = picture.player(find("[data-do=play]"), forward, 300);
  function stop() { play.stop(); ending = false; find("[data-do=end]").textContent = "End"; }
  const actions = { predict };
  actions.play = () => { ending = false; play.toggle(); };
  actions.end = () => { if (ending) return stop(); forget(); ending = true; ask("end"); };
  for (const name of ["step", "reset", "back"]) actions[name] = () => { forget(); ask(name); };
  for (const [name, label] of [["minus", -1], ["plus", 1]]) {
    actions[name] = () => { forget(); ask("add", [0, 1].map((d) => (plane.range[d][0] + plane.range[d][1]) / 2), label); };
  }
  picture.press(root, actions, play.stop);
  picture.arrows(root, actions, stop);
  sliders.forEach((slider) => slider.addEventListener("input", () => {
    forget();
    tell(slider, 10 ** Number(slider.value));
    ask(slider.dataset.set, 10 ** Number(slider.value), find("[data-set=warm]").checked);
  }));
  const hands = { grab: stop, move: (t, x) => { forget(); ask("move", t, x); }, tap: tapped, chosen: () => chosen,
    choose: (t) => { chosen = t; draw(); } };
  if (inPlane) for (const section of sections) picture.examples(section.querySelector("[data-panel=points]"), () => plane, hands);
  // JupyterLab deletes the cell at the keys d, d wherever the focus is, unless the focused element stops these events;
  // keys with Ctrl or Cmd, such as those that save, still reach JupyterLab
  const guard = ({ target, ctrlKey, metaKey }) => {
    if (root.contains(target)) target.toggleAttribute("data-lm-suppress-shortcuts", !ctrlKey && !metaKey);
  };
  window.addEventListener("keydown", guard, true); // the window receives events before the document, where JupyterLab listens
  model.on("change:serial", answered);
  read();
  sized.observe(root);
  root.runs = () => runs; // for the tests
  return () => {
    stop();
    clearTimeout(waiting);
    sized.disconnect();
    window.removeEventListener("keydown", guard, true);
    model.off("change:serial", answered);
  };
}

export default { render };
