"""The steppers of the pages take the steps of `iterate` and show the path of `regularization_path`, bit for bit."""

from __future__ import annotations

import re
from itertools import product
from types import SimpleNamespace

import numpy as np
import pytest

from refsvm import (
    RBF,
    TOP,
    DualProblem,
    KKTGap,
    Linear,
    MostViolatingPair,
    NewtonStep,
    OverrelaxedNewtonStep,
    PlanningAheadStep,
    SecondOrder,
    iterate,
    solve,
)
from refsvm.analysis.recording import Recording
from refsvm.core.kernels.rows import KernelRows
from refsvm.core.problem import total
from refsvm.core.rounds import sufficiency
from refsvm.core.rounds.sufficiency import SHIPPED, chosen_checks, sufficient
from refsvm.core.stopping.midpoint import EXCESS, certain_sign
from refsvm.display.task import StepperTask
from refsvm.display.widget import rivals_of

from .steppers import DOCS, SCRIPTS, browse, needs_chromium, needs_node, node

pytestmark = pytest.mark.skipif(not SCRIPTS.is_dir(), reason="docs is not here")

WALK = """
const smo = require(process.argv[1] + "/smo.js"), wanted = JSON.parse(require("fs").readFileSync(0));
const walks = wanted.walks.map(([selector, step, C]) => {
  const problem = smo.problem(wanted.K, wanted.y, C), walk = [];
  for (let state = smo.start(problem), next; walk.length < 5000; ) {
    next = smo.choose(problem, state, smo.selectors[selector], smo.steps[step], wanted.tol);
    if (!next) return walk;
    state = smo.step(problem, state, next);
    walk.push([next.i, next.j, next.mu, Array.from(state.alpha), Array.from(state.G), state.objective]);
  }
  return walk;
});
console.log(JSON.stringify(walks));
"""
PAIRS = """
const smo = require(process.argv[1] + "/smo.js"), wanted = JSON.parse(require("fs").readFileSync(0));
console.log(JSON.stringify(wanted.problems.map(({ K, y, C }) => {
  const problem = smo.problem(K, y, C);
  let state = smo.start(problem);
  for (let k = 0; k < wanted.steps; k++) {
    state = smo.step(problem, state, smo.choose(problem, state, smo.selectors.mvp, smo.steps.newton, 0));
  }
  const pairs = y.flatMap((_, i) => y.map((_, j) => [i, j])).map(([i, j]) => {
    const m = smo.measure(problem, state, i, j);
    m.mu = smo.steps.newton(problem, state, m);
    const after = i === j ? state : smo.step(problem, state, m);
    return [i, j, smo.refusal(problem, state, i, j, 1e-3), m.mu, Array.from(after.alpha), after.objective];
  });
  return { alpha: Array.from(state.alpha), G: Array.from(state.G), objective: state.objective, pairs };
})));
"""
FIGURES = """
const smo = require(process.argv[1] + "/smo.js"), presets = require(process.argv[1] + "/stepper.js");
const { problems, tol } = JSON.parse(require("fs").readFileSync(0));
const { X, y, C, K } = presets["theorem-7"];
console.log(JSON.stringify({ preset: { X, y, C, K: K() }, figures: problems.map(({ K, y, C }) => {
  const problem = smo.problem(K, y, C), found = [];
  for (let state = smo.start(problem), next; found.length < 200; state = smo.step(problem, state, next)) {
    next = smo.choose(problem, state, smo.selectors["second-order"], smo.steps["planning-ahead"], tol);
    if (!next) break;
    found.push({ alpha: Array.from(state.alpha), G: Array.from(state.G), F: smo.primal(problem, state),
      b: smo.intercept(state), pair: [next.i, next.j], mu: next.mu, planned: next.candidates,
      rivals: smo.rivals(problem, state), plan: smo.plan(problem, state, next) });
  }
  return found;
}) }));
"""
ROUNDS = """
const smo = require(process.argv[1] + "/smo.js"), rounds = require(process.argv[1] + "/rounds.js");
const { problems, tol } = JSON.parse(require("fs").readFileSync(0)), selector = smo.selectors["second-order"];
const rule = smo.steps.newton;
console.log(JSON.stringify(problems.map(({ K, y, C, other }) => {
  const problem = smo.problem(K, y, C), full = rounds.run(problem, undefined, selector, rule, tol);
  const after = smo.problem(K, y, other), seed = rounds.seed(after, full.alpha, problem, other, C);
  const begun = smo.start(after, seed), ended = rounds.run(after, seed, selector, rule, tol);
  const left = y.map((_, r) => {
    const { by, sign, state, value, radius, low, high } = rounds.leaveOut(problem, full, r, 0, selector, rule, tol);
    return { by, sign, value, radius, low, high, seed: Array.from(rounds.top(problem, full.alpha, r)),
      alpha: state && Array.from(state.alpha), steps: state && state.iteration };
  });
  return { alpha: Array.from(full.alpha), left, seed: Array.from(seed), G: Array.from(begun.G),
    steps: ended.iteration, then: Array.from(ended.alpha) };
})));
"""
REPAIRED = """
const rounds = require(process.argv[1] + "/rounds.js"), given = JSON.parse(require("fs").readFileSync(0));
console.log(JSON.stringify(given.map(({ y, C, point }) => {
  const p = smo.problem(y.map(() => []), y, C);
  return [rounds.pairwise(point), Array.from(rounds.feasible(p, Float64Array.from(point)))];
})));
"""
LONGER = """
const smo = require(process.argv[1] + "/smo.js"), presets = require(process.argv[1] + "/stepper.js");
const { X, y, C } = presets["three-points"];
const given = JSON.parse(require("fs").readFileSync(0)), problem = smo.problem(given.K, y, C);
console.log(JSON.stringify({ X, y, C, walks: given.factors.map((factor) => {
  let state = smo.start(problem), next;
  while ((next = smo.choose(problem, state, smo.selectors["second-order"], smo.overrelaxed(factor), 1e-3))) {
    state = smo.step(problem, state, next);
  }
  return [state.iteration, Array.from(state.alpha)];
}) }));
"""
FOLLOW = """
const path = require(process.argv[1] + "/path_stepper.js"), data = JSON.parse(require("fs").readFileSync(0));
const corners = path.unpack(data), at = data.wanted.map((C) => path.at(data, corners, C));
console.log(JSON.stringify(at.map((each) => [each.alpha, each.b, each.sets])));
"""
TURN = """
const street = require(process.argv[1] + "/line_stepper.js");
const { X, y, lines } = JSON.parse(require("fs").readFileSync(0));
console.log(JSON.stringify(lines.map(([theta, s]) =>
  ({ ...street.around(X, y, theta, s), best: street.widest(X, y, theta) }))));
"""
TURNED = """
  const said = () => root.querySelector("[role=status]").textContent, found = { first: said() };
  set("shift", 2);
  found.beyond = said();
  set("turn", 60);
  found.across = said();
  press("widest");
  found.best = said();
  found.boundaries = root.querySelectorAll("path.boundary").length;
  return found;
"""
# Every stepper of the page is driven by its own buttons; what it has done is what comes back.
DRIVE = """
  const [stepper, path] = document.querySelectorAll(".stepper"), found = {};
  for (let k = 0; k < 3; k++) press("step");
  press("back");
  press("end");
  const walk = () => stepper.steps().slice(1).map((state) =>
    [...state.sets[0].slice(0, 2), state.lastStep, Array.from(state.alpha), Array.from(state.G), state.objective]);
  found.walks = [["mvp newton", walk()]];
  set("selector", "conjugate");
  set("step", "conjugate");
  press("reset");
  press("end");
  found.walks.push(["conjugate conjugate", walk()]);
  found.said = stepper.querySelector(".stepper-said").textContent;
  // at α = 0 two examples of one class cannot move: one may only rise, and so may the other
  const y = JSON.parse(stepper.querySelector("script").textContent).y;
  found.same = y.map((v, t) => (v > 0 ? t : -1)).filter((t) => t >= 0).slice(0, 2);
  for (const each of ["n", "n", "ArrowUp", "ArrowUp", "ArrowRight"]) key(each);
  found.X = stepper.examples().map((x) => x.slice());
  found.moved = stepper.steps().map((state) => [Array.from(state.alpha), Array.from(state.G)]);
  press("reset");
  found.restored = stepper.examples().map((x) => x.slice());
  found.left = stepper.steps().length;
  set("step", "newton");
  set("selector", "maximum-gain");
  set("step", "planning-ahead");
  found.flipped = stepper.querySelector(".stepper-said").textContent;
  set("selector", "own");
  const own = (name, value) => {
    const input = stepper.querySelector(`[data-own=${name}]`);
    input.value = value;
    input.dispatchEvent(new Event("change"));
  };
  own("i", found.same[0]);
  own("j", found.same[1]);
  const before = stepper.steps().length;
  press("step");
  found.stuck = [stepper.steps().length - before, stepper.querySelector(".stepper-said").textContent];
  // a pair that would move backwards is refused, and "Swap" lets it move
  const [i, j] = found.walks[0][1][0];
  press("reset");
  own("i", j);
  own("j", i);
  const isDisabled = stepper.querySelector("[data-do=step]").disabled;
  found.refused = [stepper.querySelector(".stepper-said").textContent, isDisabled];
  press("swap");
  press("step");
  found.swapped = stepper.steps().at(-1).sets[0].slice(0, 2);
  // guess the next pair, once right and once not; the pair is hidden until then
  set("selector", "mvp");
  set("step", "newton");
  press("reset");
  leave();
  const letters = () => stepper.querySelectorAll("[data-panel=points] .ring").length;
  const shownPair = () => stepper.querySelector("[data-panel=pair]").nextElementSibling.textContent;
  press("step");
  press("back");
  found.hidden = [letters()];
  press("predict");
  found.hidden.push(letters(), shownPair());
  for (const t of [i, j]) tap(t);
  found.guessed = [stepper.querySelector(".stepper-said").textContent];
  press("predict");
  for (const t of [i, (j + 1) % y.length]) tap(t);
  found.guessed.push(stepper.querySelector(".stepper-said").textContent);
  press("predict");
  press("predict");
  found.guessed.push(stepper.querySelector(".stepper-said").textContent);
  // a state is an address: rules, C and steps, or moved examples and α
  const visit = (hash) => { location.hash = hash; window.dispatchEvent(new HashChangeEvent("hashchange")); };
  const now = () => [stepper.examples().map((x) => x.slice()), Array.from(stepper.steps().at(-1).alpha),
    stepper.steps().length, ...["selector", "step"].map((name) => stepper.querySelector(`[data-set=${name}]`).value)];
  found.links = [];
  const there = (prepare) => {
    prepare();
    const address = stepper.address(), before = now();
    set("selector", "hybrid");
    set("step", "newton");
    press("reset");
    press("end");
    visit(address);
    found.links.push([address, before, now()]);
  };
  there(() => {
    set("selector", "conjugate");
    set("step", "conjugate");
    press("reset");
    for (let k = 0; k < 7; k++) press("step");
  });
  there(() => {
    for (const each of ["n", "ArrowUp", "ArrowRight"]) key(each);
    press("step");
  });
  press("link");
  found.address = location.hash;
  stepper.querySelector("input[type=range]").value = 4;
  stepper.querySelector("input[type=range]").dispatchEvent(new Event("input"));
  press("end");
  const free = Array.from(stepper.steps().at(-1).alpha).filter((a) => a && Math.abs(a) < 1e4).length;
  found.rings = [free, stepper.querySelectorAll("[data-panel=points] .support").length];
  stepper.querySelector("[data-panel=gradient]").scrollIntoView();
  found.large = stepper.querySelector(".stepper-said").textContent;
  // planned steps: two curves; the four points of theorem 7, on which maximum gain is stuck
  set("selector", "second-order");
  set("step", "planning-ahead");
  press("reset");
  found.plans = 0;
  for (let k = 0; k < 40; k++) {
    press("step");
    found.plans += stepper.querySelectorAll("[data-panel=pair] .plan").length;
  }
  const curves = (name) => stepper.querySelectorAll(`[data-panel=${name}] path.boundary`).length;
  found.curves = ["closing", "rivals"].map(curves);
  there(() => {
    set("examples", "theorem-7");
    set("selector", "maximum-gain");
    set("step", "newton");
    press("end");
    found.stuckAtFour = stepper.querySelector(".stepper-said").textContent;
  });
  set("examples", "given");
  set("selector", "mvp");
  press("reset");
  stepper.querySelector("[data-panel=gradient]").scrollIntoView();
  found.buttons = stepper.querySelector(".stepper-buttons").getBoundingClientRect().top;
  visit("#path-stepper-1?C=3");
  found.linkedC = Number(path.querySelector("input").value);
  press("back", path);
  press("step", path);
  path.querySelector("input").value = (Math.log10(0.05) + Math.log10(100)) / 2;
  path.querySelector("input").dispatchEvent(new Event("input"));
  press("step", path);
  found.C = Number(path.querySelector("input").value);
  found.path = path.at(2).alpha;
  return found;
"""


