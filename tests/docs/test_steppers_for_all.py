"""The steppers by keyboard, by ear, by finger and without colours."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from .steppers import SCRIPTS, browse, needs_chromium

pytestmark = [
    pytest.mark.skipif(not SCRIPTS.is_dir(), reason="docs is not here"),
    pytest.mark.slow,
    needs_chromium,
]

AXE = Path(os.environ.get("REFSVM_AXE", "node_modules/axe-core/axe.min.js"))
"""axe-core, `npm install axe-core`, where these pages are searched for barriers."""

LOOK = """
const all = (root, selector) => [...root.querySelectorAll(selector)], found = [];
const seen = (e) => e.checkVisibility();
const boxes = (list) => list.filter(seen).map((e) => e.getBoundingClientRect());
for (const root of all(document, ".stepper")) {
  for (const each of all(root, "details")) each.open = true;
  const selector = root.querySelector("[data-set=selector]");
  if (selector) { selector.value = "own"; selector.dispatchEvent(new Event("change")); }
  const stops = all(root, "button, input, select, summary, [tabindex]").filter((e) => seen(e) && e.tabIndex >= 0);
  const touched = boxes(all(root, "button, select, input, summary"));
  const names = stops.map((e) => e.ariaLabel || (e.labels && e.labels[0] ? e.labels[0] : e).textContent.trim());
  for (const each of all(root, "details")) each.open = false;
  const [buttons] = boxes(all(root, ".stepper-buttons")), [picture] = boxes(all(root, "[data-panel=points]"));
  const sides = touched.flatMap((box) => [box.width, box.height]);
  found.push({ stops: stops.length, least: Math.min(...sides), screen: picture.bottom - buttons.top,
    wide: root.scrollWidth - root.clientWidth, names });
}
return found;
"""

HEAR = """
const root = document.querySelector(".stepper"), said = root.querySelector("[role=status]"), found = {};
const press = (name) => root.querySelector(`[data-do=${name}]`).click();
const points = root.querySelector("[data-panel=points]"), heard = () => said.textContent;
const key = (name, element = points) =>
  element.dispatchEvent(new KeyboardEvent("keydown", { key: name, bubbles: true }));
found.places = document.querySelectorAll("[role=status]").length;
key("ArrowRight", root.querySelector("[data-do=step]"));
found.stepped = heard();
found.pair = root.steps().at(-1).sets[0].slice(0, 2).map((t) => [t, root.steps().at(-1).alpha[t]]);
key("ArrowLeft", root.querySelector("[data-do=step]"));
found.back = heard();
key("n");
found.first = heard();
key("n");
found.second = heard();
key("ArrowUp");
found.moved = heard();
key("Enter");
found.taken = heard();
const selector = root.querySelector("[data-set=selector]");
selector.value = "second-order";
selector.dispatchEvent(new Event("change"));
press("play");
found.playing = said.getAttribute("aria-live");
await new Promise((done) => setTimeout(done, 700));
press("play");
press("end");
found.live = said.getAttribute("aria-live");
const text = (root, panel) => [...root.querySelectorAll(`[data-panel=${panel}] text`)].map((each) => each.textContent);
const [stepper, path] = document.querySelectorAll(".stepper");
found.classes = [text(stepper, "gradient"), text(path, "margins")];
const dashes = (name) => [...new Set([...path.querySelectorAll(`[data-panel=shares] .tube.${name}`)].map((each) =>
  getComputedStyle(each).strokeDasharray))];
found.dashes = [dashes("negative"), dashes("positive")];
const bars = [...stepper.querySelectorAll("[data-panel=gradient] rect:not(.gap)")];
found.bars = bars.map((each) => [each.classList[0], Number(each.getAttribute("x"))]);
return found;
"""

BUSY = """
for (const each of document.querySelectorAll("details")) each.open = true;
const busy = document.querySelector(".stepper"), choose = (name, value) => {
  const select = busy.querySelector(`[data-set=${name}]`);
  select.value = value;
  select.dispatchEvent(new Event("change"));
};
const strike = (key) => busy.querySelector("[data-panel=points]").dispatchEvent(new KeyboardEvent("keydown", { key }));
choose("against", "second-order");
busy.querySelector("[data-do=end]").click();
choose("tap", "out");
strike("n");
strike("Enter");
"""
"""A second run to the end, and an example that is left out."""

SEARCH = """
const found = await axe.run(document, { resultTypes: ["violations"], preload: false });
return found.violations.map(({ id, impact, nodes }) => [id, impact, nodes.map((each) => each.html.slice(0, 120))]);
"""


def both(page):
    """Both steppers in one page."""
    pytest.importorskip("contourpy")
    pytest.importorskip("scipy")
    return page.Stepper(selector="mvp").html() + page.PathStepper().html()


def test_a_picture_and_the_buttons_fit_a_phone(page, tmp_path):
    for each in browse(page, tmp_path, both(page), BUSY + LOOK, size=(500, 844), width="390px"):
        assert each["stops"] <= 30
        assert all(each["names"]), "; ".join(each["names"])
        assert each["least"] >= 44.0
        assert each["screen"] <= 700.0  # with five lines of words on an example that is left out
        assert each["wide"] <= 0


def test_words_say_example_label_and_alpha_and_what_happened(page, tmp_path):
    found = browse(page, tmp_path, both(page), HEAR)
    assert found["places"] == 2
    for t, alpha in found["pair"]:
        assert f"α of example {t}, label " in found["stepped"]
        assert (
            f"{'rose' if alpha > 0 else 'fell'} to {'−' if alpha < 0 else ''}{abs(alpha):.3g}"
            in found["stepped"]
        )
    assert "One step back" in found["back"]
    assert "Example 0: label −1, α = 0, at 0." in found["first"]
    assert "Example 1: label" in found["second"]
    assert "Moved, and α stays. Example 1: label" in found["moved"]
    assert "Taken as i. Example 1: label" in found["taken"]
    assert (found["playing"], found["live"]) == ("off", "polite")


def test_no_class_is_told_by_colour_alone(page, tmp_path):
    found = browse(page, tmp_path, both(page), HEAR)
    for texts, count in zip(found["classes"], (2, 1), strict=True):
        assert texts.count("−1") >= count
        assert texts.count("+1") == count
    assert found["dashes"] == [["3px, 2px"], ["none"]]
    for side in (lambda x: x < 160.0, lambda x: x >= 160.0):
        lasts = {
            name: [x for kind, x in found["bars"] if kind == name and side(x)]
            for name in ("negative", "positive")
        }
        assert max(lasts["negative"]) < min(lasts["positive"])


@pytest.mark.skipif(not AXE.is_file(), reason="axe-core is not installed; REFSVM_AXE names its axe.min.js")
@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("width", ["390px", "1280px"])
def test_no_serious_barrier_is_found(page, tmp_path, theme, width):
    size = (500, 844) if width == "390px" else (1280, 900)
    found = browse(
        page,
        tmp_path,
        both(page),
        BUSY + SEARCH,
        size=size,
        width=width,
        theme=theme,
        scripts=[AXE.resolve()],
    )
    assert [each for each in found if each[1] in ("serious", "critical")] == []
