// The path stepper: the optimum for every C of a range, from the breakpoints of `regularization_path`.
//
// Between two breakpoints ŝ = α/C and b̂ = b/C are linear in λ = 1/C; so what is shown is exact for every C.
"use strict";

const path = (() => {
  // ŝ at every breakpoint, from the changes: rows of length n.
  function unpack(data) {
    const s = new Array(data.n).fill(0);
    return data.breakpoints.map((_, k) => {
      for (let c = data.start[k]; c < data.start[k + 1]; c++) s[data.changed[c]] = data.values[c];
      return s.slice();
    });
  }

  // α, b, the segment k and the sets at C: −1 right of the margin, 0 on the elbow, 1 left of it.
  function at(data, corners, C) {
    const { breakpoints, intercepts, y } = data, last = breakpoints.length - 1;
    let k = 0;
    while (k < last - 1 && breakpoints[k + 1] <= C) k++;
    const here = 1 / breakpoints[k], there = 1 / breakpoints[k + 1];
    const mu = there !== here ? (1 / C - here) / (there - here) : 0;
    const between = (a, b) => (mu === 0 || a === b ? a : (1 - mu) * a + mu * b);
    const part = corners[k].map((s, t) => Math.min(Math.max(between(s, corners[k + 1][t]) / y[t], 0), 1));
    const b = C * ((1 - mu) * intercepts[k] + (mu ? mu * intercepts[k + 1] : 0));
    const sets = part.map((p, t) => {
      const p0 = corners[k][t] / y[t], p1 = corners[k + 1][t] / y[t];
      return p0 === p1 && p0 === 0 ? -1 : p0 === p1 && p0 === 1 ? 1 : 0;
    });
    return { k, alpha: part.map((p, t) => C * y[t] * p), part, b, sets };
  }

  return { unpack, at };
})();

