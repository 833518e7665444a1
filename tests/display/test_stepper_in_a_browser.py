"""The scripts of the widget send what its buttons say, and show what a `Stepper` answers.

A stepper answers a list of messages here. The page plays its part: it holds these answers, and notes the messages that
its own buttons and keys send. Notebooks are not needed for it.
"""

from __future__ import annotations

import base64
import json
import re

import numpy as np
import pytest

from refsvm import RBF, MostViolatingPair, NewtonStep, SecondOrder, WorkingSetSelector
from refsvm.datasets import make_banana
from refsvm.display import Stepper
from refsvm.display.widget import SCRIPTS, Reach, examples_of, run_of, source

from ..programs import needs, seen_in_chromium

pytestmark = [pytest.mark.slow, needs("chromium")]

PAGE = """<!doctype html><html data-theme="THEME"><meta charset="utf-8"><link rel="icon" href="data:,">
<style>STYLE</style><body><p class="stand-in">seen without a kernel</p><div id="here"></div><script type="module">
SCRIPTS
const decoded = (x) => Array.isArray(x) ? x.map(decoded) : !x || typeof x !== "object" ? x
  : "bytes" in x ? new DataView(Uint8Array.from(atob(x.bytes), (c) => c.charCodeAt(0)).buffer)
  : Object.fromEntries(Object.entries(x).map(([name, value]) => [name, decoded(value)]));
const answers = ANSWERS, sent = [], found = { looks: {} };
let state = decoded(answers.shift()), listener = null;
const model = {
  get: (name) => (name === "hides" ? "stand-in" : state[name]),
  on: (_, call) => { listener = call; },
  off: () => { listener = null; },
  send: (message) => {
    sent.push(message);
    setTimeout(() => { state = answers.length ? decoded(answers.shift()) : state; listener(); }, 0);
  },
};
const root = document.getElementById("here"), end = render({ model, el: root });
const find = (selector) => root.querySelector(selector), all = (selector) => [...root.querySelectorAll(selector)];
const text = (selector) => all(selector).map((each) => each.textContent);
const pause = () => new Promise((done) => setTimeout(done, 20));
const press = async (name) => { find(`[data-do=${name}]`).click(); await pause(); };
const key = async (name, element = find("[data-panel=points]")) => {
  element.dispatchEvent(new KeyboardEvent("keydown", { key: name, bubbles: true }));
  await pause();
};
const look = (name) => {
  const letters = (section) =>
    [...section.querySelectorAll("[data-panel=points] text")].map((each) => each.textContent);
  found.looks[name] = { said: find(".stepper-said").textContent, counts: text(".stepper-counts"),
    pair: text("[data-panel=pair] + figcaption").map((each) => each.replace(/\\s+/g, " ")),
    letters: all("section").map(letters), lines: all("[data-panel=points] .boundary").length,
    costs: text("[data-panel=closing] + figcaption"), rivals: text("[data-panel=rivals] + figcaption"),
    bars: all("[data-panel=gradient] :is(.negative, .positive)").length,
    failure: all(".stepper-failure").map((each) => each.hidden ? "" : each.textContent),
    enabled: all("button").filter((each) => !each.disabled && !each.hidden).map((each) => each.dataset.do),
    finite: !/NaN|Infinity|undefined/.test(root.innerHTML) };
};
const standIn = () => getComputedStyle(document.querySelector(".stand-in")).display;
found.standIn = [standIn()];
DRIVE
end();
root.replaceChildren();
found.standIn.push(standIn());
found.sent = sent;
found.left = answers.length;
found.silent = listener === null;
const left = document.createElement("pre");
left.id = "found";
left.textContent = JSON.stringify(found);
document.body.append(left);
</script>"""

