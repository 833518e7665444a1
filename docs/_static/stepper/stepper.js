// The stepper: SMO on forty points, one step at a time; `smo` takes the steps, `picture` and `panels` draw them.
"use strict";

// Examples of papers, which a reader can choose in place of those of the page. "theorem-7" (maximum gain, JMLR 7, 2006)
// has a matrix only: K = yyᵀ∘Q, and its four variables are drawn at the corners of a square.
const presets = (() => {
  const r = Math.sqrt(3), y = [-1, -1, 1, 1], Q = [[2, r, 1, r], [r, 4, r, 3], [1, r, 2, r], [r, 3, r, 4]];
  return { "theorem-7": { X: [[0.1, 0.1], [0.1, 0.9], [0.9, 0.1], [0.9, 0.9]], y, C: 0.1, K: () => Q.map((row, i) => row.map((q, j) => y[i] * y[j] * q)) } };
})();

if (typeof module === "object") module.exports = presets; // Node.js, for the tests
else picture.each("stepper", (root) => {
  const { show } = picture;
  const { data, buttons, controls, say, hush, panel, draw } = picture.open(root, [
    ["points", "Examples, boundary, margins"],
    ["pair", "The pair that moves next"],
    ["gradient", "G on either side of b"],
    ["closing", "f and F, and the gap"],
    ["rivals", "Two pairs, two parabolas"],
  ]);
  const { tol } = data;
  const MOST = 20000; // steps kept for going back
  const own = { i: 0, j: 0 }; // the reader's pair
  const given = () => data.K.map((_, i) => data.K.map((_, j) => data.K[Math.min(i, j)][Math.abs(i - j)]));
  const sets = { given: { X: data.X, y: data.y, gamma: data.gamma, C: data.C, K: given }, ...presets };
  let set, X, y, n, plane, K, C = data.C, problem, states, next, chosen = -1;
  let why; // why the reader's pair is refused, as in the picture of the pair
  let note = ""; // why there is no step, or what a choice has changed
  let by = null; // the two rules of all steps so far; "" once they differ, or α did not begin at 0
  let guess = null, right = 0, asked = 0; // the reader's next pair while it is hidden, and how often it was right

  const options = (list, selected) =>
    list.map(([value, name]) => `<option value="${value}"${value === selected ? " selected" : ""}>${name}</option>`).join("");
  buttons.innerHTML = [["reset", "Restart"], ["back", "Back"], ["step", "Step"], ["play", "Play"], ["end", "End"],
    ["predict", "Predict"], ["link", "Copy link"]]
    .map(([name, title]) => `<button type="button" data-do="${name}">${title}</button>`).join("");
  controls.innerHTML = `<details${matchMedia("(width < 60rem)").matches ? "" : " open"}><summary>Examples, rules and C</summary><div>
    <label>examples <select data-set="examples"><option value="given">${data.data}</option><option value="theorem-7">Theorem 7</option></select></label>
    <label>pair <select data-set="selector">${options([["mvp", "most violating"], ["second-order", "second order"],
      ["maximum-gain", "maximum gain"], ["hybrid", "hybrid maximum gain"],
      ["conjugate", "conjugate second order"], ["own", "your own"]], data.selector)}</select></label>
    <span class="stepper-own"><label>i <input type="number" data-own="i" min="0"></label>
    <label>j <input type="number" data-own="j" min="0"></label>
    <button type="button" data-do="swap">Swap</button></span>
    <label>step <select data-set="step">${options([["newton", "Newton"], ["overrelaxed", "over-relaxed"],
      ["planning-ahead", "planning ahead"], ["conjugate", "conjugate"]], data.step)}</select></label>
    <label>C = <output></output> <input type="range" aria-label="C" data-set="C" min="-1" max="4" step="0.05"></label></div></details>`;
  const find = (name) => root.querySelector(`[data-${name}]`);
  const selector = find("set=selector"), rule = find("set=step"), slider = find("set=C");
  const chooser = find("set=examples"), inputs = [find("own=i"), find("own=j")];
  const state = () => states[states.length - 1];

  // --- the examples ---

  // Take a set of examples, at its C; false if there is none of this name.
  function use(name) {
    if (!Object.hasOwn(sets, name)) return false;
    chooser.value = name;
    set = sets[name];
    C = set.C;
    ({ X, y } = set);
    n = y.length;
    plane = new picture.Plane(X, y, set.gamma);
    K = set.K();
    Object.assign(own, { i: 0, j: y.findIndex((v) => v !== y[0]) });
    inputs.forEach((input) => { input.max = n - 1; });
    chosen = -1;
    showC();
    return true;
  }

  // --- the algorithm ---

  // A state with F, which smo.js does not need.
  const priced = (s) => Object.assign(s, { primal: smo.primal(problem, s) });

  // Begin anew, at α = 0 or at another feasible α.
  function begin(alpha) {
    problem = smo.problem(K, y, C);
    states = [priced(smo.start(problem, alpha))];
    by = alpha && alpha.some((a) => a !== 0) ? "" : null;
    choose();
  }

  // Put every example back to where it was.
  function unmove() {
    X.forEach((x, t) => { if (plane.X[t].some((v, d) => v !== x[d])) plane.place(t, x.slice()); });
    K = set.K();
  }

  // The step that comes next, by the rules or by the reader's pair.
  function choose() {
    const s = state();
    guess = null;
    why = undefined;
    if (selector.value === "own") {
      const refused = smo.refusal(problem, s, own.i, own.j, tol);
      next = s.gap <= tol || refused ? null : smo.measure(problem, s, own.i, own.j);
      if (next) next.mu = smo.steps[rule.value](problem, s, next);
      else if (s.gap > tol) {
        why = refusal(refused);
        note += ` No step: ${why}.`;
      }
    } else {
      next = smo.choose(problem, s, smo.selectors[selector.value], smo.steps[rule.value], tol);
      if (!next && s.gap > tol) {
        why = "no pair that this rule looks at gains anything, so it is stuck";
        note += ` Stuck: no pair that this rule looks at gains anything, though ψ > ${show(tol)}.`;
      }
    }
    render();
  }

  // Words of `smo.refusal`.
  function refusal({ why, up, down, full, empty }) {
    const { i, j } = own, pair = `the pair (${i}, ${j})`;
    if (why === "same") return "choose two different examples";
    if (why === "level") return `${pair} has nothing to gain, since its two values of G are equal up to ε`;
    if (why === "backwards") return `${pair} would move backwards, since G of ${i} is below G of ${j}. Swap lets ${j} rise and ${i} fall`;
    const bounds = [full ? `α of ${up} is at its upper bound` : "", empty ? `α of ${down} is at its lower bound` : ""];
    return `${pair} is blocked: ${bounds.filter(Boolean).join(", and ")}`;
  }

  function swap() {
    [own.i, own.j] = [own.j, own.i];
    note = "";
    choose();
  }

  function take() {
    const rules = `${selector.value} ${rule.value}`;
    by = (by === null || by === rules) && selector.value !== "own" ? rules : "";
    states.push(priced(smo.step(problem, state(), next)));
  }

  function forward() {
    if (!next || states.length > MOST) return false;
    take();
    note = ` ${happened()}`;
    choose();
    return next !== null && selector.value !== "own";
  }

  const label = (t) => (y[t] < 0 ? "−1" : "+1");
  const place = (t) => (state().alpha[t] === 0 ? "at 0" : Math.abs(state().alpha[t]) === C ? "at C" : "free");
  const told = (t) => `Example ${t}: label ${label(t)}, α = ${show(state().alpha[t])}, ${place(t)}.`;

  // The last step, in words.
  function happened() {
    const [i, j] = state().sets[0], { alpha } = state(), before = states[states.length - 2].alpha;
    const verb = (t) => (alpha[t] > before[t] ? "rose" : "fell");
    const others = alpha.reduce((count, a, t) => count + (a !== before[t] && t !== i && t !== j), 0);
    const words = [i, j].map((t) => `α of example ${t}, label ${label(t)}, ${verb(t)} to ${show(alpha[t])}, ${place(t)}`);
    return `${words.join("; ")}${others ? `; ${others} others moved along` : ""}.`;
  }

  function back() {
    if (states.length < 2) return;
    states.pop();
    if (states.length === 1 && by) by = null;
    note = " One step back.";
    choose();
  }

  function toTheEnd() {
    guess = null;
    note = "";
    while (next && states.length <= MOST) {
      take();
      next = smo.choose(problem, state(), smo.selectors[selector.value], smo.steps[rule.value], tol);
    }
    choose();
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
    if (chooser.value !== "given") items.examples = chooser.value;
    const moved = plane.X.flatMap((x, t) => (x.some((v, d) => v !== X[t][d]) ? [`${t}:${x[0]}:${x[1]}`] : []));
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
    use(items.examples) || use("given");
    if (Number(items.C) > 0) C = Number(items.C);
    showC();
    for (const [t, ...x] of set.gamma === undefined ? [] : lists(items.moved)) {
      if (plane.X[t] && x.every(Number.isFinite)) plane.place(t, x);
    }
    if (items.moved && set.gamma !== undefined) K = plane.gram();
    for (const [i, j] of lists(items.own)) Object.assign(own, { i, j });
    const alpha = new Float64Array(n);
    for (const [t, a] of lists(items.alpha)) if (t < n && Number.isFinite(a)) alpha[t] = a;
    begin(items.alpha ? alpha : undefined);
    for (let k = Math.min(Number(items.steps) || 0, MOST); k > 0 && next && selector.value !== "own"; k--) forward();
    note = ` This is the state of the link.${why ? ` No step: ${why}.` : ""}`;
    render();
  }

  // --- the pictures ---

  // A state of smo.js as the panels draw it.
  function seen(s) {
    const { lower, upper } = problem, plain = { alpha: s.alpha, G: s.G, b: smo.intercept(s), gap: s.gap, y, lower, upper, tol };
    plain.bottom = s.bottom;
    if (!next) return { ...plain, next };
    const plan = rule.value === "planning-ahead" ? smo.plan(problem, s, next) : undefined;
    const { i, j, mu } = next, kappa = next.kappa || 0, on = (t) => (kappa ? kappa * s.delta[t] : 0);
    return { ...plain, next: { ...next, kappa, plan, planned: next.candidates.length > 0, K: [K[i][i], K[j][j], K[i][j]],
      // of a conjugate step the whole gain, with its smaller curvature
      along: kappa ? next.raw + kappa / mu * (s.image[i] - s.image[j]) : next.raw,
      to: [s.alpha[i] + mu + on(i), s.alpha[j] - mu + on(j)] } };
  }

  function pictures(s) {
    const named = guess ? guess.map((t, k) => [t, "ij"[k]]) : next ? [[next.i, "i"], [next.j, "j"]] : [];
    const now = seen(s), lines = plane.columns ? plane.lines(s.alpha, now.b) : "";
    const [content, caption] = panels.points(now, plane, lines, [...named, ...(chosen >= 0 ? [[chosen, ""]] : [])]);
    const numbers = plane.columns ? "" : plane.X.map((x, t) => `<text x="${plane.toX(x[0])}" y="${plane.toY(x[1]) + 24}" text-anchor="middle">${t}</text>`).join("");
    draw("points", content + numbers, `${caption}\n       ${plane.columns ? "Drag an example, or tap two to choose them as the pair."
      : "K is given, so the corners of a square stand for the variables. Tap two to choose them as the pair."}`);
    draw("pair", ...panels.pair(now, guess, why));
    const reach = states.reduce((most, each) => {
      const middle = smo.intercept(each);
      return each.G.reduce((m, g) => Math.max(m, Math.abs(g - middle)), most);
    }, 1);
    draw("gradient", ...panels.gradient(now, reach, null, guess));
    draw("closing", ...panels.closing(states.map((each, k) => [k, each.objective, each.primal, each.gap]), tol));
    draw("rivals", ...panels.rivals(now, smo.rivals(problem, s), guess));
  }

  // "optimal" says ψ ≤ ε; of n examples each adds up to Cψ/2 to F − f, which a large C makes much.
  function optimal(s) {
    const left = s.primal - s.objective;
    return `optimal up to ε = ${show(tol)}. F − f = ${show(left)}${left < 0.01 * Math.abs(s.objective) ? "."
      : `, though ψ ≤ ε: each of ${n} examples may add Cψ/2 = ${show(C * s.gap / 2)}, and C is large.`}`;
  }

  function render() {
    const s = state();
    hush(play.isOn());
    pictures(s);
    root.classList.toggle("with-own-pair", selector.value === "own");
    inputs.forEach((input, k) => { input.value = k ? own.j : own.i; });
    find("do=back").disabled = states.length < 2;
    for (const name of ["step", "play"]) find(`do=${name}`).disabled = !next;
    find("do=predict").disabled = !next || selector.value === "own";
    find("do=predict").textContent = guess ? "Reveal" : "Predict";
    find("do=end").disabled = !next || selector.value === "own";
    say(`Step ${states.length - 1}: f = ${show(s.objective, 6)}, F = ${show(s.primal, 6)}, ψ = ${show(s.gap)}${s.gap <= tol ? `: ${optimal(s)}` : "."}${note}`);
  }

  // --- the reader ---

  const play = picture.player(find("do=play"), forward, 300);
  const actions = {
    reset: () => { note = ""; unmove(); begin(); }, back,
    step: forward, play: () => { play.toggle(); hush(play.isOn()); }, end: toTheEnd, predict, swap,
    link: () => picture.copy(address(), (words) => { note = words; render(); }),
  };
  for (const place of [buttons, controls]) picture.press(place, actions, play.stop);
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
  chooser.addEventListener("change", () => {
    play.stop();
    note = "";
    use(chooser.value);
    begin();
  });
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
    if (!plane.columns) return;
    plane.place(t, x);
    K = plane.gram();
    note = ` Moved, and α stays. ${told(t)}`;
    begin(state().alpha.slice());
  }
  let tapped = 0;
  function choosePair(t) {
    if (guess) return guessed(t);
    own[tapped++ % 2 ? "j" : "i"] = t;
    selector.value = "own";
    note = ` Taken as ${tapped % 2 ? "i" : "j"}. ${told(t)}`;
    compatible(selector);
    choose();
  }

  picture.examples(panel("points"), () => plane, {
    grab: play.stop, move, tap: choosePair, chosen: () => chosen, choose: (t) => { chosen = t; if (t >= 0) note = ` ${told(t)}`; render(); },
  });

  root.steps = () => states; // for the tests
  use("given");
  root.examples = () => plane.X;
  root.address = address;
  begin();
  picture.follow(name, root, restore);
});
