// Tools with which both steppers draw: SVG as text, scales, level lines, and the picture of the examples.
"use strict";

const picture = (() => {
  const SIDE = 320; // width and height of a picture, in units of its SVG
  const CELLS = 56; // number of cells on each side of the grid for h
  const MARGIN = 0.08;
  const NEAR = 18; // largest distance from which a finger touches an example

  const scale = (from, to) => (x) => to[0] + (x - from[0]) / (from[1] - from[0]) * (to[1] - to[0]);
  const triangle = (x, y, r) => `M${x} ${y - r * 1.25}l${r * 1.15} ${r * 2.05}h${-r * 2.3}z`;
  const show = (x, digits = 3) => {
    if (x === 0) return "0";
    if (!Number.isFinite(x)) return Number.isNaN(x) ? "–" : x > 0 ? "∞" : "−∞";
    const text = Math.abs(x) < 1e-3 || Math.abs(x) >= 1e5 ? x.toExponential(1) : String(Number(x.toPrecision(digits)));
    return text.replace("-", "−").replace("e−", "e-").replace("e+", "e");
  };

  // The Gaussian kernel; for γ = 0 the linear kernel.
  const kernel = (gamma, a, b) =>
    (gamma ? Math.exp(-gamma * ((a[0] - b[0]) ** 2 + (a[1] - b[1]) ** 2)) : a[0] * b[0] + a[1] * b[1]);

  // A level line of a function, by marching squares, as an SVG path. Its values at the nodes of a grid come row by
  // row, the lowest first.
  function levelLine(values, nodes, level, toX, toY) {
    let d = "";
    const at = (r, c) => values[r * nodes + c] - level;
    for (let r = 0; r < nodes - 1; r++) {
      for (let c = 0; c < nodes - 1; c++) {
        const corners = [[r, c], [r, c + 1], [r + 1, c + 1], [r + 1, c]];
        const crossed = [];
        for (let e = 0; e < 4; e++) {
          const [r0, c0] = corners[e], [r1, c1] = corners[(e + 1) % 4], v0 = at(r0, c0), v1 = at(r1, c1);
          if (v0 > 0 === v1 > 0) continue;
          const w = v0 / (v0 - v1);
          crossed.push(`${toX(c0 + w * (c1 - c0)).toFixed(1)} ${toY(r0 + w * (r1 - r0)).toFixed(1)}`);
        }
        for (let e = 0; e + 1 < crossed.length; e += 2) d += `M${crossed[e]}L${crossed[e + 1]}`;
      }
    }
    return d;
  }

  // The examples in the plane: their positions on the picture, and h on a grid.
  class Plane {
    constructor(X, y, gamma, range) {
      this.X = X.map((x) => x.slice());
      this.y = y;
      this.gamma = gamma;
      const [low, high] = [Math.min, Math.max].map((f) => [0, 1].map((d) => f(...X.map((x) => x[d]))));
      const reach = (0.5 + MARGIN) * Math.max(high[0] - low[0], high[1] - low[1]);
      range ??= [0, 1].map((d) => [(low[d] + high[d]) / 2 - reach, (low[d] + high[d]) / 2 + reach]);
      this.toX = scale(range[0], [0, SIDE]);
      this.toY = scale(range[1], [SIDE, 0]);
      this.width = range[0][1] - range[0][0];
      this.range = range;
      this.columns = gamma === undefined ? null : X.map((x, t) => this.column(t)); // null: the caller passes h
    }

    // k(·, xₜ) at the nodes of the grid
    column(t) {
      const [h, v] = this.range.map((range) => scale([0, CELLS], range)), values = new Float64Array((CELLS + 1) ** 2);
      for (let k = 0; k < values.length; k++) {
        values[k] = kernel(this.gamma, [h(k % (CELLS + 1)), v(Math.floor(k / (CELLS + 1)))], this.X[t]);
      }
      return values;
    }

    // Move example t; a move beyond the edge ends at the edge.
    place(t, x) {
      this.X[t] = x.map((v, d) => Math.min(Math.max(v, this.range[d][0]), this.range[d][1]));
      if (this.columns) this.columns[t] = this.column(t);
    }

    gram() {
      return this.X.map((a) => this.X.map((b) => kernel(this.gamma, a, b)));
    }

    // The example nearest to a position on the picture; −1 if none is near.
    nearest(px, py) {
      const far = this.X.map((x) => Math.hypot(this.toX(x[0]) - px, this.toY(x[1]) - py));
      const t = far.indexOf(Math.min(...far));
      return far[t] <= NEAR ? t : -1;
    }

    fromPicture(px, py) {
      return [scale([0, SIDE], this.range[0])(px), scale([SIDE, 0], this.range[1])(py)];
    }

    // Boundary h = 0 and margins h = ±1 of h = Σ αₜ k(·, xₜ) + b.
    lines(alpha, b, all) {
      const h = new Float64Array((CELLS + 1) ** 2).fill(b);
      alpha.forEach((a, t) => {
        if (a) for (let k = 0; k < h.length; k++) h[k] += a * this.columns[t][k];
      });
      return this.levels(h, all);
    }

    // The same lines, from values of h at the nodes of the grid.
    levels(h, all = [-1, 0, 1]) {
      const [x, y] = [scale([0, CELLS], [0, SIDE]), scale([0, CELLS], [SIDE, 0])];
      return all.map((level) =>
        `<path class="${level ? "margin" : "boundary"}" d="${levelLine(h, CELLS + 1, level, x, y)}"/>`).join("");
    }

    // The mark of example t, filled in proportion to α/C; if α > 0, the filled part is large enough to be seen.
    mark(t, part) {
      const share = part > 0 ? Math.max(part, 0.15) : 0;
      const [x, y] = [this.toX(this.X[t][0]), this.toY(this.X[t][1])];
      const shape = this.y[t] < 0 ? `circle cx="${x}" cy="${y}" r="5.5"` : `path d="${triangle(x, y, 5.5)}"`;
      return `<${shape} class="${this.y[t] < 0 ? "negative" : "positive"}" fill-opacity="${share}"/>`;
    }

    // A thin ring around a free support vector, which a large C leaves almost unfilled.
    support(t) {
      return `<circle class="support" cx="${this.toX(this.X[t][0])}" cy="${this.toY(this.X[t][1])}" r="8.5"/>`;
    }

    // A ring around example t, with a letter in the corner that is furthest from other examples.
    ring(t, letter) {
      const [x, y] = [this.toX(this.X[t][0]), this.toY(this.X[t][1])];
      const free = ([h, v]) => Math.min(...this.X.map((other, s) =>
        s === t ? Infinity : Math.hypot(this.toX(other[0]) - h, this.toY(other[1]) - v)));
      const corners = [[15, -12], [15, 14], [-15, -12], [-15, 14]].map(([h, v]) => [x + h, y + v])
        .filter(([h, v]) => h > 6 && h < SIDE - 6 && v > 8 && v < SIDE - 4);
      const [h, v] = corners.reduce((best, each) => (free(each) > free(best) ? each : best));
      return `<circle class="ring" cx="${x}" cy="${y}" r="10"/><text x="${h}" y="${v + 4}" text-anchor="middle">${letter}</text>`;
    }
  }

  // Initialises an element: reads the data, and adds places for figures, controls and a line of text.
  function open(root, titles) {
    const data = JSON.parse(root.querySelector("script").textContent);
    root.querySelector(".stepper-strip").remove();
    root.querySelector(".stepper-words").remove();
    root.insertAdjacentHTML("beforeend", `<div class="stepper-buttons"></div><div class="stepper-controls"></div><p class="stepper-said" role="status"></p>
      <div class="stepper-panels">${titles.map(([name, title]) =>
        `<figure><div class="stepper-title">${title}</div><svg data-panel="${name}" viewBox="0 0 ${SIDE} ${SIDE}"
          role="img" aria-label="${title}"></svg><figcaption></figcaption></figure>`).join("")}</div>`);
    const panel = (name) => root.querySelector(`[data-panel=${name}]`);
    return {
      data,
      buttons: root.querySelector(".stepper-buttons"),
      controls: root.querySelector(".stepper-controls"),
      say: (words) => { root.querySelector(".stepper-said").textContent = words; },
      // screen readers skip text that changes while the stepper plays
      hush: (quiet) => { root.querySelector(".stepper-said").setAttribute("aria-live", quiet ? "off" : "polite"); },
      panel,
      draw: (name, content, caption) => {
        panel(name).innerHTML = content;
        panel(name).nextElementSibling.innerHTML = caption;
      },
    };
  }

  // Buttons by name, each of which calls its action; every button except "play" stops playing.
  function press(buttons, actions, stop) {
    buttons.addEventListener("click", (event) => {
      const name = event.target.dataset.do;
      if (name && name !== "play") stop();
      if (name) actions[name]();
    });
  }

  // The arrow keys take steps, unless the element with the focus uses them.
  function arrows(root, actions, stop) {
    root.addEventListener("keydown", (event) => {
      if (event.target.matches("input, select, svg") || event.altKey || event.ctrlKey || event.metaKey) return;
      const action = { ArrowRight: "step", ArrowLeft: "back" }[event.key];
      if (!action) return;
      event.preventDefault();
      stop();
      actions[action]();
    });
  }

  // Repeat an action until it returns false; return a function that starts and stops the repetition.
  function player(button, once, pause) {
    let timer = 0;
    const stop = () => { clearInterval(timer); timer = 0; button.textContent = "Play"; };
    return {
      stop,
      isOn: () => timer !== 0,
      toggle() {
        if (timer) return stop();
        button.textContent = "Pause";
        timer = setInterval(() => { if (!once()) stop(); }, pause);
      },
    };
  }

  // Lets the user drag and tap examples, or choose them by keys. `on`: move(t, x), tap(t), choose(t), chosen(), grab();
  // if examples can be added, also add(x), and adds(), whether a tap adds one.
  function examples(svg, plane, on) {
    const place = (event) => {
      const rect = svg.getBoundingClientRect();
      return [(event.clientX - rect.left) / rect.width * SIDE, (event.clientY - rect.top) / rect.height * SIDE];
    };
    let drag = null;
    svg.addEventListener("pointerdown", (event) => {
      const t = plane().nearest(...place(event));
      if (t < 0 && on.adds?.()) on.add(plane().fromPicture(...place(event)));
      if (t < 0) return;
      on.grab();
      drag = { t, from: place(event), moved: false };
      svg.setPointerCapture(event.pointerId);
    });
    svg.addEventListener("pointermove", (event) => {
      if (!drag) return;
      const to = place(event);
      if (!drag.moved && Math.hypot(to[0] - drag.from[0], to[1] - drag.from[1]) < 5) return;
      drag.moved = true;
      on.move(drag.t, plane().fromPicture(...to));
    });
    svg.addEventListener("pointerup", () => {
      if (drag && !drag.moved) on.tap(drag.t);
      drag = null;
    });
    svg.addEventListener("pointercancel", () => { drag = null; });
    // A finger that starts on an example drags it; elsewhere it scrolls the page.
    svg.addEventListener("touchstart", (event) => {
      if (plane().nearest(...place(event.touches[0])) >= 0) event.preventDefault();
    }, { passive: false });

    svg.tabIndex = 0;
    svg.setAttribute("role", "application");
    svg.setAttribute("aria-label", "Examples, boundary, margins. Keys: n and p choose an example, arrows move it, Enter takes it into the pair.");
    svg.addEventListener("blur", () => on.choose(-1));
    svg.addEventListener("keydown", (event) => {
      const { X, width } = plane(), n = X.length, chosen = on.chosen(), turn = { n: 1, p: n - 1 }[event.key];
      const shift = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] }[event.key];
      if (turn) on.choose((chosen + turn + (chosen < 0 && turn > 1)) % n);
      else if (shift && chosen >= 0) on.move(chosen, X[chosen].map((v, d) => v + 0.02 * width * shift[d]));
      else if (event.key === "Enter" && on.adds?.()) on.add([0, 1].map((d) => (plane().range[d][0] + plane().range[d][1]) / 2));
      else if (event.key === "Enter" && chosen >= 0) on.tap(chosen);
      else return;
      event.preventDefault();
    });
  }

  // Returns a state as the fragment of an address: #stepper-1?C=10&steps=3
  const write = (name, items) => `#${name}?${new URLSearchParams(items)}`;

  // Put a fragment into the address of the page, and copy the whole address if the browser allows it.
  function copy(fragment, say) {
    history.replaceState(null, "", fragment);
    const done = [" The link is copied.", " The address of this page is now the link."];
    if (!navigator.clipboard) return say(done[1]);
    return navigator.clipboard.writeText(location.href).then(() => say(done[0]), () => say(done[1]));
  }

  // Restore the state of this stepper from the address, now and whenever the address changes.
  function follow(name, root, restore) {
    const read = () => {
      const [where, items] = location.hash.slice(1).split("?");
      if (where !== name || !items) return;
      restore(Object.fromEntries(new URLSearchParams(items)));
      root.scrollIntoView();
    };
    // once more when the elements above have their final heights
    window.addEventListener("load", () => Promise.resolve(window.MathJax?.startup?.promise).then(() => {
      if (location.hash.startsWith(`#${name}?`)) root.scrollIntoView();
    }));
    window.addEventListener("hashchange", read);
    read();
  }

  const each = (kind, start) => {
    const all = () => document.querySelectorAll(`.stepper[data-kind=${kind}]`).forEach((root) => start(root));
    if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", all);
    else all();
  };

  return { SIDE, scale, show, triangle, levelLine, Plane, open, press, arrows, examples, player, write, copy, follow, each };
})();