RACE = """
look("start");
for (let k = 0; k < 3; k++) await press("step");
look("three");
await press("back");
await key("ArrowRight", find("[data-do=back]"));
look("again");
await press("predict");
look("hidden");
for (const name of ["n", "Enter", "n", "Enter"]) await key(name);
look("guessed");
await key("Enter");
await key("n");
await key("Enter");  // the second example and the third: a pair
await key("Enter");
await key("Enter");  // twice: its label
await key("ArrowUp");
find("[data-panel=points]").dispatchEvent(new Event("blur"));
await press("plus");
const slide = async (name, value) => {
  const slider = find(`[data-set=${name}]`);
  slider.value = value;
  slider.dispatchEvent(new Event("input"));
  await pause();
};
find("[data-set=warm]").click();
await slide("C", 2);
find("[data-set=warm]").click();
await slide("gamma", 0);
look("changed");
await press("end");
await pause();
look("end");
await press("reset");
look("reset");
"""


class Lowest(WorkingSetSelector):
    """The first pair that violates; a user's rule."""

    def select(self, state):
        G = state.gradient
        up, down = np.flatnonzero(state.alpha < state.upper), np.flatnonzero(state.alpha > state.lower)
        i = int(up[0]) if len(up) else -1
        below = [int(j) for j in down if i >= 0 and G[i] > G[j] + 1e-9]
        return (i, below[0]) if below else (state.top, state.bottom)


def coded(value):
    """A value as JSON, with arrays of bytes as the page reads them."""
    if isinstance(value, bytes):
        return {"bytes": base64.b64encode(value).decode()}
    if isinstance(value, dict):
        return {name: coded(each) for name, each in value.items()}
    return [coded(each) for each in value] if isinstance(value, list) else value


def content(stepper, reaches):
    """The values of the widget for the present state."""
    runs = [run_of(stepper, r, reach.of(stepper.recordings[r])) for r, reach in enumerate(reaches)]
    words = {"note": stepper.note, "log": stepper.log}
    return coded({"examples": examples_of(stepper), "runs": runs, "words": words})


def answered(stepper, messages):
    """The first content of a stepper, that after each message, and the lines that stand above its pictures."""
    reaches = [Reach() for _ in stepper.recordings]
    answers, counts = [content(stepper, reaches)], []
    for message in messages:
        stepper.receive(message)
        answers.append(content(stepper, reaches))
        counts.append([f"{state.iteration} steps, {state.kernel_rows} kernel rows" for state in stepper.now])
    return answers, counts


