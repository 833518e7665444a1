// SMO, one step at a time: `steps` of refsvm/core/solver/loop.py with its rules, in JavaScript.
//
//     maximise  f(α) = yᵀα − ½ αᵀKα   subject to   1ᵀα = 0,  L ≤ α ≤ U
//
// A state is never changed; `step` returns a new one, so that going back is taking an earlier one. Each operation
// stands in the order of the Python files. That makes every pair, μ and α on the same K equal, to the last bit.
"use strict";

const smo = (() => {
  const TAU = 1e-12; // curvature used where q ≤ 0
  const PLANNED_RANGE = 0.9; // η of Algorithm 3 of the planning-ahead paper
  const CORNER = 1e-8; // η of the hybrid rule
  const CONJUGATE = 1e-10, LEAST = 1e-3; // least curvatures of the conjugate direction, when it steps and when it is chosen
  const MAX_SUPPORT = 80; // variables that a conjugate step moves at most
  const SNAP = 2e-15; // how near to its bound a variable of such a step is at it

  // K: rows of a symmetric matrix; y: ±1; C > 0.
  function problem(K, y, C) {
    return {
      K, y, n: y.length,
      lower: y.map((v) => Math.min(0, v * C)),
      upper: y.map((v) => Math.max(0, v * C)),
      diagonal: K.map((row, i) => row[i]),
    };
  }

  // The state at a feasible α, by default 0; G = y − Kα.
  function start(p, alpha = new Float64Array(p.n)) {
    const product = new Float64Array(p.n); // Kα, one row after another
    for (let i = 0; i < p.n; i++) if (alpha[i]) for (let t = 0; t < p.n; t++) product[t] += alpha[i] * p.K[i][t];
    const G = Float64Array.from(p.y, (v, t) => v - product[t]);
    let objective = 0; // f = ½ αᵀ(y + G)
    for (let t = 0; t < p.n; t++) objective += 0.5 * alpha[t] * (p.y[t] + G[t]);
    return { alpha, G, objective, iteration: 0, sets: [], candidates: [], lastFree: false, lastPlanned: false,
      delta: null, image: null, carriedSlope: 0, carriedCurvature: 0, ...mostViolatingPair(p, alpha, G) };
  }

  // top = argmax of G over I_up, bottom = argmin of G over I_down, ψ = G[top] − G[bottom]; lowest index on ties.
  function mostViolatingPair(p, alpha, G) {
    let top = -1, bottom = -1, highest = -Infinity, lowest = Infinity;
    for (let t = 0; t < p.n; t++) {
      if (alpha[t] < p.upper[t] && G[t] > highest) { highest = G[t]; top = t; }
      if (alpha[t] > p.lower[t] && G[t] < lowest) { lowest = G[t]; bottom = t; }
    }
    return { top, bottom, gap: highest - lowest };
  }

  // b = ½ (max over I_up of G + min over I_down of G)
  const intercept = (s) => (s.G[s.top] + s.G[s.bottom]) / 2;

  // q = Kᵢᵢ + Kⱼⱼ − 2Kᵢⱼ
  const curvature = (p, i, j) => p.diagonal[i] + p.diagonal[j] - 2 * p.K[i][j];
  const positive = (q) => (q > 0 ? q : TAU);

  // Twice the gain of the clipped step μ* = min(ℓ/q, room):  2g = μ*(2ℓ − μ*q)
  function exactGain(slope, q, room) {
    if (!(slope > 0 && room > 0)) return -Infinity;
    const mu = Math.min(slope / q, room);
    return mu * (2 * slope - mu * q);
  }

  // --- selectors: (problem, state) → [i, j], or [-1, -1] ---

  function mvp(p, s) {
    return s.gap <= 0 ? [-1, -1] : [s.top, s.bottom];
  }

  // i = argmax of G over I_up,  j = argmax of ½(Gᵢ − Gⱼ)²/q over j in I_down with Gⱼ < Gᵢ
  function secondOrder(p, s) {
    if (s.gap <= 0) return [-1, -1];
    const exact = s.lastPlanned && Math.abs(s.lastStep / s.lastNewton - 1) > PLANNED_RANGE;
    let i = s.top, j = 0, best = -Infinity;
    for (let t = 0; t < p.n; t++) {
      const slope = s.G[i] - s.G[t];
      if (!(s.alpha[t] > p.lower[t] && slope > 0)) continue;
      const q = positive(curvature(p, i, t));
      const room = Math.min(p.upper[i] - s.alpha[i], s.alpha[t] - p.lower[t]);
      const gain = exact ? exactGain(slope, q, room) : slope * slope / q;
      if (gain > best) { best = gain; j = t; }
    }
    for (let [k, m, q] of s.candidates) { // left by a planned step
      if (s.G[k] < s.G[m]) [k, m] = [m, k];
      const slope = s.G[k] - s.G[m], room = Math.min(p.upper[k] - s.alpha[k], s.alpha[m] - p.lower[m]);
      if (!(slope > 0 && room > 0)) continue;
      const gain = exact ? exactGain(slope, q, room) : slope * slope / q;
      if (gain > best) { best = gain; i = k; j = m; }
    }
    return [i, j];
  }

  // The largest exact gain over all pairs {b, t} with b in the previous working set
  function reselection(p, s) {
    let i = -1, j = -1, best = 0;
    for (const b of s.sets[0].slice(0, 2)) {
      for (let t = 0; t < p.n; t++) {
        const slope = s.G[b] - s.G[t], rises = slope > 0;
        const [up, down] = rises ? [b, t] : [t, b];
        const room = Math.min(p.upper[up] - s.alpha[up], s.alpha[down] - p.lower[down]);
        const gain = exactGain(Math.abs(slope), positive(curvature(p, b, t)), room);
        if (gain > best) { best = gain; i = up; j = down; }
      }
    }
    return [i, j];
  }

  function maximumGain(p, s) {
    return s.sets.length ? reselection(p, s) : mvp(p, s);
  }

  // The most violating pair where both variables of the previous set stand at a bound
  function hybrid(p, s) {
    if (s.gap <= 0) return [-1, -1];
    const free = (b) => {
      const margin = CORNER * (p.upper[b] - p.lower[b]);
      return s.alpha[b] > p.lower[b] + margin && s.alpha[b] < p.upper[b] - margin;
    };
    if (s.sets.length && s.sets[0].slice(0, 2).some(free)) {
      const pair = reselection(p, s);
      if (pair[0] >= 0) return pair;
    }
    return [s.top, s.bottom];
  }

  // Whether a conjugate step would go on along the last displacement Δ, of which K Δ is kept.
  const goesOn = (s) => s.image !== null && s.lastFree && s.carriedCurvature > 0;

  // i = argmax of G over I_up,  j = argmax of ½(Gᵢ − Gⱼ)²/(q − βⱼ²/q_Δ),  βⱼ = (KΔ)ᵢ − (KΔ)ⱼ
  function conjugateSecondOrder(p, s) {
    if (s.gap <= 0) return [-1, -1];
    const i = s.top, scale = 1 / s.carriedCurvature;
    let j = 0, best = -Infinity;
    for (let t = 0; t < p.n; t++) {
      const slope = s.G[i] - s.G[t];
      if (!(s.alpha[t] > p.lower[t] && slope > 0)) continue;
      let q = positive(curvature(p, i, t));
      if (goesOn(s)) {
        const beta = s.image[i] - s.image[t];
        q = Math.max(q - beta * beta * scale, LEAST * q);
      }
      const gain = slope * slope / q;
      if (gain > best) { best = gain; j = t; }
    }
    return [i, j];
  }

  // --- steps: (problem, state, measured pair) → μ ---

  // The parabola of the pair, g(μ) = μℓ − ½qμ², and the box seen along it, lo ≤ μ ≤ hi.
  function measure(p, s, i, j) {
    const raw = curvature(p, i, j);
    return {
      i, j, raw, q: positive(raw), slope: s.G[i] - s.G[j],
      low: Math.max(p.lower[i] - s.alpha[i], s.alpha[j] - p.upper[j]),
      high: Math.min(p.upper[i] - s.alpha[i], s.alpha[j] - p.lower[j]),
      candidates: [],
    };
  }

  // F(α, b) = ½ αᵀKα + C Σ max(0, yₜ(Gₜ − b)): what the machine costs, with b in the middle.
  function primal(p, s) {
    const b = intercept(s);
    return s.alpha.reduce((sum, a, t) => sum + 0.5 * a * (p.y[t] - s.G[t])
      + Math.max(p.upper[t] * (s.G[t] - b), p.lower[t] * (s.G[t] - b)), 0);
  }

  // Two pairs from i = top: that of the steepest slope, and that of the largest ½ℓ²/q. Where they are one, the next best.
  function rivals(p, s) {
    if (s.gap <= 0) return [];
    const i = s.top, found = [];
    for (let t = 0; t < p.n; t++) {
      if (!(s.alpha[t] > p.lower[t] && s.G[i] - s.G[t] > 0)) continue;
      const m = measure(p, s, i, t);
      found.push({ ...m, gain: 0.5 * m.slope * m.slope / m.q });
    }
    found.sort((a, b) => b.gain - a.gain || a.j - b.j);
    const steep = found.find((m) => m.j === s.bottom);
    return steep === found[0] ? found.slice(0, 2) : [found[0], steep];
  }

  // Why αᵢ cannot rise while αⱼ falls, null if it can: f rises along eᵢ − eⱼ while ℓ > 0, as far as the box leaves room.
  // "level": |ℓ| ≤ ε. "backwards": it can with i and j swapped. "blocked": neither way, `full` at U or `empty` at L, or both.
  function refusal(p, s, i, j, tol = 0) {
    if (i === j) return { why: "same" };
    const { slope, low, high } = measure(p, s, i, j);
    if (Math.abs(slope) <= tol) return { why: "level" };
    const [up, down, room] = slope > 0 ? [i, j, high] : [j, i, -low];
    const full = s.alpha[up] >= p.upper[up], empty = s.alpha[down] <= p.lower[down];
    if (!(room > 0)) return { why: "blocked", up, down, full, empty };
    return slope > 0 ? null : { why: "backwards" };
  }

  // μ = clip(ℓ/q, lo, hi)
  const newton = (p, s, m) => Math.min(Math.max(m.slope / m.q, m.low), m.high);
  const overrelaxed = (factor) => (p, s, m) => Math.min(Math.max(factor * (m.slope / m.q), m.low), m.high);

  // The plan of this step and one on the previous set (k, l): both have to end inside the box, and to gain together.
  //     g₂(μ) = −½ (det/Q₂₂) μ² + ((Q₂₂w₁ − Q₁₂w₂)/Q₂₂) μ + ½ w₂²/Q₂₂
  // null if the last step was cut or planned, or if the two directions are one.
  function plan(p, s, m) {
    if (!s.lastFree || s.lastPlanned) return null;
    const [k, l, Q22] = s.sets[0], Q11 = m.q, { i, j } = m, { K } = p;
    if (Q11 <= TAU || Q22 <= TAU) return null;
    const w1 = m.slope, w2 = s.G[k] - s.G[l];
    const Q12 = K[i][k] - K[i][l] - K[j][k] + K[j][l], det = Q11 * Q22 - Q12 * Q12;
    if (det <= 1e-10 * (Q11 * Q22)) return null;
    // μ_P = (Q₂₂w₁ − Q₁₂w₂)/det,  μ₂ = (w₂ − Q₁₂μ_P)/Q₂₂
    const mu = (Q22 * w1 - Q12 * w2) / det, rest = w2 - Q12 * mu, second = rest / Q22;
    const after = (t) => s.alpha[t] + (t === i ? mu : 0) - (t === j ? mu : 0);
    const low = Math.max(p.lower[k] - after(k), after(l) - p.upper[l]);
    const high = Math.min(p.upper[k] - after(k), after(l) - p.lower[l]);
    const fits = m.low < mu && mu < m.high && low < second && second < high;
    return { k, l, mu, second, fits, gains: mu * (2 * w1 - mu * Q11) + rest * second >= 0,
      curvature: det / Q22, slope: (Q22 * w1 - Q12 * w2) / Q22, base: 0.5 * w2 * w2 / Q22 };
  }

  function planningAhead(p, s, m) {
    const planned = plan(p, s, m);
    if (!planned || !planned.fits || !planned.gains) return newton(p, s, m);
    m.candidates = [s.sets[0]];
    return planned.mu;
  }

  // Along the direction of the pair made conjugate to Δ: μ, and κ = −μβ/q_Δ of Δ, up to the box.
  function conjugate(p, s, m) {
    m.momentum = true;
    m.kappa = 0;
    if (goesOn(s)) {
      const beta = s.image[m.i] - s.image[m.j], sigma = -beta / s.carriedCurvature, q = m.q + sigma * beta;
      if (q > CONJUGATE * m.q) {
        const [mu, kappa] = inside(p, s, m, sigma, m.slope / q);
        if (mu > 0) { m.kappa = kappa; return mu; }
      }
    }
    return newton(p, s, m);
  }

  // (μ, σμ), or less where a variable of eᵢ − eⱼ + σΔ meets its bound
  function inside(p, s, m, sigma, mu) {
    const direction = s.delta.map((d) => sigma * d), { i, j } = m;
    direction[i] += 1;
    direction[j] -= 1;
    let ofPair = mu, ofOthers = Infinity, fits = true, support = 0;
    direction.forEach((d, t) => {
      if (d === 0) return;
      support++;
      const after = s.alpha[t] + mu * d;
      if (!(p.lower[t] <= after && after <= p.upper[t])) fits = false;
      const room = ((d > 0 ? p.upper[t] : p.lower[t]) - s.alpha[t]) / d;
      if (t === i || t === j) ofPair = Math.min(ofPair, room);
      else ofOthers = Math.min(ofOthers, room);
    });
    if (support > MAX_SUPPORT) return [0, 0];
    if (fits) return [mu, mu * sigma];
    if (ofPair <= ofOthers) return [ofPair, ofPair * sigma];
    // Δ is cut, the pair goes on to its maximum or to its own bounds: μ = (ℓ − κβ)/q
    const kappa = ofOthers * sigma, slope = m.slope - kappa * (s.image[i] - s.image[j]);
    const rise = p.upper[i] - (s.alpha[i] + kappa * s.delta[i]), fall = s.alpha[j] + kappa * s.delta[j] - p.lower[j];
    return [Math.max(ofOthers, Math.min(slope / m.q, Math.min(rise, fall))), kappa];
  }

  // --- the loop ---

  // The step that the rules choose: the measured pair with μ; null if ψ ≤ ε or no pair is left.
  function choose(p, s, selector, rule, tol) {
    if (s.gap <= tol) return null;
    const [i, j] = selector(p, s);
    if (Math.min(i, j) < 0) return null;
    const m = measure(p, s, i, j);
    m.mu = rule(p, s, m);
    return m;
  }

  // A variable that reaches its bound is set to it exactly.
  function moved(value, change, lower, upper) {
    if (change >= upper - value) return upper;
    if (change <= lower - value) return lower;
    return Math.min(Math.max(value + change, lower), upper);
  }

  // α += μ(eᵢ − eⱼ) + κΔ, G −= μ(K[i] − K[j]) + κKΔ: the state after a step that keeps its displacement.
  function carry(p, s, m) {
    const { i, j, mu, kappa } = m, alpha = s.alpha.slice(), G = s.G.slice();
    let delta = s.delta ? s.delta.map((d) => d * kappa) : new Float64Array(p.n);
    const before = s.image || new Float64Array(p.n), beta = before[i] - before[j];
    const q = mu * mu * m.raw + 2 * mu * kappa * beta + kappa * kappa * s.carriedCurvature;
    const slope = mu * m.slope + kappa * s.carriedSlope;
    delta[i] += mu;
    delta[j] -= mu;
    let image = before.map((value, t) => mu * (p.K[i][t] - p.K[j][t]) + kappa * value), cut = false;
    delta.forEach((change, t) => {
      if (change === 0) return;
      const rounding = kappa ? SNAP * (Math.abs(alpha[t]) + Math.abs(mu)) : 0, lower = p.lower[t], upper = p.upper[t];
      let after = Math.min(Math.max(alpha[t] + change, lower), upper);
      if (change < 0 && change <= lower - alpha[t] + rounding) after = lower;
      if (change > 0 && change >= upper - alpha[t] - rounding) after = upper;
      alpha[t] = after;
      cut = cut || after === lower || after === upper;
    });
    for (let t = 0; t < p.n; t++) G[t] -= image[t];
    const free = [i, j].every((t) => p.lower[t] < alpha[t] && alpha[t] < p.upper[t]);
    let carried = { carriedSlope: slope - q, carriedCurvature: q };
    if (kappa && free && cut) { // what was carried can move no further, the pair can
      delta = delta.map((_, t) => (t === i ? mu : t === j ? -mu : 0));
      image = image.map((_, t) => mu * (p.K[i][t] - p.K[j][t]));
      carried = { carriedSlope: mu * (m.slope - kappa * beta - mu * m.raw), carriedCurvature: mu * mu * m.raw };
    }
    return { alpha, G, delta, image, ...carried, objective: s.objective + (slope - 0.5 * q),
      lastFree: kappa ? free : m.low < mu && mu < m.high };
  }

  // αᵢ += μ, αⱼ −= μ, G −= μ(K[i] − K[j]): the state after the chosen step.
  function step(p, s, m) {
    if (m.momentum) {
      const after = carry(p, s, m);
      return { ...after, iteration: s.iteration + 1, ...mostViolatingPair(p, after.alpha, after.G),
        sets: [[m.i, m.j, m.q], ...s.sets].slice(0, 2), candidates: [], lastStep: m.mu, lastNewton: m.slope / m.q,
        lastPlanned: false };
    }
    const { i, j, mu } = m, alpha = s.alpha.slice(), G = s.G.slice();
    alpha[i] = moved(alpha[i], mu, p.lower[i], p.upper[i]);
    alpha[j] = moved(alpha[j], -mu, p.lower[j], p.upper[j]);
    for (let t = 0; t < p.n; t++) G[t] -= mu * (p.K[i][t] - p.K[j][t]);
    return {
      alpha, G, iteration: s.iteration + 1, ...mostViolatingPair(p, alpha, G),
      objective: s.objective + (mu * m.slope - 0.5 * mu * mu * m.raw),
      sets: [[i, j, m.q], ...s.sets].slice(0, 2), candidates: m.candidates,
      lastStep: mu, lastNewton: m.slope / m.q,
      lastFree: m.low < mu && mu < m.high, lastPlanned: m.candidates.length > 0,
      delta: null, image: null, carriedSlope: 0, carriedCurvature: 0,
    };
  }

  return {
    problem, start, measure, moved, refusal, plan, primal, rivals, choose, step, intercept, overrelaxed, TAU,
    selectors: { mvp, "second-order": secondOrder, "maximum-gain": maximumGain, hybrid, conjugate: conjugateSecondOrder },
    steps: { newton, overrelaxed: overrelaxed(1.1), "planning-ahead": planningAhead, conjugate },
  };
})();

if (typeof module === "object") module.exports = smo; // Node.js, for the tests
