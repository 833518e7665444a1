// Seeds and left-out examples: where a run goes on after the problem has changed, and what decides the prediction of an
// example by a machine trained on all others. As refsvm/display/task.py, refsvm/core/seeders/top.py,
// refsvm/core/rounds/sufficiency.py and refsvm/core/stopping/midpoint.py, each operation in their order.
"use strict";

const rounds = (() => {
  if (typeof module === "object") globalThis.smo = require("./smo.js"); // Node.js, for the tests
  const { moved } = smo;
  const EPSILON = 2 ** -52, EXCESS = 1e-10;
  const clip = (value, low, high) => Math.min(Math.max(value, low), high);
  const total = (values) => values.reduce((sum, value) => sum + value, 0); // from left to right

  // The sum of NumPy: eight partial sums for each 128 numbers, and halves beyond.
  function pairwise(a, from = 0, n = a.length) {
    if (n < 8) {
      let sum = 0;
      for (let k = 0; k < n; k++) sum += a[from + k];
      return sum;
    }
    if (n > 128) {
      const half = Math.floor(n / 2) - Math.floor(n / 2) % 8;
      return pairwise(a, from, half) + pairwise(a, from + half, n - half);
    }
    const r = Array.from(a.slice(from, from + 8));
    let k = 8;
    for (; k < n - n % 8; k += 8) for (let m = 0; m < 8; m++) r[m] += a[from + k + m];
    let sum = ((r[0] + r[1]) + (r[2] + r[3])) + ((r[4] + r[5]) + (r[6] + r[7]));
    for (; k < n; k++) sum += a[from + k];
    return sum;
  }

  // The feasible point near α: clipped, then the missing sum is shared by room, first among what is inside the box.
  function feasible(p, alpha) {
    let point = alpha.map((a, t) => clip(a, p.lower[t], p.upper[t]));
    for (const onlyInside of [true, false]) {
      const missing = 0 - pairwise(point);
      if (Math.abs(missing) <= 4 * EPSILON * pairwise(point.map(Math.abs))) break;
      const room = point.map((a, t) => (onlyInside && (a === p.lower[t] || a === p.upper[t]) ? 0
        : missing > 0 ? p.upper[t] - a : a - p.lower[t]));
      const all = pairwise(room);
      if (!(all > 0)) continue;
      const share = Math.sign(missing) * Math.min(Math.abs(missing), all);
      point = point.map((a, t) => clip(a + share * (room[t] / all), p.lower[t], p.upper[t]));
    }
    return point;
  }

  // α of the problem `before` for the problem p: scaled as C, at a bound where it was at one; what is new begins at 0.
  function seed(p, alpha, before, C, old) {
    let present = Float64Array.from(alpha);
    if (C !== old) {
      present = present.map((a, t) => (a !== 0 && (a === before.lower[t] || a === before.upper[t])
        ? (a > 0 ? p.upper[t] : p.lower[t]) : a * (C / old)));
    }
    const all = new Float64Array(p.n);
    all.set(present);
    return feasible(p, all);
  }

  // The problem without example r: its box is empty.
  function without(p, r) {
    const [lower, upper] = [p.lower, p.upper].map((bound) => bound.map((value, t) => (t === r ? 0 : value)));
    return { ...p, lower, upper };
  }

  // Add equal shares of the missing sum to those that have room, again and again; return what is still missing.
  function spread(alpha, among, missing, { lower, upper }) {
    for (let k = 0; k <= among.length; k++) {
      const open = among.filter((t) => (missing > 0 ? alpha[t] < upper[t] : alpha[t] > lower[t]));
      if (missing === 0 || !open.length) break;
      const share = missing / open.length, before = open.map((t) => alpha[t]);
      open.forEach((t) => { alpha[t] = moved(alpha[t], share, lower[t], upper[t]); });
      missing = total([missing, ...open.map((t, m) => before[m] - alpha[t])]);
      if (!open.some((t) => alpha[t] === (share > 0 ? upper[t] : lower[t]))) break;
    }
    return missing;
  }

  function complete(alpha, p) {
    const every = Array.from(alpha.keys());
    spread(alpha, every.filter((t) => alpha[t] > p.lower[t] && alpha[t] < p.upper[t]), 0 - total(alpha), p);
    for (let k = 0; k < 2; k++) {
      const missing = 0 - total(alpha);
      if (Math.abs(missing) <= 4 * EPSILON * total(alpha.map(Math.abs))) break;
      spread(alpha, every, missing, p);
    }
    return alpha;
  }

  // TOP: the weight of r goes to the most similar example, then to the next.
  function top(p, alpha, r) {
    const left = without(p, r), after = alpha.map((a, t) => clip(a, left.lower[t], left.upper[t]));
    let weight = alpha[r] - after[r];
    const order = Array.from(p.K[r].keys()).sort((a, b) => p.K[r][b] - p.K[r][a] || a - b);
    for (const t of order) {
      if (weight === 0) break;
      const before = after[t];
      after[t] = moved(before, weight, left.lower[t], left.upper[t]);
      weight -= after[t] - before;
    }
    return complete(after, left);
  }

  const isFree = (p, s, t) => s.alpha[t] > p.lower[t] && s.alpha[t] < p.upper[t];

  // (U − α)(e)₊ + (α − L)(−e)₊ of all variables, if each e is off by an error: the duality gap at b, for e = G − b.
  function gapOf(alpha, excess, { lower, upper }, error) {
    return total(Array.from(alpha, (a, t) => (upper[t] - a) * Math.max(excess[t] + error[t], 0)
      + (a - lower[t]) * Math.max(error[t] - excess[t], 0)));
  }

  // What a check knows of a solved problem: its duality gap at b, and how far rounding may put each G.
  function known(p, s, b) {
    const largest = (values) => values.reduce((most, value) => Math.max(most, Math.abs(value)), 0);
    const share = p.n * 16 * EPSILON + EPSILON * s.iteration, term = largest(s.alpha) * Math.sqrt(largest(p.diagonal));
    const error = Array.from(p.diagonal, (k) => share * (largest(s.G) + term * Math.sqrt(k)));
    return { delta: gapOf(s.alpha, s.G.map((g) => g - b), p, error), error, most: Math.max(...error) };
  }

  // Each check: the sign of h(xᵣ) without r, 0 where it is not known, and the numbers that it compares.
  const checks = {
    "zero alpha"(p, s, r, b) {
      if (s.alpha[r] !== 0) return { sign: 0 };
      if (!s.alpha.some((_, t) => isFree(p, s, t)) && (r === s.top || r === s.bottom)) return { sign: 0 };
      const { delta, error } = known(p, s, b), rho = Math.sqrt(delta * (1 + EXCESS)), f = p.y[r] - s.G[r];
      const size = (t) => Math.sqrt(Math.max(p.diagonal[t], 0));
      const beyond = (t, room) => rho * size(t) + Math.max(rho - 0.5 * room * size(t), 0) ** 2 / room;
      const ends = (room, side) => Math.max(...Array.from(s.alpha.keys()).map((t) => (t === r || !(room(t) > 0) ? -Infinity
        : side * s.G[t] - beyond(t, room(t)) - error[t])));
      const low = ends((t) => p.upper[t] - s.alpha[t], 1), high = ends((t) => s.alpha[t] - p.lower[t], -1);
      const reach = Math.sqrt(delta) * size(r) * (1 + EXCESS) + error[r];
      const proved = (f + low > reach) - (-f + high > reach);
      return { sign: proved === (p.y[r] - s.G[r] + b >= 0 ? 1 : -1) ? proved : 0 };
    },
    "training error"(p, s, r, b) {
      const { delta, error } = known(p, s, b), margin = p.y[r] * (p.y[r] - s.G[r] + b);
      const limit = delta / (p.upper[r] - p.lower[r]);
      return { sign: margin < -(limit * (1 + EXCESS) + error[r]) ? -p.y[r] : 0, margin };
    },
    "xi-alpha bound"(p, s, r, b, gamma) {
      // R² bounds k(x, x) − k(x, x′): 1 of the Gaussian kernel
      const R2 = gamma ? 1 : Math.max(...p.diagonal) - Math.min(...p.K.map((row) => Math.min(...row)));
      const { delta, error, most } = known(p, s, b), weight = Math.abs(s.alpha[r]), half = 0.5 * R2 * weight ** 2;
      const free = Array.from(s.alpha.keys()).filter((t) => isFree(p, s, t));
      const slack = Math.max(0, 1 - p.y[r] * (p.y[r] - s.G[r] + b)), value = 2 * weight * R2 + slack;
      const loss = Math.max(...free.map((t) => Math.abs(s.G[t] - b) + error[t]));
      const reach = Math.sqrt(2 * R2) * (Math.sqrt(half) + Math.sqrt(half + delta + weight * loss));
      const end = s.G[p.y[r] > 0 ? s.bottom : s.top];
      const room = (t) => (p.y[r] > 0 ? p.upper[t] - s.alpha[t] : s.alpha[t] - p.lower[t]);
      const others = pairwise(s.alpha.map((_, t) => (isFree(p, s, t) ? room(t) : 0))) - (isFree(p, s, r) ? room(r) : 0);
      const holds = free.length && p.y[r] * (p.y[r] - s.G[r] + end) > reach * (1 + EXCESS) + 2 * most;
      return { sign: holds && others > weight * (1 + 1e-9) ? p.y[r] : 0, value };
    },
    ball(p, s, r, b) {
      if (s.alpha[r] === 0) return { sign: 0 };
      const { K, y } = p, left = without(p, r), off = 2 * known(p, s, b).most, alpha = top(p, s.alpha, r), G = s.G.slice();
      alpha.forEach((a, i) => { if (a !== s.alpha[i]) for (let t = 0; t < p.n; t++) G[t] -= (a - s.alpha[i]) * K[i][t]; });
      // ρ² = ¼‖w − w̃‖² + T(α̃, G − b)
      const moved = s.alpha.map((a, t) => a - alpha[t]);
      const apart = total(moved.map((a, t) => a * (G[t] - s.G[t]))) + 2 * off * total(moved.map(Math.abs));
      const square = 0.25 * apart + gapOf(alpha, s.G.map((g) => g - b), left, G.map(() => off));
      const t = G.map((g, i) => 0.5 * (s.G[i] + g)), here = y[r] - t[r];
      const sizes = p.diagonal.map((k) => k + p.diagonal[r]);
      const distance = sizes.map((size, i) => Math.sqrt(Math.max(size - 2 * K[r][i], 0) + 16 * EPSILON * size));
      const ball = { t: t.map((value) => value + here), distance, rho: Math.sqrt(square * (1 + EXCESS)), error: 2 * off, alpha };
      const { low, high } = interval(ball, left);
      return { sign: low > 0 ? 1 : high < 0 ? -1 : 0, radius: ball.rho, low, high };
    },
  };

  // low ≤ h(xᵣ) ≤ high for all machines of a ball: where the sum of losses turns, or what one variable proves.
  function interval({ t, distance, rho, error, alpha }, { lower, upper }) {
    const add = (values, when, bound) => total(values.map((value, i) => (when(value) ? bound[i] : 0)));
    const reach = distance.map((d) => rho * d + error), least = t.map((value, i) => value - reach[i]), most = t.map((value, i) => value + reach[i]);
    const above = (z) => add(least, (k) => k >= z, upper) > -add(least, (k) => k < z, lower) * (1 + EXCESS);
    const below = (z) => -add(most, (k) => k <= z, lower) > add(most, (k) => k > z, upper) * (1 + EXCESS);
    const among = (values) => Array.from(values).filter((_, i) => lower[i] < upper[i]);
    const over = (i, room) => Math.max(rho - 0.5 * room * distance[i], 0) ** 2 / room;
    const pins = (room, value) => Array.from(t.keys()).filter((i) => room(i) > 0).map((i) => value(i, over(i, room(i))));
    return {
      low: Math.max(...among(least).filter(above), ...pins((i) => upper[i] - alpha[i], (i, more) => least[i] - more)),
      high: Math.min(...among(most).filter(below), ...pins((i) => alpha[i] - lower[i], (i, more) => most[i] + more)),
    };
  }

  // Steps of some rules from α to ψ ≤ ε, at most so many.
  function run(p, alpha, selector, rule, tol, most = 5000) {
    let s = smo.start(p, alpha), next;
    while (s.iteration < most && (next = smo.choose(p, s, selector, rule, tol))) s = smo.step(p, s, next);
    return s;
  }

  // What decides example r of a solved problem, "alone", a check or "round", with the sign of h(xᵣ) and the machine without it.
  function leaveOut(p, s, r, gamma, selector, rule, tol) {
    if (p.y.filter((v) => v === p.y[r]).length === 1) return { by: "alone", sign: -p.y[r], state: null };
    const b = smo.intercept(s), left = without(p, r), state = run(left, top(p, s.alpha, r), selector, rule, tol);
    const value = p.y[r] - state.G[r] + smo.intercept(state);
    for (const [by, check] of Object.entries(checks)) {
      const found = check(p, s, r, b, gamma);
      if (found.sign) return { by, ...found, state, value };
    }
    return { ...checks.ball(p, s, r, b), by: "round", sign: value >= 0 ? 1 : -1, state, value, cold: run(left, undefined, selector, rule, tol).iteration };
  }

  return { pairwise, feasible, seed, without, top, run, leaveOut };
})();

if (typeof module === "object") module.exports = rounds; // Node.js, for the tests