def browse(folder, answers, drive, theme="light"):
    """What the page has found after it was driven, and seen no error."""
    parts = {
        "THEME": theme, "STYLE": source("stepper.css"), "SCRIPTS": source(*SCRIPTS), "DRIVE": drive,
        "ANSWERS": json.dumps(answers, allow_nan=False),
    }  # fmt: skip
    page = re.sub("|".join(parts), lambda name: parts[name[0]], PAGE)
    (folder / "page.html").write_text(page, encoding="utf-8")
    found = seen_in_chromium((folder / "page.html").as_uri(), folder)
    assert found["silent"]
    assert found["left"] == 0
    assert found["standIn"] == ["none", "block"]
    assert all(look["finite"] for look in found["looks"].values())
    return found


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_every_control_of_a_rule_of_the_user_against_a_shipped_one(tmp_path, monkeypatch, theme):
    monkeypatch.setattr("refsvm.display.stepper.SLICE_SECONDS", 60.0)  # the end is one message
    data = make_banana(40, rng=1)
    rules = {"selector": Lowest(), "step": NewtonStep(), "against": SecondOrder()}
    stepper = Stepper(data.X, data.y, kernel=RBF(0.5), C=10.0, **rules)
    low, high = stepper.task.ranges
    lifted = (data.X[2] + 0.02 * (high[0] - low[0]) * np.array([0.0, 1.0])).tolist()
    wanted = [
        *[("step", [])] * 3, ("back", []), ("step", []), ("own", [1, 2]), ("relabel", [2]), ("move", [2, lifted]),
        ("add", [((low + high) / 2).tolist(), 1]), ("C", [100, False]),
        ("gamma", [1, True]), ("end", []), ("reset", []),
    ]  # fmt: skip
    answers, counts = answered(stepper, [{"do": do, "with": values} for do, values in wanted])
    found = browse(tmp_path, answers, RACE, theme)
    assert [each["do"] for each in found["sent"]] == [do for do, _ in wanted]
    for sent, (_, values) in zip(found["sent"], wanted, strict=True):
        assert len(sent["with"]) == len(values)
        for a, b in zip(sent["with"], values, strict=True):
            assert a == pytest.approx(b)
    looks = found["looks"]
    for name, k in {"three": 2, "again": 4, "changed": 10, "end": 11, "reset": 12}.items():
        for shown, line in zip(looks[name]["counts"], counts[k], strict=True):
            assert shown.startswith(f"{line}, f = "), name
    assert looks["start"]["enabled"] == ["reset", "step", "play", "end", "predict", "minus", "plus"]
    assert "back" in looks["three"]["enabled"]
    assert not {"step", "play", "end"} & set(looks["end"]["enabled"])
    assert all("The KKT gap is at most tol." in line for line in looks["end"]["counts"])
    assert looks["three"]["letters"] == [["i", "j"], ["i", "j"]]
    assert looks["hidden"]["letters"] == [[], ["i", "j"]]
    assert looks["hidden"]["pair"][0] == "Hidden until both examples are tapped, or Reveal is pressed."
    assert "You said (0, 1), the pair is (" in looks["guessed"]["said"]
    assert "of 1 right" in looks["guessed"]["said"]
    assert looks["reset"]["said"].startswith("Step 0; from the beginning")
    assert looks["three"]["lines"] == 2
    for name in ("start", "three", "end"):
        for line, costs in zip(looks[name]["counts"], looks[name]["costs"], strict=True):
            f, F = (float(value) for value in re.search(r"f = (\S+), F = ([^\s,]+)", line).groups())
            assert f"f = {f:.5g}, solid, and F = {F:.5g}, dashed" in costs
    assert all(told.startswith("Solid, (") for told in looks["three"]["rivals"])
    assert looks["hidden"]["rivals"][0].startswith("Hidden until")
    assert looks["end"]["rivals"] == ["No pair is left to compare."] * 2


class Broken(MostViolatingPair):
    """Fails after two steps."""

    def select(self, state):
        return super().select(state) if state.iteration < 2 else state.nothing


@pytest.mark.parametrize(
    "given",
    [
        {"y": make_banana(30, rng=1).X[:, 0], "epsilon": 0.1},
        {"nu": 0.3},
        {"y": make_banana(30, rng=1).y, "C": np.inf, "kernel": RBF(5.0)},
        {"X": np.hstack([make_banana(30, rng=1).X] * 2), "y": make_banana(30, rng=1).y},
        {"X": make_banana(400, rng=1).X, "y": make_banana(400, rng=1).y},
    ],
    ids=["regression", "novelty", "hard margin", "four features", "many"],
)
def test_other_kinds_are_drawn(tmp_path, given):
    stepper = Stepper(**{"X": make_banana(30, rng=1).X, "kernel": RBF(0.5), **given}, selector=Broken())
    answers, counts = answered(stepper, [{"do": "step"}] * 2)
    found = browse(tmp_path, answers, 'await press("step"); look("one"); await press("step"); look("two");')
    assert found["looks"]["one"]["counts"][0].startswith(counts[0][0])
    assert found["looks"]["one"]["pair"][0].startswith("α")
    assert found["looks"]["one"]["failure"] == [""]
    n, bars = stepper.task.problem.n, found["looks"]["one"]["bars"]
    assert (n <= bars <= 2 * n) if n < 300 else (2 <= bars <= 4)  # of many bars one path for each look
    assert found["looks"]["one"]["lines"] == int(stepper.task.in_plane)
    assert "state.nothing" in found["looks"]["two"]["failure"][0]
    assert "AttributeError" in found["looks"]["two"]["pair"][0]
    assert "step" not in found["looks"]["two"]["enabled"]
