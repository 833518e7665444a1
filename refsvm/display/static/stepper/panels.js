// The pictures of one state, as SVG text with a caption. The page or the kernel computes the states.
//
// A state is { alpha, G, b, gap, y, lower, upper, tol, next }, with next null or
// { i, j, mu, slope, q, raw, low, high, kappa, along, planned, to: [αᵢ, αⱼ after it], K: [Kᵢᵢ, Kⱼⱼ, Kᵢⱼ] }, where
// a stepper of planning ahead adds plan: { k, l, mu, fits, gains, curvature, slope, base }, or null.
"use strict";

const panels = (() => {
  const { SIDE, scale, show, levelLine } = picture;
  const FEW = 300; // up to this number of variables, each bar is an SVG element

  // `named`: [[t, letter], …], the examples with a ring; `lines`: boundary and margins as SVG.
  function points(s, plane, lines, named) {
    const room = (t) => s.upper[t] - s.lower[t], part = (t) => (room(t) > 0 ? Math.abs(s.alpha[t]) / room(t) : 0);
    const isFree = (t) => s.alpha[t] !== 0 && Math.abs(s.alpha[t]) < room(t);
    const all = Array.from(s.y.keys()), free = all.filter(isFree);
    const marks = all.map((t) => plane.mark(t, part(t))).join(""), support = free.map((t) => plane.support(t)).join("");
    const rings = named.map(([t, letter]) => plane.ring(t, letter)).join("");
    const bounded = all.filter((t) => Math.abs(s.alpha[t]) === room(t)).length;
    return [`<rect class="frame" width="${SIDE}" height="${SIDE}"/>${lines}${marks}${support}${rings}`,
      `${s.labels === false ? "Examples, " : '<span class="negative">●</span> −1 <span class="positive">▲</span> +1, '}filled by |α|/C: ${free.length} free, in thin rings, ${bounded} at C.`];
  }

  // The box of (αᵢ, αⱼ) with the line of constant sum and level lines of f, and the parabola below it.
  function pair(s, hidden, why = "choose two different examples that can move") {
    if (!s.next) return ["", s.gap <= s.tol && !s.failure ? `No pair is left: ψ ≤ ${show(s.tol)}.` : `No step: ${why}.`];
    if (hidden) return ["", "Hidden until both examples are tapped, or Reveal is pressed."];
    const { i, j, mu, slope, q, raw, low, high, kappa, planned, to, K: [Kii, Kjj, Kij] } = s.next, { lower, upper } = s;
    const side = 150, left = (SIDE - side) / 2, top = 22;
    // draw an open side a little beyond the points
    const far = 1.3 * Math.max(...to.map(Math.abs), Math.abs(s.alpha[i]), Math.abs(s.alpha[j]), 1e-9);
    const drawn = (bound) => (Number.isFinite(bound) ? bound : Math.sign(bound) * far);
    const [west, east, south, north] = [lower[i], upper[i], lower[j], upper[j]].map(drawn);
    const x = scale([west, east], [left, left + side]), v = scale([south, north], [top + side, top]);
    const nodes = 31, values = new Float64Array(nodes * nodes);
    for (let r = 0; r < nodes; r++) {
      for (let c = 0; c < nodes; c++) { // the gain of f at (αᵢ + a, αⱼ + d)
        const a = west + (east - west) * c / (nodes - 1) - s.alpha[i];
        const d = south + (north - south) * r / (nodes - 1) - s.alpha[j];
        values[r * nodes + c] = s.G[i] * a + s.G[j] * d - 0.5 * (Kii * a * a + 2 * Kij * a * d + Kjj * d * d);
      }
    }
    const [least, most] = [Math.min(...values), Math.max(...values)];
    const levels = [0.5, 0.7, 0.84, 0.92, 0.97, 0.99].map((w) => least + w * (most - least));
    const contours = levels.map((level) => levelLine(values, nodes, level,
      scale([0, nodes - 1], [left, left + side]), scale([0, nodes - 1], [top + side, top]))).join("");
    const at = (m) => [x(s.alpha[i] + m), v(s.alpha[j] - m)];
    const ends = [low, high].map((end) => (Number.isFinite(end) ? end : 2 * Math.sign(end) * far));
    const [[x0, y0], [x1, y1], [xa, ya]] = [...ends, 0].map(at), [xb, yb] = [x(to[0]), v(to[1])];
    const text = (px, py, words, anchor = "middle") => `<text x="${px}" y="${py}" text-anchor="${anchor}">${words}</text>`;
    return [`<path class="level" d="${contours}"/>
      <rect class="box" x="${left}" y="${top}" width="${side}" height="${side}"/>
      <path class="feasible" d="M${x0} ${y0}L${x1} ${y1}"/><path class="taken" d="M${xa} ${ya}L${xb} ${yb}"/>
      <circle class="here" cx="${xa}" cy="${ya}" r="5"/><circle class="there" cx="${xb}" cy="${yb}" r="5"/>
      ${text(left, top + side + 14, show(lower[i]))}${text(left + side, top + side + 14, show(upper[i]))}
      ${text(left + side / 2, top + side + 14, `α<tspan class="small">${i}</tspan>`)}
      ${text(left - 6, top + side, show(lower[j]), "end")}${text(left - 6, top + 10, show(upper[j]), "end")}
      ${text(left - 6, top + side / 2, `α<tspan class="small">${j}</tspan>`, "end")}${parabola(s.next)}`,
      `α<sub>${i}</sub> rises and α<sub>${j}</sub> falls by μ = ${show(mu)}: ℓ = ${show(slope)}, q = ${show(raw)}, ℓ/q = ${show(slope / q)}.
       ${kappa ? `κ = ${show(kappa)} of the step before goes on, so other variables move too.`
        : planned ? "Planned with the pair before." : low < mu && mu < high ? "The step ends inside the box." : "The box cuts the step."}
       ${told(s.next)}`];
  }

  // A sentence about the plan, in a stepper of planning ahead.
  function told({ plan, planned }) {
    if (plan === undefined) return "";
    if (plan === null) return "No plan: the step before was cut or planned itself.";
    const { k, l, mu, fits } = plan, best = `Dashed: this step and the next on (${k}, ${l}), best at μ<sub>P</sub> = ${show(mu)}`;
    return `${best}${planned ? "." : fits ? ", not taken: both together lose." : ", not taken: it leaves the box."}`;
  }

  // The curve of a gain between two step lengths, and its part inside the box.
  function curve(g, [from, to], low, high) {
    const steps = 60, all = Array.from({ length: steps + 1 }, (_, k) => from + k / steps * (to - from));
    const inside = all.filter((m) => low <= m && m <= high);
    for (const end of [low, high]) if (from < end && end < to) inside.push(end);
    inside.sort((a, b) => a - b);
    const line = (list, x, v) => list.map((m, k) => `${k ? "L" : "M"}${x(m).toFixed(1)} ${v(g(m)).toFixed(1)}`).join("");
    return { values: all.map(g), all: (x, v) => line(all, x, v), inside: (x, v) => line(inside, x, v) };
  }

  // g(μ) = μℓ − ½qμ², grey outside the box; and, dashed, the gain of a planned step together with the next step.
  function parabola({ mu, slope, q, low, high, along, plan }) {
    const newton = slope / q, far = [mu, newton, plan ? plan.mu : 0];
    const span = [Math.min(0, ...far), Math.max(0, ...far)].map((end) => 1.9 * end), top = plan ? 222 : 205, bottom = SIDE - 22;
    const g = (m) => m * slope - 0.5 * along * m * m, one = curve(g, span, low, high);
    const g2 = (m) => plan.base + m * plan.slope - 0.5 * plan.curvature * m * m, both = plan ? curve(g2, span, low, high) : null;
    const values = [0, g(mu), ...one.values, ...(both ? both.values : [])], peak = Math.max(...values);
    const floor = Math.max(Math.min(...values), -2 * peak); // cut the lower part of a short parabola beside a long one
    if (!(peak > floor)) return "";
    const x = scale(span, [30, SIDE - 30]), v = (value) => scale([floor, peak], [bottom, top])(Math.max(value, floor));
    const planned = both ? `<path class="plan" d="${both.all(x, v)}"/><circle class="top" cx="${x(plan.mu)}" cy="${v(g2(plan.mu))}" r="4"/>
      <text x="${x(plan.mu)}" y="${v(g2(plan.mu)) - 8}" text-anchor="middle">μ<tspan class="small">P</tspan></text>` : "";
    return `<path class="outside" d="${one.all(x, v)}"/><path class="boundary" d="${one.inside(x, v)}"/>${planned}
      <path class="axis" d="M30 ${bottom}H${SIDE - 30}"/>
      <circle class="top" cx="${x(newton)}" cy="${v(g(newton))}" r="6"/><circle class="there" cx="${x(mu)}" cy="${v(g(mu))}" r="4"/>
      <text x="30" y="203">gain</text><text x="${SIDE - 30}" y="${SIDE - 6}" text-anchor="end">step length μ</text>
      <text x="${x(newton)}" y="${SIDE - 6}" text-anchor="middle">ℓ/q</text>`;
  }

  // The parabolas of two pairs with the same i, on the same axes, up to a little beyond their tops; see `smo.rivals`.
  function rivals(s, all, hidden) {
    if (hidden) return ["", "Hidden until both examples are tapped, or Reveal is pressed."];
    if (s.gap <= s.tol || !all.length) return ["", "No pair is left to compare."];
    const top = 34, bottom = SIDE - 30, g = (m, mu) => mu * m.slope - 0.5 * m.q * mu * mu;
    const ends = all.map((m) => 2 * m.slope / m.q), span = [0, 1.02 * Math.max(...ends)], peak = Math.max(...all.map((m) => m.gain));
    const x = scale(span, [34, SIDE - 14]), v = scale([0, 1.12 * peak], [bottom, top]);
    const curves = all.map((m, k) => {
      const { all: whole, inside } = curve((mu) => g(m, mu), [0, ends[k]], 0, m.high), px = x(m.slope / m.q), py = v(m.gain);
      const right = all.some((each) => each !== m && each.slope / each.q < m.slope / m.q) && px < SIDE - 80;
      const anchor = right || px < 80 ? "start" : "end", text = px + (anchor === "end" ? -7 : 7);
      return `<path class="outside" d="${whole(x, v)}"/><path class="boundary${k ? " rival" : ""}" d="${inside(x, v)}"/>
        <circle class="top" cx="${px}" cy="${py}" r="4"/><text class="over" x="${text}" y="${py - 6}" text-anchor="${anchor}">(${m.i}, ${m.j})</text>`;
    }).join("");
    const words = (m, k) => `${k ? "Dotted" : "Solid"}, (${m.i}, ${m.j}): ℓ = ${show(m.slope)}, q = ${show(m.q)}, ½ℓ²/q = ${show(m.gain)}.`;
    const steep = all.findIndex((m) => m.j === s.bottom);
    return [`<path class="axis" d="M34 ${top}V${bottom}H${SIDE - 14}"/>${curves}<text x="34" y="18">gain</text>
      <text x="${SIDE - 14}" y="${SIDE - 10}" text-anchor="end">step length μ</text>`,
    `${all.map(words).join(" ")} ${all.length < 2 ? "" : steep === 0
      ? "The steepest pair has the largest ½ℓ²/q here; dotted is the next best." : "The steepest pair has the shorter parabola here."}`];
  }

  // f (rising) and F (falling) against steps, and below them F − f and ψ; each entry is [steps, f, F, ψ].
  // `others`: entries [steps, ψ] of a second run.
  function closing(all, tol, others) {
    const [, f, F, gap] = all[all.length - 1], least = Math.min(...all.map((each) => each[2])), half = 150;
    const low = Math.min(0, ...all.map((each) => each[1])), reach = Math.max(Number.isFinite(least) ? least : 0, f, 1e-9);
    const top = Math.max(1.6 * reach, 1e-9), lastOf = (list) => (list ? list[list.length - 1][0] : 0), last = Math.max(lastOf(all), lastOf(others));
    const x = scale([0, Math.max(20, last)], [44, SIDE - 12]), clip = (value, from, to) => Math.min(Math.max(value, from), to);
    const v = (value) => scale([low, top], [half, 14])(clip(value, low, top));
    const finite = all.filter((each) => Number.isFinite(each[2])); // F is infinite if a variable with an open box has a loss
    const apart = finite.map((each) => each[2] - each[1]);
    const smallest = Math.log10(tol) - 0.4, largest = Math.log10(Math.max(10, ...apart));
    const w = (value) => scale([smallest, largest], [SIDE - 22, half + 22])(Math.log10(clip(value, 10 ** smallest, Math.max(10 ** largest, ...apart))));
    const line = (of, list = all) => list.map((each, k) => `${k ? "L" : "M"}${x(each[0]).toFixed(1)} ${of(each).toFixed(1)}`).join("");
    const beside = others ? `<path class="rival boundary" d="${others.map(([k, psi], at) => `${at ? "L" : "M"}${x(k).toFixed(1)} ${w(psi).toFixed(1)}`).join("")}"/>` : "";
    const name = (y, text) => `<text x="40" y="${y}" text-anchor="end">${text}</text>`;
    return [`<path class="axis" d="M44 14V${half}H${SIDE - 12}M44 ${half + 22}V${SIDE - 22}H${SIDE - 12}"/>
      <path class="boundary" d="${line((each) => v(each[1]))}"/><path class="plan" d="${line((each) => v(each[2]), finite)}"/>
      <path class="tolerance" d="M44 ${w(tol)}H${SIDE - 12}"/><path class="boundary" d="${line((each) => w(each[2] - each[1]), finite)}"/>
      <path class="plan" d="${line((each) => w(each[3]))}"/>${beside}${name(20, reach > 1e-9 ? show(top, 2) : "0")}${name(half, low < 0 ? show(low, 2) : "0")}${name(w(1) + 4, "1")}${name(w(tol) + 4, "ε")}
      <text x="${SIDE - 12}" y="${SIDE - 6}" text-anchor="end">steps: ${last}</text>`,
    `Above: f = ${show(f, 5)}, solid, and F = ${show(F, 5)}, dashed. The optimum lies between.
       Below: F − f = ${show(F - f)}, solid; ψ = ${show(gap)}, dashed${others ? "; ψ of the second run, dotted" : ""}.`];
  }

  // Bars from b to Gᵢ: at the optimum the bar of an α that may rise lies below b, of one that may fall above b.
  function gradient(s, reach, hidden) {
    const { b, y, lower, upper } = s, bottom = SIDE - 20, width = (SIDE - 50) / 2 / y.length, v = scale([-reach, reach], [bottom, 34]);
    const bar = (t, begin, wrong) => {
      const from = v(0), to = v(s.G[t] - b);
      return `<rect class="${y[t] < 0 ? "negative" : "positive"}${wrong ? " wrong" : ""}" x="${begin + at.get(t) * width}" y="${Math.min(from, to)}"
        width="${width * 0.8}" height="${Math.abs(to - from)}"/>`;
    };
    // if there are labels, order the bars by class, so that colour is not the only sign of the class
    const at = new Map(Array.from(y.keys()).sort((a, c) => (s.labels === false ? 0 : y[a] - y[c]) || a - c).map((t, place) => [t, place]));
    const lows = y.reduce((count, v) => count + (v < 0), 0), centre = [lows / 2, (lows + y.length) / 2];
    const classes = s.labels === false ? [] : [15, SIDE / 2 + 10].flatMap((begin) => ["−1", "+1"].map((name, k) =>
      `<text x="${begin + centre[k] * width}" y="${bottom + 12}" text-anchor="middle">${name}</text>`));
    let bars = "";
    const few = y.length <= FEW, paths = new Map(); // many bars share one path for each style
    const line = (t, begin, wrong) => {
      const look = `${y[t] < 0 ? "negative" : "positive"}${wrong ? " wrong" : ""}`;
      paths.set(look, `${paths.get(look) ?? ""}M${(begin + (at.get(t) + 0.4) * width).toFixed(2)} ${v(0).toFixed(1)}V${v(s.G[t] - b).toFixed(1)}`);
      return "";
    };
    const one = few ? bar : line;
    y.forEach((_, t) => {
      if (s.alpha[t] < upper[t]) bars += one(t, 15, s.G[t] > b);
      if (s.alpha[t] > lower[t]) bars += one(t, SIDE / 2 + 10, s.G[t] < b);
    });
    paths.forEach((d, look) => { bars += `<path class="bars ${look}" d="${d}"/>`; });
    const half = s.gap / 2;
    const letters = s.next && !hidden ? [["i", s.next.i, 15], ["j", s.next.j, SIDE / 2 + 10]].map(([letter, t, begin]) =>
      `<text x="${begin + (at.get(t) + 0.4) * width}" y="${v(s.G[t] - b) + (s.G[t] > b ? -3 : 12)}" text-anchor="middle">${letter}</text>`) : [];
    return [`<rect class="gap" x="8" y="${v(half)}" width="${SIDE - 16}" height="${Math.max(0, v(-half) - v(half))}"/>${bars}${classes.join("")}
      <path class="axis" d="M8 ${v(0)}H${SIDE - 8}"/><text x="${SIDE / 2}" y="${v(0) - 3}" text-anchor="middle">b</text>${letters.join("")}
      <text x="15" y="14">may rise</text><text x="${SIDE / 2 + 10}" y="14">may fall</text>`,
      `ψ = ${show(s.gap)}, the height of the band. At the optimum, bars of α that may rise end below b, and bars of α that may fall above b.
       b = ${show(b)}.`];
  }

  // h of a left-out example, on an axis around 0: a bar for its proved range, and a dot for its value if a machine was
  // trained without the example. `left`: { r, by, sign, low, high, margin, value }, see `rounds.leaveOut`; y: its label
  function leftOut({ r, by, sign, low, high, margin, value }, y, height = 96) {
    if (by === "alone") return ["", `Example ${r} is alone in its class: no machine is trained without it.`];
    const half = { "training error": y > 0 ? [-Infinity, margin] : [-margin, Infinity],
      "xi-alpha bound": y > 0 ? [0, Infinity] : [-Infinity, 0], ball: [low, high] }[by];
    const [from, to] = half || (by === "round" && low <= high ? [low, high] : [value, value]);
    const near = Math.max(1, Math.abs(value)), ends = [from, to].map((end) => Math.min(Math.abs(end), 4 * near));
    const reach = 1.15 * Math.max(near, ...ends.filter((_, k) => Number.isFinite([from, to][k]))), middle = 44;
    const inside = (h) => Math.min(Math.max(h, -reach), reach), x = (h) => scale([-reach, reach], [14, SIDE - 14])(inside(h));
    const text = (px, py, words, anchor = "middle") => `<text x="${px}" y="${py}" text-anchor="${anchor}">${words}</text>`;
    const caps = [from, to].filter((end) => Math.abs(end) < reach).map((end) => `M${x(end)} ${middle - 11}v22`).join("");
    const bar = from < to ? `<rect class="proved" x="${x(from)}" y="${middle - 7}" width="${x(to) - x(from)}" height="14"/><path class="boundary" d="${caps}"/>` : "";
    const marks = [-1, 1].map((h) => `<path class="axis" d="M${x(h)} ${middle - 4}v8"/>${text(x(h), middle + 28, show(h))}`).join("");
    const told = `${sign < 0 ? "below" : "above"} 0, so it is predicted ${sign < 0 ? "−1" : "+1"}`, dot = "Dot: h of the machine trained without it";
    const words = {
      "zero alpha": `Without example ${r} h stays ${show(value)}, the dot: ${told}.`,
      "training error": `Bar: without example ${r} its h is ${y > 0 ? `at most ${show(margin)}` : `at least ${show(-margin)}`}, ${told}. ${dot}, ${show(value)}.`,
      "xi-alpha bound": `Bar: without example ${r} its h is ${told}. ${dot}, ${show(value)}.`,
      ball: `Bar: the ball leaves h of example ${r} from ${show(low)} to ${show(high)}, all of it ${told}. ${dot}, ${show(value)}.`,
      round: `${low <= high ? `Bar: the ball leaves h of example ${r} from ${show(low)} to ${show(high)}, on both sides of 0` : "No check says more"}. So a machine is trained; its h, the dot, is ${show(value)}, ${told}.`,
    };
    return [`<path class="axis" d="M14 ${middle}H${SIDE - 14}"/>${marks}${bar}<path class="boundary" d="M${x(0)} ${middle - 18}v36"/>
      ${text(x(0), middle + 32, "0")}${text(14, 16, "−1 is predicted", "start")}${text(SIDE - 14, 16, "+1 is predicted", "end")}
      <circle class="there dot" cx="${x(value)}" cy="${middle}" r="4.5"/>${text(SIDE - 14, height - 6, "h", "end")}`, words[by]];
  }

  // ψ against steps for one or several solves, each a list of [steps, ψ]; drawn from `top` to the lower edge.
  function history(all, tol, top, width = SIDE, height = SIDE) {
    const bottom = height - 20, most = Math.max(...all.map((gaps) => gaps[gaps.length - 1][0]));
    const x = scale([0, Math.max(20, most)], [40, width - 10]), v = scale([Math.log10(tol) - 0.4, 1], [bottom, top]);
    const line = (gaps) => Array.from(gaps, ([k, gap], at) => `${at ? "L" : "M"}${x(k).toFixed(1)} ${v(Math.log10(Math.max(gap, tol / 2))).toFixed(1)}`).join("");
    return `<path class="axis" d="M40 ${top}V${bottom}H${width - 10}"/><path class="tolerance" d="M40 ${v(Math.log10(tol))}H${width - 10}"/>
      ${all.map((gaps, k) => `<path class="boundary run-${k}" d="${line(gaps)}"/>`).join("")}<text x="36" y="${v(0) + 4}" text-anchor="end">1</text>
      <text x="36" y="${v(Math.log10(tol)) + 4}" text-anchor="end">ε</text><text x="36" y="${top + 2}" text-anchor="end">ψ</text>
      <text x="${width - 10}" y="${height - 5}" text-anchor="end">steps: ${most}</text>`;
  }

  return { points, pair, rivals, closing, gradient, leftOut, history };
})();