if (typeof module === "object") module.exports = path; // Node.js, for the tests
else picture.each("path-stepper", (root) => {
  const { SIDE, scale, show, triangle } = picture;
  const { data, buttons, controls, say, hush, draw } = picture.open(root, [
    ["points", "Examples, boundary, margins"],
    ["shares", "α/C of every example"],
    ["margins", "y h(x) of every example"],
  ]);
  const { n, y, breakpoints } = data, corners = path.unpack(data), plane = new picture.Plane(data.X, y, data.gamma);
  const K = plane.gram(), ends = [breakpoints[0], breakpoints[breakpoints.length - 1]].map(Math.log10);
  buttons.innerHTML = [["back", "Event before"], ["step", "Next event"], ["play", "Play"], ["link", "Copy link"]]
    .map(([name, title]) => `<button type="button" data-do="${name}">${title}</button>`).join("");
  controls.innerHTML = `
    <label>C = <output></output> <input type="range" aria-label="C" min="${ends[0]}" max="${ends[1]}" step="any"></label>`;
  const button = (name) => buttons.querySelector(`[data-do=${name}]`), slider = controls.querySelector("input");
  let C;
  const name = `path-stepper-${[...document.querySelectorAll(".stepper[data-kind=path-stepper]")].indexOf(root) + 1}`;

  const kind = (t) => (y[t] < 0 ? "negative" : "positive");
  const names = { "-1": "right of its margin", 0: "on the elbow", 1: "left of its margin" };

  // Bars stand by class.
  const order = [], lows = y.filter((v) => v < 0).length;
  Array.from(y.keys()).sort((a, b) => y[a] - y[b] || a - b).forEach((t, at) => { order[t] = at; });

  // Which examples change their set at the end of the segment.
  function event(k) {
    if (k + 2 > breakpoints.length - 1) return "the end of the range";
    const middle = (m) => 2 / (1 / breakpoints[m] + 1 / breakpoints[m + 1]);
    const [now, then] = [k, k + 1].map((m) => path.at(data, corners, middle(m)).sets);
    return now.flatMap((set, t) => (set === then[t] ? [] : [`example ${t}, ${names[set]} before, is ${names[then[t]]}`])).join("; ")
      || "a change of direction";
  }

  // α/C of all examples along log C: straight in 1/C, so curved here.
  const across = scale(ends, [34, SIDE - 14]), up = scale([0, 1], [SIDE - 34, 12]);
  const curves = (() => {
    const list = Array.from({ length: 160 }, (_, k) => 10 ** (ends[0] + k / 159 * (ends[1] - ends[0])));
    const parts = list.map((each) => path.at(data, corners, each).part);
    return y.map((_, t) => `<path class="${kind(t)} tube" fill-opacity="0" d="${list.map((each, k) =>
      `${k ? "L" : "M"}${across(Math.log10(each)).toFixed(1)} ${up(parts[k][t]).toFixed(1)}`).join("")}"/>`).join("");
  })();

  function shares(now) {
    const x = across(Math.log10(C));
    const powers = [];
    for (let e = Math.ceil(ends[0]); e <= ends[1]; e++) {
      powers.push(`<text x="${across(e)}" y="${SIDE - 20}" text-anchor="middle">${show(10 ** e)}</text>`);
    }
    const dots = y.map((_, t) => (now.sets[t] ? "" :
      (y[t] < 0 ? `<circle class="negative" cx="${x}" cy="${up(now.part[t])}" r="3.5"/>`
        : `<path class="positive" d="${triangle(x, up(now.part[t]), 4)}"/>`))).join("");
    draw("shares", `<path class="axis" d="M34 12V${SIDE - 34}H${SIDE - 14}"/>${powers.join("")}${curves}
      <path class="now" d="M${x} 8V${SIDE - 34}"/>${dots}<text x="28" y="${up(1) + 4}" text-anchor="end">1</text>
      <text x="28" y="${up(0) + 4}" text-anchor="end">0</text><text x="${SIDE - 8}" y="${SIDE - 4}" text-anchor="end">C</text>`,
      "0: right of the margin; 1: left of it; between: on the elbow, with marks. Dashed curves and ● are −1, solid ones and ▲ +1.");
  }

  function margins(now) {
    const values = y.map((v, t) => v * (now.alpha.reduce((sum, a, r) => sum + a * K[t][r], 0) + now.b));
    const v = scale([-1, 3], [SIDE - 20, 12]), width = (SIDE - 46) / n;
    const clip = (h) => v(Math.min(Math.max(h, -1), 3));
    const bars = values.map((h, t) => `<rect class="${kind(t)}${now.sets[t] ? "" : " wrong"}" x="${38 + order[t] * width}" width="${width * 0.8}"
      y="${Math.min(clip(h), v(1)) - (now.sets[t] ? 0 : 3)}" height="${Math.abs(clip(h) - v(1)) + (now.sets[t] ? 0 : 6)}"/>`).join("");
    const classes = [lows / 2, (lows + n) / 2].map((at, k) => `<text x="${38 + at * width}" y="${SIDE - 6}" text-anchor="middle">${k ? "+1" : "−1"}</text>`).join("");
    const labels = [-1, 0, 1, 2, 3].map((h) => `<text x="28" y="${v(h) + 4}" text-anchor="end">${show(h)}</text>`).join("");
    draw("margins", `<path class="axis" d="M34 12V${SIDE - 20}"/><path class="tolerance" d="M34 ${v(0)}H${SIDE - 8}"/>
      ${bars}<path class="boundary" d="M34 ${v(1)}H${SIDE - 8}"/>${labels}${classes}`,
      "Bars from the margin, 1. On the elbow: exactly 1. Below 0: on the wrong side.");
  }

  function render(value) {
    C = Math.min(Math.max(value, breakpoints[0]), breakpoints[breakpoints.length - 1]);
    hush(play.isOn());
    const now = path.at(data, corners, C), elbow = now.sets.flatMap((set, t) => (set ? [] : [t]));
    const marks = y.reduce((all, _, t) => all + plane.mark(t, now.part[t]), "");
    const rings = elbow.map((t) => plane.ring(t, "")).join("");
    draw("points", `<rect class="frame" width="${SIDE}" height="${SIDE}"/>${plane.lines(now.alpha, now.b)}${marks}${rings}`,
      `<span class="negative">●</span> −1 <span class="positive">▲</span> +1, filled by |α|/C; rings: the elbow, ${elbow.length} examples.`);
    shares(now);
    margins(now);
    slider.value = Math.log10(C);
    slider.setAttribute("aria-valuetext", show(C)); // of the slider itself it is log C
    controls.querySelector("output").textContent = show(C);
    button("back").disabled = C <= breakpoints[0];
    button("step").disabled = button("play").disabled = C >= breakpoints[breakpoints.length - 1];
    say(`Between breakpoints ${now.k + 1} and ${now.k + 2} of ${breakpoints.length}. Next, at C = ${show(breakpoints[now.k + 1], 4)}: ${event(now.k)}.`);
  }

  function forward() {
    const later = breakpoints.find((each) => each > C);
    if (later) render(later);
    return C < breakpoints[breakpoints.length - 1];
  }
  const play = picture.player(button("play"), forward, 400);
  const actions = {
    step: forward, play: () => { play.toggle(); hush(play.isOn()); },
    back: () => render(breakpoints.filter((each) => each < C).pop() || C),
    link: () => picture.copy(picture.write(name, { C }), (words) => { render(C); say(words.trim()); }),
  };
  picture.press(buttons, actions, play.stop);
  picture.arrows(root, actions, play.stop);
  slider.addEventListener("input", () => {
    const at = Number(slider.value), end = ends.findIndex((each) => Math.abs(each - at) < 1e-9); // an end is met exactly
    play.stop();
    render(end < 0 ? 10 ** at : breakpoints[end && breakpoints.length - 1]);
  });
  root.at = (value) => path.at(data, corners, value); // for the tests
  render(10 ** ((ends[0] + ends[1]) / 2));
  picture.follow(name, root, (items) => { if (Number(items.C) > 0) render(Number(items.C)); });
});
