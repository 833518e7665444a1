// The stepper: SMO on forty points, one step at a time; `smo` takes the steps, `picture` draws the examples.
"use strict";

picture.each("stepper", (root) => {
  const { SIDE, scale, show, levelLine } = picture;
  const { data, buttons, controls, say, panel, draw } = picture.open(root, [
    ["points", "Examples, boundary, margins"],
    ["pair", "The pair that moves next"],
    ["gradient", "G on either side of b"],
  ]);
  const { n, y, tol } = data, plane = new picture.Plane(data.X, y, data.gamma);
  const MOST = 20000; // steps kept for going back
  const own = { i: 0, j: y.findIndex((v) => v !== y[0]) }; // the reader's pair
  const given = () => data.K.map((_, i) => data.K.map((_, j) => data.K[Math.min(i, j)][Math.abs(i - j)]));
  let K = given(), C = data.C, problem, states, next, chosen = -1;
  let note = ""; // why there is no step, or what a choice has changed
  let by = null; // the two rules of all steps so far; "" once they differ, or α did not begin at 0
  let guess = null, right = 0, asked = 0; // the reader's next pair while it is hidden, and how often it was right

  const options = (list, selected) =>
    list.map(([value, name]) => `<option value="${value}"${value === selected ? " selected" : ""}>${name}</option>`).join("");
  buttons.innerHTML = [["reset", "Restart"], ["back", "Back"], ["step", "Step"], ["play", "Play"], ["end", "End"],
    ["predict", "Predict"], ["link", "Copy link"]]
    .map(([name, title]) => `<button type="button" data-do="${name}">${title}</button>`).join("");
  controls.innerHTML = `
    <label>pair <select data-set="selector">${options([["mvp", "most violating"], ["second-order", "second order"],
      ["maximum-gain", "maximum gain"], ["hybrid", "hybrid maximum gain"],
      ["conjugate", "conjugate second order"], ["own", "your own"]], data.selector)}</select></label>
    <span class="stepper-own"><label>i <input type="number" data-own="i" min="0" max="${n - 1}"></label>
    <label>j <input type="number" data-own="j" min="0" max="${n - 1}"></label></span>
    <label>step <select data-set="step">${options([["newton", "Newton"], ["overrelaxed", "over-relaxed"],
      ["planning-ahead", "planning ahead"], ["conjugate", "conjugate"]], data.step)}</select></label>
    <label>C = <output>${show(C)}</output> <input type="range" data-set="C" min="-1" max="4" step="0.05" value="${Math.log10(C)}"></label>`;
  const find = (name) => root.querySelector(`[data-${name}]`);
  const selector = find("set=selector"), rule = find("set=step"), slider = find("set=C");
  const inputs = [find("own=i"), find("own=j")];
  const state = () => states[states.length - 1];

  // --- the algorithm ---

  // Begin anew, at α = 0 or at another feasible α.
  function begin(alpha) {
    problem = smo.problem(K, y, C);
    states = [smo.start(problem, alpha)];
    by = alpha && alpha.some((a) => a !== 0) ? "" : null;
    choose();
  }

  // Put every example back to where it was.
  function unmove() {
    data.X.forEach((x, t) => { if (plane.X[t].some((v, d) => v !== x[d])) plane.place(t, x.slice()); });
    K = given();
  }

  // The step that comes next, by the rules or by the reader's pair.
  function choose() {
    const s = state();
    guess = null;
    if (selector.value === "own") {
      next = s.gap <= tol || own.i === own.j ? null : smo.measure(problem, s, own.i, own.j);
      if (next) next.mu = smo.steps[rule.value](problem, s, next);
      if (next && next.mu === 0) {
        note = ` The pair (${own.i}, ${own.j}) cannot move: a variable is at its bound, or nothing is to be gained.`;
        next = null;
      }
    } else {
      next = smo.choose(problem, s, smo.selectors[selector.value], smo.steps[rule.value], tol);
    }
    render();
  }

  function take() {
    const rules = `${selector.value} ${rule.value}`;
    by = (by === null || by === rules) && selector.value !== "own" ? rules : "";
    states.push(smo.step(problem, state(), next));
  }

  function forward() {
    if (!next || states.length > MOST) return false;
    take();
    note = "";
    choose();
    return next !== null && selector.value !== "own";
  }

  function back() {
    if (states.length < 2) return;
    states.pop();
    if (states.length === 1 && by) by = null;
    note = "";
    choose();
  }

  function toTheEnd() {
    guess = null;
    note = "";
    while (next && states.length <= MOST) {
      take();
      next = smo.choose(problem, state(), smo.selectors[selector.value], smo.steps[rule.value], tol);
    }
    render();
  }

  // --- predict the next pair, then see it ---

  function predict() {
    if (guess) return reveal();
    if (!next) return;
    guess = [];
    note = " Which pair is next? Tap i, which rises, then j, which falls.";
    render();
  }

  function guessed(t) {
    guess.push(t);
    if (guess.length === 2) return reveal();
    note = ` i = ${t}. And j?`;
    render();
  }

  function reveal() {
    const [i, j] = guess, { i: above, j: below } = next;
    guess = null;
    if (j === undefined) note = ` The pair is (${above}, ${below}).`;
    else {
      asked++;
      if (i === above && j === below) right++;
      const verdict = i === above && j === below ? "Right" : i === above ? "i is right" : j === below ? "j is right" : "Another one";
      note = ` ${verdict}: you said (${i}, ${j}), the pair is (${above}, ${below}). ${right} of ${asked} right.`;
    }
    render();
  }

  // --- a state as an address ---

  const name = `stepper-${[...document.querySelectorAll(".stepper[data-kind=stepper]")].indexOf(root) + 1}`;

  // Rules, C and moved examples; the number of steps where the rules took all of them, otherwise α.
  function address() {
    const items = { pair: selector.value, step: rule.value, C };
    const moved = plane.X.flatMap((x, t) => (x.some((v, d) => v !== data.X[t][d]) ? [`${t}:${x[0]}:${x[1]}`] : []));
    if (moved.length) items.moved = moved.join("_");
    if (selector.value === "own") items.own = `${own.i}:${own.j}`;
    if (by === null || by === `${selector.value} ${rule.value}`) items.steps = states.length - 1;
    else items.alpha = Array.from(state().alpha).flatMap((a, t) => (a ? [`${t}:${a}`] : [])).join("_");
    return picture.write(name, items);
  }

  function restore(items) {
    const lists = (text) => (text ? text.split("_").map((each) => each.split(":").map(Number)) : []);
    const has = (select, value) => Array.from(select.options).some((each) => each.value === value);
    if (has(selector, items.pair)) selector.value = items.pair;
    if (has(rule, items.step)) rule.value = items.step;
    compatible(rule);
    if (Number(items.C) > 0) C = Number(items.C);
    showC();
    unmove();
    for (const [t, ...x] of lists(items.moved)) if (plane.X[t] && x.every(Number.isFinite)) plane.place(t, x);
    if (items.moved) K = plane.gram();
    for (const [i, j] of lists(items.own)) Object.assign(own, { i, j });
    const alpha = new Float64Array(n);
    for (const [t, a] of lists(items.alpha)) if (t < n && Number.isFinite(a)) alpha[t] = a;
    begin(items.alpha ? alpha : undefined);
    for (let k = Math.min(Number(items.steps) || 0, MOST); k > 0 && next && selector.value !== "own"; k--) forward();
    note = " This is the state of the link.";
    render();
  }

  // --- the pictures ---

  function points(s) {
    const marks = s.alpha.reduce((all, a, t) => all + plane.mark(t, Math.abs(a) / C), "");
    const named = guess ? guess.map((t, k) => [t, "ij"[k]]) : next ? [[next.i, "i"], [next.j, "j"]] : [];
    const rings = named.map(([t, letter]) => plane.ring(t, letter)).join("") + (chosen >= 0 ? plane.ring(chosen, "") : "");
    const isFree = (t) => s.alpha[t] !== 0 && Math.abs(s.alpha[t]) < C;
    const support = y.map((_, t) => (isFree(t) ? plane.support(t) : "")).join("");
    const free = y.filter((_, t) => isFree(t)).length, bounded = s.alpha.filter((a) => Math.abs(a) === C).length;
    draw("points", `<rect class="frame" width="${SIDE}" height="${SIDE}"/>${plane.lines(s.alpha, smo.intercept(s))}${marks}${support}${rings}`,
      `<span class="negative">●</span> −1 <span class="positive">▲</span> +1, filled by |α|/C: ${free} free, in thin rings, ${bounded} at C.
       Drag an example, or tap two to choose them as the pair.`);
  }

  // The box of (αᵢ, αⱼ) with the line on which the sum stays the same, level lines of f, and below the parabola.
  function pair(s) {
    if (!next) {
      return draw("pair", "", s.gap <= tol ? `No pair is left: ψ ≤ ${show(tol)}.` : "No step: choose two different examples that can move.");
    }
    if (guess) return draw("pair", "", "Hidden until both examples are tapped, or Reveal is pressed.");
    const { i, j, mu, slope, q, raw, low, high } = next, side = 150, left = (SIDE - side) / 2, top = 22;
    const x = scale([problem.lower[i], problem.upper[i]], [left, left + side]);
    const v = scale([problem.lower[j], problem.upper[j]], [top + side, top]);
    const nodes = 31, values = new Float64Array(nodes * nodes);
    const { lower, upper } = problem, Kii = K[i][i], Kjj = K[j][j], Kij = K[i][j];
    for (let r = 0; r < nodes; r++) {
      for (let c = 0; c < nodes; c++) { // what f gains at (αᵢ + a, αⱼ + d)
        const a = lower[i] + C * c / (nodes - 1) - s.alpha[i], d = lower[j] + C * r / (nodes - 1) - s.alpha[j];
        values[r * nodes + c] = s.G[i] * a + s.G[j] * d - 0.5 * (Kii * a * a + 2 * Kij * a * d + Kjj * d * d);
      }
    }
    const [least, most] = [Math.min(...values), Math.max(...values)];
    const levels = [0.5, 0.7, 0.84, 0.92, 0.97, 0.99].map((w) => least + w * (most - least));
    const contours = levels.map((level) => levelLine(values, nodes, level,
      scale([0, nodes - 1], [left, left + side]), scale([0, nodes - 1], [top + side, top]))).join("");
    const at = (m) => [x(s.alpha[i] + m), v(s.alpha[j] - m)];
    const [[x0, y0], [x1, y1], [xa, ya]] = [low, high, 0].map(at);
    const goesOn = next.kappa ? next.kappa : 0, moves = (t, m) => s.alpha[t] + m + (goesOn ? goesOn * s.delta[t] : 0);
    const [xb, yb] = [x(moves(i, mu)), v(moves(j, -mu))];
    const text = (px, py, words, anchor = "middle") => `<text x="${px}" y="${py}" text-anchor="${anchor}">${words}</text>`;
    draw("pair", `<path class="level" d="${contours}"/>
      <rect class="box" x="${left}" y="${top}" width="${side}" height="${side}"/>
      <path class="feasible" d="M${x0} ${y0}L${x1} ${y1}"/><path class="taken" d="M${xa} ${ya}L${xb} ${yb}"/>
      <circle class="here" cx="${xa}" cy="${ya}" r="5"/><circle class="there" cx="${xb}" cy="${yb}" r="5"/>
      ${text(left, top + side + 14, show(lower[i]))}${text(left + side, top + side + 14, show(upper[i]))}
      ${text(left + side / 2, top + side + 14, `α<tspan class="small">${i}</tspan>`)}
      ${text(left - 6, top + side, show(lower[j]), "end")}${text(left - 6, top + 10, show(upper[j]), "end")}
      ${text(left - 6, top + side / 2, `α<tspan class="small">${j}</tspan>`, "end")}${parabola()}`,
      `α<sub>${i}</sub> rises and α<sub>${j}</sub> falls by μ = ${show(mu)}: ℓ = ${show(slope)}, q = ${show(raw)}, ℓ/q = ${show(slope / q)}.
       ${goesOn ? `κ = ${show(goesOn)} of the step before goes on, so other variables move too.`
        : next.candidates.length ? "Planned with the pair before." : low < mu && mu < high ? "The step ends inside the box." : "The box cuts the step."}`);
  }

  // g(μ) = μℓ − ½qμ²; grey where the box is left.
  function parabola() {
    const { mu, slope, q, raw, low, high, kappa } = next, newton = slope / q, end = 1.9 * (Math.abs(mu) > Math.abs(newton) ? mu : newton);
    // of a conjugate step the whole gain, with its smaller curvature
    const along = kappa ? raw + kappa / mu * (state().image[next.i] - state().image[next.j]) : raw;
    const g = (m) => m * slope - 0.5 * along * m * m, steps = 60;
    const span = [Math.min(0, end), Math.max(0, end)], top = 205, bottom = SIDE - 22;
    const all = Array.from({ length: steps + 1 }, (_, k) => span[0] + k / steps * (span[1] - span[0]));
    const peak = Math.max(...all.map(g), g(mu)), floor = Math.min(0, ...all.map(g), g(mu));
    if (!(peak > floor)) return "";
    const x = scale(span, [30, SIDE - 30]), v = scale([floor, peak], [bottom, top]);
    const inside = all.filter((m) => low <= m && m <= high);
    for (const end of [low, high]) if (span[0] < end && end < span[1]) inside.push(end);
    inside.sort((a, b) => a - b);
    const line = (list) => list.map((m, k) => `${k ? "L" : "M"}${x(m).toFixed(1)} ${v(g(m)).toFixed(1)}`).join("");
    return `<path class="outside" d="${line(all)}"/><path class="boundary" d="${line(inside)}"/>
      <path class="axis" d="M30 ${bottom}H${SIDE - 30}"/>
      <circle class="top" cx="${x(newton)}" cy="${v(g(newton))}" r="6"/><circle class="there" cx="${x(mu)}" cy="${v(g(mu))}" r="4"/>
      <text x="30" y="${top - 2}">gain</text><text x="${SIDE - 30}" y="${SIDE - 6}" text-anchor="end">step length μ</text>
      <text x="${x(newton)}" y="${SIDE - 6}" text-anchor="middle">ℓ/q</text>`;
  }

  // Bars from b to Gᵢ: what may rise has to end below b, what may fall above. Under them ψ after every step.
  function gradient(s) {
    const b = smo.intercept(s), bottom = 205, width = (SIDE - 50) / 2 / n;
    const reach = states.reduce((most, each) => {
      const middle = smo.intercept(each);
      return each.G.reduce((m, g) => Math.max(m, Math.abs(g - middle)), most);
    }, 1);
    const v = scale([-reach, reach], [bottom, 34]);
    const bar = (t, begin, wrong) => {
      const from = v(0), to = v(s.G[t] - b);
      return `<rect class="${y[t] < 0 ? "negative" : "positive"}${wrong ? " wrong" : ""}" x="${begin + t * width}" y="${Math.min(from, to)}"
        width="${width * 0.8}" height="${Math.abs(to - from)}"/>`;
    };
    let bars = "";
    for (let t = 0; t < n; t++) {
      if (s.alpha[t] < problem.upper[t]) bars += bar(t, 15, s.G[t] > b);
      if (s.alpha[t] > problem.lower[t]) bars += bar(t, SIDE / 2 + 10, s.G[t] < b);
    }
    const half = s.gap / 2, letters = next && !guess ? [["i", next.i, 15], ["j", next.j, SIDE / 2 + 10]].map(([letter, t, begin]) =>
      `<text x="${begin + (t + 0.4) * width}" y="${v(s.G[t] - b) + (s.G[t] > b ? -3 : 12)}" text-anchor="middle">${letter}</text>`) : [];
    draw("gradient", `<rect class="gap" x="8" y="${v(half)}" width="${SIDE - 16}" height="${Math.max(0, v(-half) - v(half))}"/>${bars}
      <path class="axis" d="M8 ${v(0)}H${SIDE - 8}"/><text x="${SIDE / 2}" y="${v(0) - 3}" text-anchor="middle">b</text>${letters.join("")}
      <text x="15" y="14">may rise</text><text x="${SIDE / 2 + 10}" y="14">may fall</text>${history()}`,
      `ψ = ${show(s.gap)}, the height of the band: what may rise is to end below b, what may fall above.
       b = ${show(b)}.`);
  }

  function history() {
    const top = 225, bottom = SIDE - 20, x = scale([0, Math.max(20, states.length - 1)], [40, SIDE - 10]);
    const v = scale([Math.log10(tol) - 0.4, 1], [bottom, top]);
    const line = states.map((s, k) => `${k ? "L" : "M"}${x(k).toFixed(1)} ${v(Math.log10(Math.max(s.gap, tol / 2))).toFixed(1)}`).join("");
    return `<path class="axis" d="M40 ${top}V${bottom}H${SIDE - 10}"/><path class="tolerance" d="M40 ${v(Math.log10(tol))}H${SIDE - 10}"/>
      <path class="boundary" d="${line}"/><text x="36" y="${v(0) + 4}" text-anchor="end">1</text>
      <text x="36" y="${v(Math.log10(tol)) + 4}" text-anchor="end">ε</text><text x="36" y="${top + 2}" text-anchor="end">ψ</text>
      <text x="${SIDE - 10}" y="${SIDE - 5}" text-anchor="end">steps: ${states.length - 1}</text>`;
  }

  // F = ½ αᵀKα + C Σ max(0, yᵢ(Gᵢ − b)): what the machine costs, with b in the middle
  function primal(s) {
    const b = smo.intercept(s);
    return y.reduce((sum, v, t) => sum + 0.5 * s.alpha[t] * (v - s.G[t]) + C * Math.max(0, v * (s.G[t] - b)), 0);
  }

  function render() {
    const s = state();
    points(s);
    pair(s);
    gradient(s);
    root.classList.toggle("with-own-pair", selector.value === "own");
    inputs.forEach((input, k) => { input.value = k ? own.j : own.i; });
    find("do=back").disabled = states.length < 2;
    for (const name of ["step", "play"]) find(`do=${name}`).disabled = !next;
    find("do=predict").disabled = !next || selector.value === "own";
    find("do=predict").textContent = guess ? "Reveal" : "Predict";
    find("do=end").disabled = !next || selector.value === "own";
    say(`Step ${states.length - 1}: f = ${show(s.objective, 6)}, F = ${show(primal(s), 6)}, ψ = ${show(s.gap)}${s.gap <= tol ? `: optimal up to ε = ${show(tol)}.` : "."}${note}`);
  }

  // --- the reader ---

  const play = picture.player(find("do=play"), forward, 300);
  const actions = {
    reset: () => { note = ""; unmove(); begin(); }, back,
    step: forward, play: play.toggle, end: toTheEnd, predict,
    link: () => picture.copy(address(), (words) => { note = words; render(); }),
  };
  picture.press(buttons, actions, play.stop);
  picture.arrows(root, actions, play.stop);
  // Planned steps need a selector that considers the pair planned with.
  function compatible(changed) {
    if (rule.value === "planning-ahead" && selector.value !== "second-order") {
      if (changed === rule) {
        selector.value = "second-order";
        note = " Planned steps need second-order selection, which is chosen now.";
      } else {
        rule.value = "newton";
        note = " This pair cannot be planned with: Newton steps are chosen now.";
      }
    }
  }
  for (const select of [selector, rule]) select.addEventListener("change", () => { note = ""; compatible(select); choose(); });
  inputs.forEach((input, k) => input.addEventListener("change", () => {
    own[k ? "j" : "i"] = Math.min(Math.max(Math.round(Number(input.value)), 0), n - 1);
    note = "";
    choose();
  }));
  function showC() {
    slider.value = Math.log10(C);
    controls.querySelector("output").textContent = show(C);
  }
  slider.addEventListener("input", () => {
    C = 10 ** Number(slider.value);
    showC();
    play.stop();
    note = "";
    begin();
  });
  // Moving an example keeps α, which stays feasible; K is computed anew, and G from it.
  function move(t, x) {
    plane.place(t, x);
    K = plane.gram();
    note = "";
    begin(state().alpha.slice());
  }
  let tapped = 0;
  function choosePair(t) {
    if (guess) return guessed(t);
    own[tapped++ % 2 ? "j" : "i"] = t;
    selector.value = "own";
    note = "";
    compatible(selector);
    choose();
  }

  const svg = panel("points");
  let drag = null;
  const place = (event) => {
    const rect = svg.getBoundingClientRect();
    return [(event.clientX - rect.left) / rect.width * SIDE, (event.clientY - rect.top) / rect.height * SIDE];
  };
  svg.addEventListener("pointerdown", (event) => {
    const t = plane.nearest(...place(event));
    if (t < 0) return;
    play.stop();
    drag = { t, from: place(event), moved: false };
    svg.setPointerCapture(event.pointerId);
  });
  svg.addEventListener("pointermove", (event) => {
    if (!drag) return;
    const to = place(event);
    if (!drag.moved && Math.hypot(to[0] - drag.from[0], to[1] - drag.from[1]) < 5) return;
    drag.moved = true;
    move(drag.t, plane.fromPicture(...to));
  });
  svg.addEventListener("pointerup", () => {
    if (drag && !drag.moved) choosePair(drag.t);
    drag = null;
  });
  svg.addEventListener("pointercancel", () => { drag = null; });
  // A finger on an example drags it; beside one it scrolls the page.
  svg.addEventListener("touchstart", (event) => {
    if (plane.nearest(...place(event.touches[0])) >= 0) event.preventDefault();
  }, { passive: false });

  svg.tabIndex = 0;
  svg.setAttribute("role", "application");
  svg.setAttribute("aria-label", "Examples, boundary, margins. Keys: n and p choose an example, arrows move it, Enter takes it into the pair.");
  svg.addEventListener("blur", () => { chosen = -1; render(); });
  svg.addEventListener("keydown", (event) => {
    const turn = { n: 1, p: n - 1 }[event.key];
    const shift = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] }[event.key];
    if (turn) { chosen = (chosen + turn + (chosen < 0 && turn > 1)) % n; render(); }
    else if (shift && chosen >= 0) move(chosen, plane.X[chosen].map((v, d) => v + 0.02 * plane.width * shift[d]));
    else if (event.key === "Enter" && chosen >= 0) choosePair(chosen);
    else return;
    event.preventDefault();
  });

  root.steps = () => states; // for the tests
  root.examples = () => plane.X;
  root.address = address;
  begin();
  picture.follow(name, root, restore);
});