def walk(page, K, y, rules):
    """Pair, μ, α, G and f after every step of `iterate`."""
    selector, step, C = rules
    problem = DualProblem.classification(gram=K, y=y, C=C)
    rules = {"selector": page.SELECTORS[selector], "step": page.STEPS[step]}
    for state in iterate(problem, **rules, stop=KKTGap(1e-3)):
        i, j = state.working_sets[0].tolist()
        yield [i, j, state.last_step, state.alpha.tolist(), state.gradient.tolist(), state.objective]


@needs_node
@pytest.mark.parametrize("times", [1, 2])  # of equal examples gradients tie, and q = 0
@pytest.mark.slow
def test_the_steps_are_those_of_iterate(page, times):
    data = page.DATA["banana"](40 // times, rng=1)
    K, y = page.gram(np.repeat(data.X, times, axis=0), 0.5), np.repeat(data.y, times)
    plain = product(page.SELECTORS, ("newton", "overrelaxed"), (0.3, 100.0))
    rules = [*plain, *(("second-order", "planning-ahead", C) for C in (0.3, 10.0, 1000.0))]
    rules += product(("mvp", "second-order", "conjugate"), ("conjugate",), (0.3, 10.0, 1000.0))
    walks = node(WALK, {"K": K.tolist(), "y": y.tolist(), "walks": rules, "tol": 1e-3})
    for chosen, found in zip(rules, walks, strict=True):
        assert found == list(walk(page, K, y, chosen)), chosen
        assert len(found) > 15


@needs_node
@pytest.mark.parametrize(("seed", "C"), [(2, 1000.0), (11, 10.0)])
def test_the_range_of_planned_steps_decides(page, seed, C):
    """After a planned step within 1 ± 0.9 of the Newton step, and not within 1 ± 0.5, the selection is another one."""
    data = page.DATA["banana"](40, rng=seed)
    K = page.gram(data.X, 0.5)
    problem = DualProblem.classification(gram=K, y=data.y, C=C)
    rules = {"selector": SecondOrder(planned_range=0.5), "step": PlanningAheadStep(), "stop": KKTGap(1e-3)}
    narrow = [state.working_sets[0].tolist() for state in iterate(problem, **rules)]
    chosen = ("second-order", "planning-ahead", C)
    [found] = node(WALK, {"K": K.tolist(), "y": data.y.tolist(), "walks": [chosen], "tol": 1e-3})
    assert found == list(walk(page, K, data.y, chosen))
    assert [step[:2] for step in found] != narrow


@needs_node
def test_the_path_is_that_of_regularization_path(page):
    pytest.importorskip("scipy")
    options = page.PathStepper()
    path, shipped = options.path(), options.shipped()
    middles = 2.0 / (1.0 / path.C[:-1] + 1.0 / path.C[1:])
    wanted = [*path.C[:-1].tolist(), *middles.tolist()]
    for C, (alpha, b, sets) in zip(wanted, node(FOLLOW, shipped | {"wanted": wanted}), strict=True):
        assert np.array_equal(alpha, path.alpha(C)), C
        assert b == path.intercept(C)
        if C in middles:
            share = np.abs(path.alpha(C)) / C
            assert np.array_equal(sets, np.where(share == 0.0, -1, np.where(share == 1.0, 1, 0))), C


@needs_node
def test_the_widest_street_of_the_line_stepper_is_that_of_the_package(page):
    shipped = page.LineStepper().shipped()
    X, y = np.array(shipped["X"]), np.array(shipped["y"])
    machine = solve(DualProblem.classification(X, y, kernel=Linear(), C=np.inf), stop=KKTGap(1e-9))
    w = X.T @ machine.alpha
    width, theta = 2.0 / float(np.linalg.norm(w)), float(np.arctan2(w[1], w[0]))
    shift = -machine.intercept / float(np.linalg.norm(w))
    turned = [[theta, shift], [theta, shift + 0.1], [theta + 0.05, shift], [theta + 2.0, shift]]
    found = node(TURN, shipped | {"lines": turned})
    assert found[0]["best"]["width"] == pytest.approx(width, rel=1e-6)
    assert found[0]["best"]["s"] == pytest.approx(shift, rel=1e-6)
    assert found[0]["width"] == pytest.approx(width, rel=1e-6)
    assert found[1]["width"] == pytest.approx(width - 0.2, rel=1e-6)
    assert found[2]["best"]["width"] < width
    for (angle, s), each in zip(turned, found, strict=True):
        ahead = y * (X @ [np.cos(angle), np.sin(angle)] - s)
        assert each["ahead"] == pytest.approx(ahead.tolist())
        assert each["wrong"] == (ahead < 0).sum()
    assert found[3]["wrong"] > 0
    assert found[3]["width"] == 0


@needs_chromium
def test_a_line_is_turned_shifted_and_laid_in_the_middle(page, tmp_path):
    pytest.importorskip("contourpy")
    found = browse(page, tmp_path, page.LineStepper().html(), TURNED)
    assert "Your street is" in found["first"]
    assert re.match(r"\d+ of 20 points are on the wrong side\.", found["beyond"])
    assert "No line with this direction separates; of all" in found["across"]
    best, widest = re.fullmatch(
        r"Your street is (\S+) wide\. The widest with this direction: (\S+); of all: \2\.", found["best"]
    ).groups()
    assert best == widest
    assert found["boundaries"] == 2


def test_the_straight_street_of_the_first_chapters(page):
    """With γ = 0 the kernel is linear, and the points are those of chapter 2."""
    data = page.make_clouds(20, rng=3)
    K = page.gram(data.X, 0.0)
    assert np.allclose(K, data.X @ data.X.T)
    chapter = (DOCS.parent / "tutorials" / "02_prices.py").read_text(encoding="utf-8")
    names = {"np": np}
    exec("\n".join(re.findall(r"(?m)^(?:rng|y|X|y\[2\]) = .*$", chapter)[:4]), names)
    assert np.array_equal(names["X"], data.X)
    assert np.array_equal(names["y"], data.y)


def random_problem(page, seed, n=10):
    """K, y and C of a problem with examples in the plane."""
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(n, 2)), rng.permutation(np.repeat([-1.0, 1.0], n // 2))
    return page.gram(X, 10.0 ** rng.uniform(-1, 1)), y, 10.0 ** rng.uniform(-1, 2)


@needs_node
def test_two_parabolas_plans_and_costs_are_those_of_the_package(page):
    problems = [random_problem(page, seed, 20) for seed in range(6)]
    given = [{"K": K.tolist(), "y": y.tolist(), "C": C} for K, y, C in problems]
    found = node(FIGURES, {"problems": given, "tol": 1e-3})["figures"]
    planned = refused = differ = 0
    for (K, y, C), states in zip(problems, found, strict=True):
        problem = DualProblem.classification(gram=K, y=y, C=C)
        for state in states:
            alpha, G = np.array(state["alpha"]), np.array(state["G"])
            F = problem.primal_objective(alpha, state["b"], G)
            assert state["F"] == pytest.approx(F, rel=1e-12)
            assert problem.objective(alpha, G) <= F
            up, down = np.flatnonzero(alpha < problem.upper), alpha > problem.lower
            top = up[np.argmax(G[up])]
            slope, q = G[top] - G, np.maximum(np.diag(K)[top] + np.diag(K) - 2.0 * K[top], 1e-12)
            gain = np.where(down & (slope > 0.0), 0.5 * slope**2 / q, -np.inf)
            best, *others = state["rivals"]
            assert (best["i"], best["j"]) == (top, np.argmax(gain))
            assert best["gain"] == gain.max()
            assert len(state["rivals"]) == min(2, (gain > 0.0).sum())
            names, seen = (
                ["i", "j", "slope", "q", "high", "gain"],
                SimpleNamespace(alpha=alpha, gradient=G, gap=1.0),
            )
            assert rivals_of(problem, seen).tolist() == [[each[k] for k in names] for each in state["rivals"]]
            steepest = int(np.argmax(np.where(down, slope, -np.inf)))
            assert steepest in {each["j"] for each in state["rivals"]}
            for each in others:
                differ += each["j"] == steepest
                assert each["gain"] == gain[each["j"]]
                assert each["j"] == steepest or gain[each["j"]] == np.sort(gain)[-2]
            plan = state["plan"]
            assert bool(state["planned"]) == bool(plan and plan["fits"] and plan["gains"])
            if plan is None:
                continue
            planned += bool(state["planned"])
            refused += not state["planned"]
            assert not state["planned"] or state["mu"] == plan["mu"]
            # the top of the dashed parabola is what both steps gain
            mu, second, pair = plan["mu"], plan["second"], np.zeros((2, len(y)))
            np.add.at(pair, ([0, 0, 1, 1], [*state["pair"], plan["k"], plan["l"]]), [1.0, -1.0, 1.0, -1.0])
            move = mu * pair[0] + second * pair[1]
            assert mu == pytest.approx(plan["slope"] / plan["curvature"])
            both = plan["base"] + plan["slope"] * mu - 0.5 * plan["curvature"] * mu**2
            assert both == pytest.approx(G @ move - 0.5 * move @ K @ move, rel=1e-6, abs=1e-9)
    assert min(planned, refused, differ) > 0


@needs_node
def test_the_four_points_of_theorem_7_are_a_preset_on_which_maximum_gain_is_stuck(page):
    preset, root = node(FIGURES, {"problems": [], "tol": 1e-3})["preset"], np.sqrt(3.0)
    Q = np.array([[2, root, 1, root], [root, 4, root, 3], [1, root, 2, root], [root, 3, root, 4]])
    y = np.array([-1.0, -1.0, 1.0, 1.0])
    assert preset["y"] == y.tolist()
    assert preset["K"] == (np.outer(y, y) * Q).tolist()
    assert preset["C"] == 0.1
    rules = [("maximum-gain", "newton", 0.1), ("hybrid", "newton", 0.1)]
    walks = node(WALK, {"K": preset["K"], "y": preset["y"], "walks": rules, "tol": 1e-3})
    for chosen, found in zip(rules, walks, strict=True):
        assert found == list(walk(page, np.array(preset["K"]), y, chosen))
    assert [len(found) for found in walks] == [1, 2]


def ball_of(full, rows, monkeypatch):
    """Of each support vector what `certain_sign` gets: its ball, how far G may be off, and a feasible α and its box."""
    seen = []
    with monkeypatch.context() as patch:
        patch.setattr(sufficiency, "certain_sign", lambda *given: seen.append(given) or 0)
        SHIPPED["ball"].decide(full, rows)
    return dict(zip(np.flatnonzero(full.alpha).tolist(), seen, strict=True))


def interval(t, distance, square, error, alpha, lower, upper):
    """The ends of h(xᵣ) of all machines of a ball: the proofs of `certain_sign` for h(xᵣ) > ζ and < ζ at each kink."""
    rho, takes_part = np.sqrt(square * (1.0 + EXCESS)), lower < upper
    reach = rho * distance + error
    least, most = t - reach, t + reach

    def shares(above, factors):
        rising, falling = total(np.where(above, upper, 0.0)), -total(np.where(above, 0.0, lower))
        return rising * factors[0], falling * factors[1]

    excess = 1.0 + EXCESS
    low = [k for k in least[takes_part] if np.greater(*shares(least >= k, (1.0, excess)))]
    high = [k for k in most[takes_part] if np.less(*shares(most > k, (excess, 1.0)))]
    for room, found, ends, side in ((upper - alpha, low, least, -1.0), (alpha - lower, high, most, 1.0)):
        a, d = room[room > 0.0], distance[room > 0.0]
        found += (ends[room > 0.0] + side * np.maximum(rho - 0.5 * a * d, 0.0) ** 2 / a).tolist()
    return max(low), min(high)


@needs_node
def test_over_relaxed_steps_on_three_points_are_those_of_the_package_at_any_factor():
    X, y = np.array([[-0.5, 0.0], [0.4, 0.0], [0.0, 0.1]]), np.array([1.0, 1.0, -1.0])  # those of chapter 10
    K, factors = RBF(0.5)(X, X), [0.5, 1.0, 1.5]
    found = node(LONGER, {"K": K.tolist(), "factors": factors})
    assert (found["X"], found["y"], found["C"]) == (X.tolist(), y.tolist(), 1e4)
    problem = DualProblem.classification(gram=K, y=y, C=1e4)
    for factor, (steps, alpha) in zip(factors, found["walks"], strict=True):
        rules = {"selector": SecondOrder(), "step": OverrelaxedNewtonStep(factor), "stop": KKTGap(1e-3)}
        last = list(Recording(problem, **rules))[-1]
        assert (last.iteration, last.alpha.tolist()) == (steps, alpha)


@needs_node
@pytest.mark.parametrize("n", [10, pytest.param(40, marks=pytest.mark.slow)])
def test_seeds_checks_and_rounds_are_those_of_the_package(page, n, monkeypatch):
    """Seeds, α of each round, steps and balls to the last bit; of each example what decides it, and the sign."""
    problems = [random_problem(page, seed, n) for seed in range(4)]
    given = [{"K": K.tolist(), "y": y.tolist(), "C": C, "other": 1.7 * C} for K, y, C in problems]
    rules, names = {"selector": SecondOrder(), "step": NewtonStep(), "stop": KKTGap(1e-3)}, []
    for (K, y, C), found in zip(problems, node(ROUNDS, {"problems": given, "tol": 1e-3}), strict=True):
        problem = DualProblem.classification(gram=K, y=y, C=C)
        full = solve(problem, **rules, shrinking=False, engine="numpy")
        assert full.alpha.tolist() == found["alpha"]
        task = StepperTask.of(np.column_stack([y, y]), y, None, kernel=None, C=C, epsilon=None, nu=None)
        other = task.with_penalty(1.7 * C)
        seed = other.start(full.alpha, task)
        assert seed.tolist() == found["seed"]
        larger = Recording(DualProblem.classification(gram=K, y=y, C=1.7 * C), **rules, start=seed)
        assert larger.at(0).gradient.tolist() == found["G"]  # the gradient of a start
        last = list(larger)[-1]
        assert (last.iteration, last.alpha.tolist()) == (found["steps"], found["then"])
        rows = KernelRows(problem.gram, n)
        rows.fetch(np.arange(n))
        decided, signs, _ = sufficient(full, rows, chosen_checks(SHIPPED))
        balls = ball_of(full, rows, monkeypatch)
        for r, left in enumerate(found["left"]):
            assert left["by"] == (decided[r] or "round")
            assert not decided[r] or left["sign"] == signs[r]
            smaller = problem.without(r)
            assert TOP().seed(full, smaller).tolist() == left["seed"]
            last = list(Recording(smaller, **rules, start=left["seed"]))[-1]
            assert (last.iteration, last.alpha.tolist()) == (left["steps"], left["alpha"])
            assert np.sign(left["value"]) == left["sign"]
            if left["by"] in ("ball", "round"):
                low, high = interval(*balls[r])
                assert (left["low"], left["high"]) == (low, high)
                assert (left["by"] == "ball") == (low > 0.0 or high < 0.0)
                assert certain_sign(*balls[r]) == (1 if low > 0.0 else -1 if high < 0.0 else 0)
                assert low - 2e-3 <= left["value"] <= high + 2e-3  # of a machine up to ε
            names.append(left["by"])
    assert set(names) == {*SHIPPED, "round"}


@needs_node
def test_sums_and_feasible_points_are_those_of_the_package():
    """Points outside the box, of which the missing sum is shared; sums of eight parts, and of halves above 128."""
    rng, given = np.random.default_rng(0), []
    for n in (2, 7, 8, 20, 40, 41, 127, 130, 300):
        y, C = np.where(rng.permutation(n) < (n + 1) // 2, 1.0, -1.0), 10.0 ** rng.uniform(-1, 1)
        inside = rng.uniform(size=n) * C * y
        given += [(y, C, point) for point in (3.0 * C * rng.normal(size=n), inside, np.round(inside / C) * C)]
    shipped = [{"y": y.tolist(), "C": C, "point": point.tolist()} for y, C, point in given]
    for (y, C, point), (summed, found) in zip(given, node(REPAIRED, shipped), strict=True):
        assert summed == point.sum()
        assert found == DualProblem.classification(gram=np.eye(len(y)), y=y, C=C).feasible(point).tolist()


class Later(MostViolatingPair):
    """A pair of the reader, after three steps by the gap."""

    def __init__(self, i, j):
        self.pair = i, j

    def select(self, state):
        return self.pair if state.iteration == 3 else super().select(state)


@needs_node
def test_a_pair_of_the_reader_moves_forwards_or_is_refused_by_name(page):
    problems = [random_problem(page, seed) for seed in range(4)]
    given = [{"K": K.tolist(), "y": y.tolist(), "C": C} for K, y, C in problems]
    counts = dict.fromkeys(("same", "level", "blocked", "backwards", "moved"), 0)
    for (K, y, C), found in zip(problems, node(PAIRS, {"problems": given, "steps": 3}), strict=True):
        problem, alpha, G = DualProblem.classification(gram=K, y=y, C=C), np.array(found["alpha"]), found["G"]
        reasons = {(i, j): refused and refused["why"] for i, j, refused, *_ in found["pairs"]}
        for i, j, refused, mu, after, objective in found["pairs"]:
            counts[refused["why"] if refused else "moved"] += 1
            if refused is None:
                assert mu > 0.0
                assert objective > found["objective"]
                own = Recording(problem, selector=Later(i, j), step=NewtonStep()).at(4)
                assert own.alpha.tolist() == after
            elif refused["why"] == "blocked":
                rises, falls = (i, j) if G[i] > G[j] else (j, i)
                assert (refused["up"], refused["down"]) == (rises, falls)
                assert refused["full"] == (alpha[rises] == problem.upper[rises])
                assert refused["empty"] == (alpha[falls] == problem.lower[falls])
                assert reasons[j, i] == "blocked"
            else:
                is_level = abs(G[i] - G[j]) <= 1e-3
                assert refused["why"] == ("same" if i == j else "level" if is_level else "backwards")
                assert refused["why"] != "backwards" or reasons[j, i] is None
    assert min(counts.values()) > 0
    assert counts["backwards"] == counts["moved"]


@pytest.mark.parametrize(
    "options",
    [
        ":selector: mvp\n",
        ":data: clouds\n:n: 20\n:seed: 3\n:gamma: 0\n:C: 30\n",
        "   :data: chessboard\n   :selector: second-order\n   :step: planning-ahead\n   :C: 100",
    ],
)
def test_a_notebook_has_the_stepper_of_the_page(page, options):
    shown, names = page.Stepper.of_directive(options), {}
    exec(shown.code(), names)
    stepper, data = names["stepper"](), page.DATA[shown.data](shown.n, rng=shown.seed)
    assert np.array_equal(stepper.task.X, data.X)
    assert np.array_equal(stepper.task.signs, data.y)
    every = np.arange(shown.n)
    K = stepper.task.problem.gram.block(every, every)
    assert np.allclose(K, page.gram(data.X, shown.gamma), atol=1e-12)
    assert stepper.task.C == shown.C
    assert stepper.rules[0][:2] == (page.SELECTORS[shown.selector], page.STEPS[shown.step])


def test_a_page_shows_pictures_without_scripts(page):
    pytest.importorskip("contourpy")
    html = page.Stepper(n=12).html()
    assert html.count("<svg") >= 3
    assert "With JavaScript this is a stepper." in html
    assert 'class="boundary"' in html
    assert "http" not in html


def check_predictions_and_links(found):
    """Whether pairs are hidden until they are guessed, and addresses restore what was seen."""
    assert found["hidden"] == [2, 0, "Hidden until both examples are tapped, or Reveal is pressed."]
    told = ["Right: you said", "1 of 1 right"], ["i is right: you said", "1 of 2 right"], ["The pair is ("]
    for words, guessed in zip(told, found["guessed"], strict=True):
        assert all(each in guessed for each in words)
    [(steps, before, after), (moved, moved_before, moved_after), (four, *states)] = found["links"]
    assert "examples=theorem-7" in four
    assert states[0] == states[1]
    assert "Stuck" in found["stuckAtFour"]
    assert found["plans"] > 0
    assert found["curves"] == [2, 2]
    says = r"optimal up to ε = 0.001. F − f = [\d.]+, though ψ ≤ ε: each of 40 examples"
    assert re.search(says, found["large"])
    assert "steps=7" in steps
    assert after == before
    assert "moved=" in moved
    assert "alpha=" in moved
    assert moved_after[:2] == moved_before[:2]
    assert found["address"].startswith("#stepper-1?pair=conjugate&step=conjugate&C=10")
    assert found["rings"][0] == found["rings"][1] > 0
    # in sight where the panels stand below each other, in the theme's scroller too
    assert 0.0 <= found["buttons"] < 10.0
    assert found["linkedC"] == pytest.approx(np.log10(3.0), abs=1e-3)


@needs_chromium
@pytest.mark.slow
def test_the_steppers_run_in_a_browser(page, tmp_path):
    pytest.importorskip("contourpy")
    pytest.importorskip("scipy")
    stepper, path = page.Stepper(selector="mvp"), page.PathStepper()
    found = browse(page, tmp_path, f"{stepper.html()}{path.html()}", DRIVE)
    data = page.DATA[stepper.data](stepper.n, rng=stepper.seed)
    K = page.gram(data.X, stepper.gamma)
    for rules, steps in found["walks"]:
        assert steps == list(walk(page, K, data.y, (*rules.split(), stepper.C))), rules
    assert "optimal up to" in found["said"]
    [[alpha, G]] = found["moved"]  # where an example moves, α stays, and G follows
    assert alpha == steps[-1][3]
    assert np.count_nonzero((np.array(found["X"]) != data.X).any(axis=1)) == 1
    assert np.allclose(G, data.y - page.gram(np.array(found["X"]), stepper.gamma) @ alpha, atol=1e-12)
    assert found["restored"] == data.X.tolist()
    assert found["left"] == 1
    assert "need second-order selection" in found["flipped"]
    check_predictions_and_links(found)
    assert found["stuck"][0] == 0
    assert "nothing to gain" in found["stuck"][1]
    said, is_disabled = found["refused"]
    assert "would move backwards" in said
    assert is_disabled
    assert found["swapped"] == found["walks"][0][1][0][:2]
    assert found["path"] == path.path().alpha(2.0).tolist()
    breakpoints = path.path().C
    after = breakpoints[breakpoints > np.sqrt(path.C_min * path.C_max)].min()
    assert found["C"] == pytest.approx(np.log10(after), abs=1e-3)
