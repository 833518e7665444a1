// The stepper: SMO on forty points, one step at a time; `smo` takes the steps, `picture` and `panels` draw them.
"use strict";

// Examples that a reader can choose in place of those of the page. "theorem-7" (maximum gain, JMLR 7, 2006) has a matrix
// only: K = yyᵀ∘Q, and its four variables are drawn at the corners of a square. "three-points" are those of chapter 10.
const presets = (() => {
  const r = Math.sqrt(3), y = [-1, -1, 1, 1], Q = [[2, r, 1, r], [r, 4, r, 3], [1, r, 2, r], [r, 3, r, 4]];
  return { "theorem-7": { X: [[0.1, 0.1], [0.1, 0.9], [0.9, 0.1], [0.9, 0.9]], y, C: 0.1, K: () => Q.map((row, i) => row.map((q, j) => y[i] * y[j] * q)) },
    "three-points": { X: [[-0.5, 0], [0.4, 0], [0, 0.1]], y: [1, 1, -1], gamma: 0.5, C: 1e4 } };
})();

if (typeof module === "object") module.exports = presets; // Node.js, for the tests
else picture.each("stepper", (root) => {
  const { show } = picture;
  const { data, buttons, controls, say, hush, panel, draw } = picture.open(root, [
    ["points", "Examples, boundary, margins"],
    ["left", "h of the example left out"],
    ["pair", "The pair that moves next"],
    ["gradient", "G on either side of b"],
    ["closing", "f and F, and the gap"],
    ["rivals", "Two pairs, two parabolas"],
    ["second", "By the second rules"],
  ]);
  const { tol } = data;
  const MOST = 20000, LONG = 5000, MANY = 100; // steps kept for going back, or looked ahead; examples
  const own = { i: 0, j: 0 }; // the reader's pair
  const given = () => data.K.map((_, i) => data.K.map((_, j) => data.K[Math.min(i, j)][Math.abs(i - j)]));
  const sets = { given: { X: data.X, y: data.y, gamma: data.gamma, C: data.C, K: given }, ...presets };
  let set, y, n, gamma, plane, K, C = data.C, problem, states, next, chosen = -1;
  let second = null; // the run of the second rules, { states, next }
  let left = null; // the example that is left out, and what decides it
  let why; // why the reader's pair is refused, as in the picture of the pair
  let note = ""; // why there is no step, or what a choice has changed
  let by = null; // the two rules of all steps so far; "" once they differ, or α did not begin at 0
  let guess = null, right = 0, asked = 0; // the reader's next pair while it is hidden, and how often it was right

  const options = (list, selected) =>
    list.map(([value, name]) => `<option value="${value}"${value === selected ? " selected" : ""}>${name}</option>`).join("");
  buttons.innerHTML = [["reset", "Restart"], ["back", "Back"], ["step", "Step"], ["play", "Play"], ["end", "End"],
    ["predict", "Predict"], ["link", "Copy link"]]
    .map(([name, title]) => `<button type="button" data-do="${name}">${title}</button>`).join("");
  const selectors = [["mvp", "most violating"], ["second-order", "second order"], ["maximum-gain", "maximum gain"],
    ["hybrid", "hybrid maximum gain"], ["conjugate", "conjugate second order"]];
  const rules = [["newton", "Newton"], ["overrelaxed", "over-relaxed"], ["planning-ahead", "planning ahead"], ["conjugate", "conjugate"]];
  const logarithmic = (name, text, least, most) => `<label>${text} = <output data-of="${name}"></output>
    <input type="range" aria-label="${text}" data-set="${name}" min="${least}" max="${most}" step="0.05"></label>`;
  panel("left").setAttribute("viewBox", "0 0 320 96");
  panel("second").closest("figure").insertAdjacentHTML("beforeend", `<table class="stepper-table"></table>`);
  controls.innerHTML = `<details${matchMedia("(width < 60rem)").matches ? "" : " open"}><summary>Examples, rules and C</summary><div>
    <label>examples <select data-set="examples"><option value="given">${data.data}</option>${options([["theorem-7", "Theorem 7"], ["three-points", "three points"]])}</select></label>
    <label>pair <select data-set="selector">${options([...selectors, ["own", "your own"]], data.selector)}</select></label>
    <span class="stepper-own"><label>i <input type="number" data-own="i" min="0"></label>
    <label>j <input type="number" data-own="j" min="0"></label>
    <button type="button" data-do="swap">Swap</button></span>
    <label>step <select data-set="step">${options(rules, data.step)}</select></label>
    <label class="stepper-factor">ω <input type="number" data-set="factor" min="0.1" max="1.9" step="0.1" value="1.1"></label>
    ${logarithmic("C", "C", -2, 4)}${logarithmic("gamma", "γ", -2, 1.5)}
    <label><input type="checkbox" data-set="warm" checked> go on from α</label>
    <label>second run <select data-set="against">${options([["", "none"], ...selectors], "")}</select></label>
    <label>its step <select data-set="against-step">${options(rules, "newton")}</select></label>
    <label>a tap <select data-set="tap">${options([["pair", "takes it into the pair"], ["turn", "gives the other label"],
      ["out", "leaves it out"], ["-1", "adds a −1"], ["1", "adds a +1"]], "pair")}</select></label></div></details>`;
  const find = (name) => root.querySelector(`[data-${name}]`);
  const selector = find("set=selector"), rule = find("set=step"), sliders = [find("set=C"), find("set=gamma")];
  const against = find("set=against"), againstRule = find("set=against-step"), warm = find("set=warm"), mode = find("set=tap");
  const factor = find("set=factor"), chooser = find("set=examples"), inputs = [find("own=i"), find("own=j")];
  const state = () => states[states.length - 1];
  const stepOf = (name) => (name === "overrelaxed" ? smo.overrelaxed(Number(factor.value)) : smo.steps[name]);
  const ruled = () => [selector.value, rule.value, ...(rule.value === "overrelaxed" ? [factor.value] : [])].join(" ");

  // --- the examples ---

  // Take a set of examples, at its C; false if there is none of this name.
  function use(name) {
    if (!Object.hasOwn(sets, name)) return false;
    chooser.value = name;
    set = sets[name];
    C = set.C;
    restart();
    return true;
  }

  // The examples as they were given, with their γ; C stays.
  function restart() {
    ({ gamma } = set);
    chosen = -1;
    y = set.y.slice();
    plane = new picture.Plane(set.X, y, gamma);
    examplesChanged();
    Object.assign(own, { i: 0, j: y.findIndex((v) => v !== y[0]) });
    showValues();
  }

  // K of the present examples: where they are the given ones, as it was given.
  function examplesChanged() {
    n = y.length;
    const same = gamma === set.gamma && n === set.y.length && !moved().length;
    K = same && set.K ? set.K() : plane.gram();
    inputs.forEach((input) => { input.max = n - 1; });
  }

  const isMoved = (x, t) => t < set.X.length && x.some((v, d) => v !== set.X[t][d]);
  const moved = () => Array.from(plane.X.keys()).filter((t) => isMoved(plane.X[t], t));

  // Go on from the present α, made feasible, or from 0; say what that saves.
  function goOn(words, oldC = C) {
    const after = smo.problem(K, y, C), alpha = warm.checked ? rounds.seed(after, state().alpha, problem, C, oldC) : undefined;
    note = ` ${words}; ${alpha ? `it goes on from the α before.${saved(after, alpha)}` : "it begins at α = 0."}`;
    begin(alpha);
  }

  function saved(after, alpha) {
    if (selector.value === "own" || alpha.every((a) => a === 0)) return "";
    const steps = (from) => rounds.run(after, from, smo.selectors[selector.value], stepOf(rule.value), tol, LONG).iteration;
    const [seeded, cold] = [steps(alpha), steps()], less = cold - seeded;
    if (Math.max(seeded, cold) >= LONG) return ` To the end: ${seeded} steps, from 0 ${cold}; the count stops at ${LONG}.`;
    return ` To the end: ${seeded} steps, from 0 ${cold}; the seed ${less < 0 ? `costs ${-less}` : `saves ${less}`}.`;
  }

  function turn(t) {
    if (y.filter((v) => v === y[t]).length === 1) return tell(`Example ${t} is alone in its class, and keeps its label.`);
    y[t] = -y[t];
    const words = `Example ${t} has the other label, ${label(t)}`;
    return goOn(words);
  }

  function add(x, sign) {
    if (n >= MANY) return tell(`At most ${MANY} examples fit.`);
    y.push(sign);
    plane = new picture.Plane([...plane.X, x], y, gamma, plane.range);
    plane.place(n, x);
    examplesChanged();
    chosen = n - 1;
    return goOn(`Example ${n - 1} is new, with label ${label(n - 1)}`);
  }

  // Leave an example out of the solved problem.
  function leaveOut(t) {
    if (state().gap > tol) toTheEnd();
    if (state().gap > tol) return tell("Leave-one-out starts from a solved problem: choose rules that reach the optimum.");
    const at = smo.selectors[selector.value] || smo.selectors["second-order"];
    const step = selector.value === "own" ? smo.steps.newton : stepOf(rule.value);
    left = { r: t, ...rounds.leaveOut(problem, state(), t, gamma, at, step, tol) };
    note = ` ${decided(left)}`;
    return render();
  }

  // Words of `rounds.leaveOut`.
  function decided({ r, by, sign, margin, value, radius, low, high, state: machine, cold }) {
    const verdict = `predicted ${sign < 0 ? "−1" : "+1"}, ${sign === y[r] ? "right" : "wrong"}`;
    const words = {
      alone: "it is alone in its class, so the other class is all that is left",
      "zero alpha": "its α is 0, so the machine without it is the same",
      "training error": `y h = ${show(margin)} < 0 although it was trained on, so it is also wrong without it`,
      "xi-alpha bound": `the ξα bound holds, 2|α|R² + ξ = ${show(value)} < 1`,
      ball: `the ball of radius ${show(radius)} that contains the machine without it leaves h from ${show(low)} to ${show(high)}`,
      round: `no proof holds; a round of ${machine && machine.iteration} steps from the seed of TOP, ${cold} from 0, ends at h = ${show(value)}`,
    };
    return `Without example ${r}, label ${label(r)}: ${verdict}. Decided by ${{ round: "a round", alone: "its class" }[by] || by}: ${words[by]}.`;
  }

  function tell(words) {
    note = ` ${words}`;
    render();
  }

  // --- the algorithm ---

  // A state with F, which smo.js does not need.
  const priced = (s) => Object.assign(s, { primal: smo.primal(problem, s) });

  // Begin anew, at α = 0 or at another feasible α.
  function begin(alpha) {
    problem = smo.problem(K, y, C);
    states = [priced(smo.start(problem, alpha))];
    by = alpha && alpha.some((a) => a !== 0) ? "" : null;
    second = against.value ? { states: [state()] } : null;
    choose();
  }

  // The step that comes next, by the rules or by the reader's pair.
  function choose() {
    const s = state();
    guess = left = null;
    why = undefined;
    if (second) second.next = chosenBySecond();
    if (selector.value === "own") {
      const refused = smo.refusal(problem, s, own.i, own.j, tol);
      next = s.gap <= tol || refused ? null : smo.measure(problem, s, own.i, own.j);
      if (next) next.mu = stepOf(rule.value)(problem, s, next);
      else if (s.gap > tol) {
        why = refusal(refused);
        note += ` No step: ${why}.`;
      }
    } else {
      next = smo.choose(problem, s, smo.selectors[selector.value], stepOf(rule.value), tol);
      if (!next && s.gap > tol) {
        why = "none of the pairs that this rule examines gains anything, so it is stuck";
        note += ` Stuck: none of the pairs that this rule examines gains anything, although ψ > ${show(tol)}.`;
      }
    }
    render();
  }

  const lastOfSecond = () => second.states[second.states.length - 1];
  const chosenBySecond = () => smo.choose(problem, lastOfSecond(), smo.selectors[against.value], stepOf(againstRule.value), tol);
  const takeSecond = () => second.states.push(priced(smo.step(problem, lastOfSecond(), second.next)));
  const k = () => Math.max(states.length, second ? second.states.length : 0) - 1;

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
    by = (by === null || by === ruled()) && selector.value !== "own" ? ruled() : "";
    states.push(priced(smo.step(problem, state(), next)));
  }

  function forward() {
    if ((!next && !(second && second.next)) || k() >= MOST) return false;
    note = "";
    if (next) {
      take();
      note = ` ${happened()}`;
    }
    if (second && second.next) takeSecond();
    choose();
    return (next !== null && selector.value !== "own") || Boolean(second && second.next);
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
    const last = k();
    if (!last) return;
    for (const each of second ? [states, second.states] : [states]) if (each.length - 1 === last) each.pop();
    if (states.length === 1 && by) by = null;
    note = " One step back.";
    choose();
  }

  function toTheEnd() {
    guess = null;
    note = "";
    while (next && selector.value !== "own" && states.length <= MOST) {
      take();
      next = smo.choose(problem, state(), smo.selectors[selector.value], stepOf(rule.value), tol);
    }
    while (second && second.next && second.states.length <= MOST) {
      takeSecond();
      second.next = chosenBySecond();
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
    if (gamma !== set.gamma) items.gamma = gamma;
    if (moved().length) items.moved = moved().map((t) => `${t}:${plane.X[t].join(":")}`).join("_");
    if (n > set.y.length) items.added = plane.X.slice(set.y.length).map((x, m) => [...x, y[set.y.length + m]].join(":")).join("_");
    const turned = set.y.flatMap((v, t) => (v === y[t] ? [] : [t]));
    if (turned.length) items.turned = turned.join("_");
    if (selector.value === "own") items.own = `${own.i}:${own.j}`;
    if (second) items.against = `${against.value}:${againstRule.value}`;
    if (Number(factor.value) !== 1.1) items.factor = factor.value;
    if (by === null || by === ruled()) items.steps = k();
    else items.alpha = Array.from(state().alpha).flatMap((a, t) => (a ? [`${t}:${a}`] : [])).join("_");
    if (left) items.without = left.r;
    return picture.write(name, items);
  }

  function restore(items) {
    const lists = (text) => (text ? text.split("_").map((each) => each.split(":").map(Number)) : []);
    const has = (select, value) => Array.from(select.options).some((each) => each.value === value);
    if (has(selector, items.pair)) selector.value = items.pair;
    if (has(rule, items.step)) rule.value = items.step;
    relax(Number(items.factor) || 1.1);
    compatible(rule);
    use(items.examples) || use("given");
    if (Number(items.C) > 0) C = Number(items.C);
    if (plane.columns) restoreExamples(items, lists);
    showValues();
    for (const [i, j] of lists(items.own)) Object.assign(own, { i, j });
    const rivals = (items.against || "").split(":");
    [against.value, againstRule.value] = has(against, rivals[0]) && has(againstRule, rivals[1]) ? rivals : ["", "newton"];
    const alpha = new Float64Array(n);
    for (const [t, a] of lists(items.alpha)) if (t < n && Number.isFinite(a)) alpha[t] = a;
    begin(items.alpha ? alpha : undefined);
    for (let steps = Math.min(Number(items.steps) || 0, MOST); steps > 0 && selector.value !== "own" && (next || (second && second.next)); steps--) forward();
    note = ` This is the state of the link.${why ? ` No step: ${why}.` : ""}`;
    if (items.without !== undefined && Number(items.without) < n) leaveOut(Number(items.without));
    render();
  }

  function restoreExamples(items, lists) {
    if (gamma && Number(items.gamma) > 0) gamma = Number(items.gamma);
    for (const t of (items.turned || "").split("_").filter(Boolean)) if (t in y) y[t] = -y[t];
    const added = lists(items.added).filter((each) => each.length === 3 && each.every(Number.isFinite)).slice(0, MANY - n);
    y.push(...added.map(([, , sign]) => (sign < 0 ? -1 : 1)));
    plane = new picture.Plane([...plane.X, ...added.map((each) => each.slice(0, 2))], y, gamma, plane.range);
    for (const [t, ...x] of lists(items.moved)) if (plane.X[t] && x.every(Number.isFinite)) plane.place(t, x);
    examplesChanged();
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

  // A cross over the example that is left out, and the boundary without it.
  function drawnLeft() {
    const [px, py] = [plane.toX(plane.X[left.r][0]), plane.toY(plane.X[left.r][1])], m = left.state;
    const lines = m && plane.columns ? plane.lines(m.alpha, smo.intercept(m), [0]) : "";
    return `<g class="without">${lines}<path class="cross" d="M${px - 9} ${py - 9}l18 18m0 -18l-18 18"/></g>`;
  }

  function pictures(s) {
    const named = guess ? guess.map((t, k) => [t, "ij"[k]]) : next ? [[next.i, "i"], [next.j, "j"]] : [];
    const now = seen(s), lines = plane.columns ? plane.lines(s.alpha, now.b) : "";
    const [content, caption] = panels.points(now, plane, lines, [...named, ...(chosen >= 0 ? [[chosen, ""]] : [])]);
    const numbers = plane.columns ? "" : plane.X.map((x, t) => `<text x="${plane.toX(x[0])}" y="${plane.toY(x[1]) + (plane.toY(x[1]) < picture.SIDE / 2 ? 24 : -14)}" text-anchor="middle">${t}</text>`).join("");
    draw("points", content + numbers + (left ? drawnLeft() : ""), `${caption}\n       ${plane.columns ? left ? "Crossed: left out, and dotted: the boundary without it." : "Drag an example, or tap two to choose them as the pair."
      : "K is given, so the corners of a square stand for the variables. Tap two to choose them as the pair."}`);
    panel("left").closest("figure").hidden = !left;
    if (left) draw("left", ...panels.leftOut(left, y[left.r]));
    draw("pair", ...panels.pair(now, guess, why));
    const reach = states.reduce((most, each) => {
      const middle = smo.intercept(each);
      return each.G.reduce((m, g) => Math.max(m, Math.abs(g - middle)), most);
    }, 1);
    draw("gradient", ...panels.gradient(now, reach, guess));
    const others = second && second.states.map((each, k) => [k, each.gap]);
    draw("closing", ...panels.closing(states.map((each, k) => [k, each.objective, each.primal, each.gap]), tol, others));
    panel("second").closest("figure").hidden = !second;
    if (second) drawSecond();
    draw("rivals", ...panels.rivals(now, smo.rivals(problem, s), guess));
  }

  // The second run, and both in numbers.
  function drawSecond() {
    const s = lastOfSecond(), { lower, upper } = problem, b = smo.intercept(s);
    const plain = { alpha: s.alpha, G: s.G, b, gap: s.gap, y, lower, upper, tol, next: second.next };
    const named = second.next && !guess ? [[second.next.i, "i"], [second.next.j, "j"]] : [];
    draw("second", ...panels.points(plain, plane, plane.columns ? plane.lines(s.alpha, b) : "", named));
    table();
  }

  // Kernel rows of a run: those of the α that it began at, and of its pairs.
  function rows(list) {
    const found = new Set(Array.from(list[0].alpha.keys()).filter((t) => list[0].alpha[t]));
    for (const s of list.slice(1)) s.sets[0].slice(0, 2).forEach((t) => found.add(t));
    return found.size;
  }

  function table() {
    const name = (select) => select.selectedOptions[0].textContent;
    const line = (pair, step, list) => `<tr><th scope="row">${name(pair)}, ${name(step)}</th>${[list.length - 1, rows(list),
      show(list[list.length - 1].gap)].map((each) => `<td>${each}</td>`).join("")}</tr>`;
    root.querySelector(".stepper-table").innerHTML = `<thead><tr><th scope="col">pair and step</th>${["steps", "rows", "ψ"].map((each) => `<th scope="col">${each}</th>`).join("")}</tr></thead>
      <tbody>${line(selector, rule, states)}${line(against, againstRule, second.states)}</tbody>`;
  }

  // "optimal" says ψ ≤ ε; of n examples each adds up to Cψ/2 to F − f, which a large C makes much.
  function optimal(s) {
    const left = Math.max(s.primal - s.objective, 0); // but for rounding F ≥ f
    return `optimal up to ε = ${show(tol)}. F − f = ${show(left)}${left < 0.01 * Math.abs(s.objective) ? "."
      : `, though ψ ≤ ε: each of ${n} examples may add Cψ/2 = ${show(C * s.gap / 2)}, and C is large.`}`;
  }

  function render() {
    const s = state();
    hush(play.isOn());
    pictures(s);
    root.classList.toggle("with-own-pair", selector.value === "own");
    root.classList.toggle("with-factor", rule.value === "overrelaxed" || (second !== null && againstRule.value === "overrelaxed"));
    inputs.forEach((input, k) => { input.value = k ? own.j : own.i; });
    find("do=back").disabled = !k();
    for (const name of ["step", "play"]) find(`do=${name}`).disabled = !next && !(second && second.next);
    find("do=predict").disabled = !next || selector.value === "own";
    find("do=predict").textContent = guess ? "Reveal" : "Predict";
    find("do=end").disabled = (!next || selector.value === "own") && !(second && second.next);
    if (data.at) say(`Step ${states.length - 1}${s.gap <= tol ? ", the last one" : ""}.${note}`);
    else say(`Step ${states.length - 1}: f = ${show(s.objective, 6)}, F = ${show(s.primal, 6)}, ψ = ${show(s.gap)}${s.gap <= tol ? `: ${optimal(s)}` : "."}${note}`);
  }

  // Where a page begins with a stepper: the picture with Step, Play and C; all else is behind "More". Returns the bar.
  function firstScreen() {
    const figure = panel("points").closest("figure"), bar = document.createElement("div"), more = document.createElement("details");
    root.classList.add("stepper-first");
    bar.className = "stepper-bar";
    more.className = "stepper-more";
    bar.append(find("do=step"), find("do=play"), sliders[0].parentElement);
    controls.querySelector("details").open = true;
    controls.querySelector("summary").textContent = "Examples and rules";
    more.innerHTML = "<summary>More</summary>";
    more.append(buttons, controls, root.querySelector(".stepper-panels"));
    root.append(figure, bar, root.querySelector(".stepper-said"), more);
    return bar;
  }

  // --- the reader ---

  const play = picture.player(find("do=play"), forward, 300);
  const actions = {
    reset: () => { note = ""; restart(); begin(); }, back,
    step: forward, play: () => { play.toggle(); hush(play.isOn()); }, end: toTheEnd, predict, swap,
    link: () => picture.copy(address(), (words) => { note = words; render(); }),
  };
  for (const place of [buttons, controls, ...(data.at ? [firstScreen()] : [])]) picture.press(place, actions, play.stop);
  picture.arrows(root, actions, play.stop);
  // Planned steps need a selector that considers the pair planned with.
  function compatible(changed, [pair, step] = [selector, rule]) {
    if (step.value !== "planning-ahead" || pair.value === "second-order" || !pair.value) return;
    if (changed === step) {
      pair.value = "second-order";
      note = " Planned steps need second-order selection, which is chosen now.";
    } else {
      step.value = "newton";
      note = " This pair cannot be planned with: Newton steps are chosen now.";
    }
  }
  chooser.addEventListener("change", () => {
    play.stop();
    note = "";
    use(chooser.value);
    begin();
  });
  for (const select of [selector, rule]) select.addEventListener("change", () => { note = ""; compatible(select); choose(); });
  for (const select of [against, againstRule]) {
    select.addEventListener("change", () => { // both begin where the first run has begun
      play.stop();
      note = against.value ? " Both runs begin at the same α." : "";
      compatible(select, [against, againstRule]);
      const [first] = states;
      begin(first.alpha.some((a) => a !== 0) ? first.alpha : undefined);
    });
  }
  // ω of over-relaxed steps: as long as 0 < ω < 2 each of them gains.
  function relax(value) { factor.value = Math.min(Math.max(value, 0.1), 1.9); }
  factor.addEventListener("change", () => {
    relax(Number(factor.value) || 1.1);
    note = ` Steps are ω = ${factor.value} times as long as Newton steps, or up to the box.`;
    choose();
  });
  mode.addEventListener("change", () => { note = ""; render(); });
  inputs.forEach((input, k) => input.addEventListener("change", () => {
    own[k ? "j" : "i"] = Math.min(Math.max(Math.round(Number(input.value)), 0), n - 1);
    note = "";
    choose();
  }));
  function showValues() {
    [C, gamma].forEach((value, k) => {
      sliders[k].value = Math.log10(value || 1);
      sliders[k].previousElementSibling.textContent = show(value || 0);
      sliders[k].setAttribute("aria-valuetext", show(value || 0)); // of the slider itself it is the logarithm
      sliders[k].parentElement.hidden = !value;
    });
    for (const value of ["turn", "-1", "1"]) mode.querySelector(`[value="${value}"]`).disabled = !plane.columns;
    if (mode.selectedOptions[0].disabled) mode.value = "pair";
  }
  sliders[0].addEventListener("input", () => {
    const before = C;
    C = 10 ** Number(sliders[0].value);
    showValues();
    play.stop();
    goOn(`C = ${show(C)}`, before);
  });
  sliders[1].addEventListener("input", () => {
    gamma = 10 ** Number(sliders[1].value);
    plane = new picture.Plane(plane.X, y, gamma, plane.range);
    examplesChanged();
    showValues();
    play.stop();
    goOn(`γ = ${show(gamma)}`);
  });
  // Moving an example keeps α, which stays feasible; K is computed anew, and G from it.
  function move(t, x) {
    if (!plane.columns) return;
    plane.place(t, x);
    examplesChanged();
    note = ` Moved, and α stays. ${told(t)}`;
    begin(state().alpha.slice());
  }
  function tap(t) {
    play.stop();
    const does = { turn, out: leaveOut }[mode.value];
    return guess || !does ? choosePair(t) : does(t);
  }
  const addsByTap = () => !guess && Number(mode.value) !== 0 && Number.isFinite(Number(mode.value));
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
    grab: play.stop, move, tap, adds: addsByTap, add: (x) => add(x, Number(mode.value)), chosen: () => chosen, choose: (t) => { chosen = t; if (t >= 0) note = ` ${told(t)}`; render(); },
  });

  root.steps = () => states; // for the tests
  root.second = () => second && second.states;
  root.problem = () => problem;
  use("given");
  root.examples = () => plane.X;
  root.address = address;
  begin();
  for (let taken = 0; taken < data.at && next; taken++) forward();
  if (data.at) tell("");
  picture.follow(name, root, restore);
});
