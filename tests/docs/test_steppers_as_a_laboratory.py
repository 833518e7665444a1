"""Two runs, sliders, changed examples and left-out ones of a stepper are those of the package, through its controls."""

from __future__ import annotations

import re

import numpy as np
import pytest

from refsvm import (
    RBF,
    DualProblem,
    KKTGap,
    MostViolatingPair,
    NewtonStep,
    SecondOrder,
)
from refsvm.analysis.recording import Recording
from refsvm.core.rounds.sufficiency import SHIPPED
from refsvm.display.task import StepperTask

from .steppers import IN_CHROMIUM, browse

pytestmark = IN_CHROMIUM

DRIVE = """
const found = {}, said = () => root.querySelector(".stepper-said").textContent;
const seen = () => {
  const { K, y, upper } = root.problem(), [first] = root.steps(), last = root.steps().at(-1);
  return { K, y: y.slice(), C: Math.max(...upper), start: Array.from(first.alpha), G: Array.from(first.G),
    alpha: Array.from(last.alpha), said: said(), X: root.examples().map((x) => x.slice()) };
};
const last = (list) => [list.length - 1, Array.from(list.at(-1).alpha), list.at(-1).objective];

// two runs
set("against", "mvp");
press("end");
found.runs = [root.steps(), root.second()].map(last);
const cells = (row) => [...row.cells].map((each) => each.textContent);
found.table = [...root.querySelectorAll(".stepper-table tbody tr")].map(cells);
press("back");
found.back = [root.steps(), root.second()].map((list) => list.length - 1);
set("against", "");
press("end");

// C and γ: from the α before, or from 0
found.solved = seen();
set("C", 1.5);
found.seeded = seen();
press("end");
set("gamma", 0.2);
found.wider = seen();
root.querySelector("[data-set=warm]").click();
set("C", 0.5);
found.cold = seen();
root.querySelector("[data-set=warm]").click();

// examples: another label, one more by a key and one by a finger
set("C", 1);
press("reset");
press("end");
found.before = seen();
set("tap", "turn");
tap(3);
found.turned = seen();
set("tap", "1");
leave();
key("Enter");
found.added = seen();
set("tap", "-1");
const box = points.getBoundingClientRect(), at = { bubbles: true, pointerId: 1 };
points.dispatchEvent(new PointerEvent("pointerdown",
  { ...at, clientX: box.left + 0.02 * box.width, clientY: box.top + 0.02 * box.height }));
found.tapped = seen();
set("gamma", 0.2);
press("end");
const address = root.address(), there = seen();
press("reset");
found.given = seen().y.length;
location.hash = address;
window.dispatchEvent(new HashChangeEvent("hashchange"));
found.link = [address, there, seen()];
press("reset");

// each example left out
set("gamma", Math.log10(0.5));
press("reset");
press("end");
found.full = seen();
set("tap", "out");
const axis = root.querySelector("[data-panel=left]"), shown = axis.closest("figure"), of = (name, ...all) =>
  all.map((each) => Number(axis.querySelector(name)?.getAttribute(each) ?? NaN));
found.hidden = [shown.hidden];
found.left = found.full.y.map((_, t) => { tap(t); return said(); });
found.axes = found.full.y.map((_, t) => { tap(t); return { words: axis.nextElementSibling.textContent,
  dot: of(".dot", "cx")[0], bar: of(".proved", "x", "width") }; });
found.crossed = [root.querySelectorAll(".cross").length, root.querySelectorAll(".without .boundary").length];
const without = root.address();
press("back");
found.hidden.push(shown.hidden);
found.gone = root.querySelectorAll(".cross").length;
location.hash = without;
window.dispatchEvent(new HashChangeEvent("hashchange"));
found.again = [without, said()];

// over-relaxed steps of another length, on these examples and on three points
const shows = () => root.querySelector("[data-set=factor]").checkVisibility();
for (const each of root.querySelectorAll("details")) each.open = true;
found.factor = [shows()];
set("step", "overrelaxed");
set("factor", "5");
found.factor.push(shows(), root.querySelector("[data-set=factor]").value);
set("factor", "1.5");
found.factor.push(said());
set("examples", "three-points");
press("end");
found.longer = [root.address(), seen()];
set("factor", "1.1");
press("reset");
location.hash = found.longer[0];
window.dispatchEvent(new HashChangeEvent("hashchange"));
found.longer.push(seen());
return found;
"""

RULES = {"selector": SecondOrder(), "step": NewtonStep(), "stop": KKTGap(1e-3)}


def task_of(seen, C):
    """The problem of a stepper, of which only the box and the labels matter."""
    y = np.array(seen["y"], dtype=float)
    return StepperTask.of(np.column_stack([y, y]), y, None, kernel=None, C=C, epsilon=None, nu=None)


def problem_of(seen):
    """The dual problem of a stepper."""
    return DualProblem.classification(gram=np.array(seen["K"]), y=seen["y"], C=seen["C"])


def check_seed(seen, start):
    """Whether a run has begun at this α, with its gradient, and says what the seed saves."""
    assert seen["start"] == list(start)
    runs = [list(Recording(problem_of(seen), **RULES, start=each)) for each in (start, None)]
    assert runs[0][0].gradient.tolist() == seen["G"]
    seeded, cold = (len(run) - 1 for run in runs)
    words = f"saves {cold - seeded}" if seeded <= cold else f"costs {seeded - cold}"
    assert f"To the end: {seeded} steps, from 0 {cold}; the seed {words}." in seen["said"]


