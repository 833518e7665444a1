// The line stepper: a line that the reader turns and shifts, and the street around it that holds no point.
"use strict";

const street = (() => {
  // u = (cos θ, sin θ) is the direction in which h grows, and u·x = s the line.
  const along = (X, theta) => X.map((x) => Math.cos(theta) * x[0] + Math.sin(theta) * x[1]);

  // The width of the street in whose middle the line is, how far each point is on its side, and how many are on the other.
  function around(X, y, theta, s) {
    const ahead = along(X, theta).map((v, t) => y[t] * (v - s));
    return { ahead, width: Math.max(0, 2 * Math.min(...ahead)), wrong: ahead.filter((v) => v < 0).length };
  }

  // The middle and the width of the widest street with this direction; below 0 no line with it separates.
  function widest(X, y, theta) {
    const values = along(X, theta), [low, high] = [-1, 1].map((label) => values.filter((_, t) => y[t] === label));
    const ends = [Math.max(...low), Math.min(...high)];
    return { s: (ends[0] + ends[1]) / 2, width: ends[1] - ends[0] };
  }

  return { around, widest };
})();

if (typeof module === "object") module.exports = street; // Node.js, for the tests
else picture.each("line-stepper", (root) => {
  const { SIDE, scale, show } = picture, DEGREE = Math.PI / 180, [FROM, TO] = [0, 60];
  const { data, buttons, controls, say, draw } = picture.open(root, [
    ["points", "Your line and its street"],
    ["widths", "The widest street of each direction"],
  ]);
  const { X, y } = data, plane = new picture.Plane(X, y);
  const directions = Array.from({ length: 10 * (TO - FROM) + 1 }, (_, k) => FROM + k / 10);
  const widths = directions.map((each) => street.widest(X, y, each * DEGREE).width), top = Math.max(...widths);
  buttons.innerHTML = [["middle", "To the middle"], ["widest", "The widest of all"]]
    .map(([name, title]) => `<button type="button" data-do="${name}">${title}</button>`).join("");
  const sliders = [["turn", "direction", FROM, TO, 0.1], ["shift", "shift", -2, 2, 0.005]];
  controls.innerHTML = sliders.map(([name, words, low, high, step]) => `<label>${words} <output></output>
    <input type="range" data-set="${name}" aria-label="${words}" min="${low}" max="${high}" step="${step}"></label>`).join(" ");
  const [turn, shift] = sliders.map(([name]) => controls.querySelector(`[data-set=${name}]`));
  const at = (u, s, d) => [-9, 9].map((r) => `${plane.toX(u[0] * (s + d) - u[1] * r)} ${plane.toY(u[1] * (s + d) + u[0] * r)}`);

  function render(degrees, s) {
    [turn.value, shift.value] = [degrees, s];
    controls.querySelectorAll("output").forEach((each, k) => { each.textContent = k ? show(s) : `${show(degrees)}°`; });
    const theta = degrees * DEGREE, u = [Math.cos(theta), Math.sin(theta)], now = street.around(X, y, theta, s);
    const best = street.widest(X, y, theta).width, [a, b] = [-1, 1].map((side) => at(u, s, side * now.width / 2));
    const edges = now.width ? `<path class="gap" d="M${a.join("L")}L${b.reverse().join("L")}z"/>
      <path class="margin" d="M${a.join("L")}M${b.join("L")}"/>` : "";
    const marks = X.map((_, t) => plane.mark(t, 0) + (Math.abs(2 * now.ahead[t] - now.width) < 1e-3 && now.width ? plane.support(t) : ""));
    draw("points", `<rect class="frame" width="${SIDE}" height="${SIDE}"/>${edges}
      <path class="boundary" d="M${at(u, s, 0).join("L")}"/>${marks.join("")}`,
      '<span class="negative">○</span> −1 <span class="positive">△</span> +1; thin rings: the nearest points.');
    const h = scale([FROM, TO], [34, SIDE - 14]), v = scale([0, 1.1 * top], [SIDE - 34, 12]);
    const curve = directions.map((each, k) => `${k ? "L" : "M"}${h(each).toFixed(1)} ${v(Math.max(0, widths[k])).toFixed(1)}`).join("");
    const ticks = [FROM, 15, 30, 45, TO].map((each) => `<text x="${h(each)}" y="${SIDE - 18}" text-anchor="middle">${show(each)}°</text>`);
    draw("widths", `<path class="axis" d="M34 12V${SIDE - 34}H${SIDE - 14}"/>${ticks.join("")}<path class="boundary" d="${curve}"/>
      <path class="now" d="M${h(degrees)} 8V${SIDE - 34}"/><circle class="here" cx="${h(degrees)}" cy="${v(now.width)}" r="5"/>
      <text x="28" y="${v(top) + 4}" text-anchor="end">${show(top, 2)}</text><text x="28" y="${v(0) + 4}" text-anchor="end">0</text>`,
      "The curve: the street with the line in its middle. The dot: yours.");
    const words = now.wrong ? `${now.wrong} of ${y.length} points are on the wrong side.` : `Your street is ${show(now.width)} wide.`;
    say(`${words} ${best > 0 ? `The widest with this direction: ${show(best)}` : "No line with this direction separates"}; of all: ${show(top)}.`);
  }

  const middle = (degrees) => render(degrees, street.widest(X, y, degrees * DEGREE).s);
  const actions = { middle: () => middle(Number(turn.value)), widest: () => middle(directions[widths.indexOf(top)]) };
  picture.press(buttons, actions, () => {});
  for (const slider of [turn, shift]) slider.addEventListener("input", () => render(Number(turn.value), Number(shift.value)));
  middle(directions[widths.indexOf(top)] - 5);
});