def check_runs(page, stepper, found):
    """Whether both runs end as in Python, with their steps and kernel rows in the table."""
    data = page.DATA[stepper.data](stepper.n, rng=stepper.seed)
    problem = DualProblem.classification(gram=page.gram(data.X, stepper.gamma), y=data.y, C=stepper.C)
    of_rows = DualProblem.classification(data.X, data.y, kernel=RBF(stepper.gamma), C=stepper.C)
    lengths = []
    selectors = SecondOrder(), MostViolatingPair()
    for run, line, selector in zip(found["runs"], found["table"], selectors, strict=True):
        last = list(Recording(problem, **RULES | {"selector": selector}))[-1]
        assert run == [last.iteration, last.alpha.tolist(), last.objective]
        by_rows = Recording(of_rows, **RULES | {"selector": selector})
        assert line[1:3] == [str(last.iteration), str(list(by_rows)[-1].kernel_rows)]
        lengths.append(last.iteration)
    assert found["back"] == [min(each, max(lengths) - 1) for each in lengths]


def check_changes(found):
    """Whether runs go on from the α before as the package does after each change."""
    solved, seeded, wider = found["solved"], found["seeded"], found["wider"]
    task = task_of(solved, solved["C"])
    start = task.with_penalty(seeded["C"]).start(np.array(solved["alpha"]), task)
    check_seed(seeded, start)
    assert seeded["C"] == pytest.approx(10.0**1.5)
    assert np.any(np.array(wider["K"]) != np.array(solved["K"]))
    assert wider["start"] != [0.0] * 40
    assert "γ = 1.58; it goes on from the α before." in wider["said"]
    assert wider["K"][0][1] == pytest.approx(solved["K"][0][1] ** (10.0**0.2 / 0.5), rel=1e-9)
    assert found["cold"]["start"] == [0.0] * 40
    assert "it begins at α = 0" in found["cold"]["said"]
    before, turned, added, tapped = (found[name] for name in ("before", "turned", "added", "tapped"))
    task = task_of(before, before["C"])
    check_seed(turned, task.relabelled(3).start(np.array(before["alpha"]), task))
    assert [a != b for a, b in zip(before["y"], turned["y"], strict=True)] == [t == 3 for t in range(40)]
    assert (len(added["y"]), added["y"][-1], len(tapped["y"]), tapped["y"][-1]) == (41, 1, 42, -1)
    check_seed(added, problem_of(added).feasible([*turned["alpha"], 0.0]))
    assert "Example 41 is new, with label −1" in tapped["said"]
    address, there, again = found["link"]
    assert all(f"{name}=" in address for name in ("added", "turned", "gamma", "alpha"))
    assert found["given"] == 40
    for name in ("X", "y", "K", "alpha", "C"):
        assert there[name] == again[name], name


def check_bar(drawn, check, right):
    """Whether the bar of h is as long as what the check proves: a point, one side of 0, or the interval of the ball."""
    begin, width = (np.nan if each is None else each for each in drawn["bar"])
    if check == "zero alpha":
        assert np.isnan(width)
        return
    end = begin + width
    if check == "a round":
        assert begin < 160.0 < end
        assert "on both sides of 0" in drawn["words"]
    elif right:
        assert begin >= 160.0
    else:
        assert end <= 160.0
    assert begin - 1.0 <= drawn["dot"] <= end + 1.0
    low, high = (10.0, 310.0) if check != "ball" else (14.0, 306.0)
    assert low < begin < end < high


def check_left_out(found):
    """Whether words and picture say which check decides an example, or a round; `test_steppers` compares the checks."""
    seen = set()
    for r, said in enumerate(found["left"]):
        told = r"Without example (\d+), label .1: predicted (.)1, (right|wrong). Decided by ([^:]*):"
        words = re.search(told, said)
        assert words, said
        assert int(words[1]) == r
        drawn, right, sign = found["axes"][r], words[2] == "+", 1 if words[2] == "+" else -1
        assert (words[3] == "right") == (sign == found["full"]["y"][r])
        assert (drawn["dot"] > 160.0) == right  # 0 is in the middle
        assert "above 0, so it is predicted +1" in drawn["words"] or not right
        assert "below 0, so it is predicted −1" in drawn["words"] or right
        check_bar(drawn, words[4], right)
        seen.add(words[4])
    assert len(seen & {*SHIPPED, "a round"}) == len(seen) >= 4
    assert found["hidden"] == [True, True]
    assert found["crossed"] == [1, 1]
    assert found["gone"] == 0
    assert "without=39" in found["again"][0]
    assert "Without example 39" in found["again"][1]


def check_longer_steps(found):
    """Whether the length of over-relaxed steps is shown, clipped, and goes with the link."""
    before, after, clipped, words = found["factor"]
    assert (before, after, clipped) == (False, True, "1.9")
    assert "ω = 1.5 times as long" in words
    address, three, again = found["longer"]
    assert "factor=1.5&steps=" in address
    assert three | {"said": ""} == again | {"said": ""}


def test_runs_sliders_changes_and_left_out_examples_are_those_of_the_package(page, tmp_path):
    pytest.importorskip("contourpy")
    stepper = page.Stepper()
    found = browse(page, tmp_path, stepper.html(), DRIVE)
    check_runs(page, stepper, found)
    check_changes(found)
    check_left_out(found)
    check_longer_steps(found)
