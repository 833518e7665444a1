"""The steppers by keyboard, by ear, by finger and without colours."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest

from ..programs import needs
from .steppers import CHROMIUM, IN_CHROMIUM, browse, write

pytestmark = IN_CHROMIUM

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
const said = root.querySelector("[role=status]"), found = {}, heard = () => said.textContent;
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
set("selector", "second-order");
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
set("against", "second-order");
press("end");
set("tap", "out");
key("n");
key("Enter");
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
        moved = f"{'rose' if alpha > 0 else 'fell'} to {'−' if alpha < 0 else ''}{abs(alpha):.3g}"
        assert all(each in found["stepped"] for each in (f"α of example {t}, label ", moved))
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
    for is_right in (False, True):
        bars = [(kind, x) for kind, x in found["bars"] if (x >= 160.0) == is_right]
        below, above = ([x for kind, x in bars if kind == name] for name in ("negative", "positive"))
        assert max(below) < min(above)


AT = "() => { const at = document.activeElement; return at.dataset.do || at.ariaLabel || at.tagName; }"
"""Name of what has the focus."""


class Reader:
    """Reads a path stepper by keyboard alone."""

    def __init__(self, page):
        self.page, self.keys = page, page.keyboard
        self.slider = page.get_by_role("slider", name="C")

    def stops(self, count):
        """What is met by that many presses of Tab."""
        found = []
        for _ in range(count):
            self.keys.press("Tab")
            found.append(self.page.evaluate(AT))
        return found

    def press(self, name, *keys):
        """C, as it is told, after some keys on a control."""
        for _ in range(10):
            if self.page.evaluate(AT) == name:
                break
            self.keys.press("Tab")
        assert self.page.evaluate(AT) == name
        for key in keys:
            self.keys.press(key)
        return float(self.slider.get_attribute("aria-valuetext"))

    def can(self, name):
        """Whether a button is enabled."""
        return self.page.get_by_role("button", name=name).is_enabled()


def check_events_and_ends(reader, options):
    """Whether buttons and arrows go from one breakpoint to the next, and the slider from end to end."""
    breakpoints = options.path().C
    later = breakpoints[breakpoints > np.sqrt(options.C_min * options.C_max)]
    walk = [("Enter",), ("ArrowRight", "Space"), ("ArrowLeft",)]
    seen = [reader.press("step", *keys) for keys in walk] + [reader.press("back", "Enter")]
    assert seen == pytest.approx(later[[0, 2, 1, 0]], rel=5e-3)  # of C three digits are told
    assert reader.press("C", "ArrowRight") > seen[-1]
    assert (reader.press("C", "End"), reader.can("Next event")) == (options.C_max, False)
    assert (reader.press("C", "Home"), reader.can("Event before")) == (options.C_min, False)


def check_play_link_and_tree(reader):
    """Whether Play goes on and ends, the link has C, and each control has its name."""
    reader.press("play", "Enter")
    told = "document.querySelector('.stepper output').textContent"
    reader.page.wait_for_function(f"() => Number({told}) > 0.05")
    reader.press("play", "Enter")
    reader.page.get_by_role("button", name="Play").wait_for()
    C = reader.press("link", "Enter")
    assert float(reader.page.url.split("?C=")[1]) == pytest.approx(C, rel=5e-3)
    tree = reader.page.locator(".stepper").aria_snapshot()
    for name in ('button "Event before"', 'slider "C"', 'img "α/C of every example"', "status"):
        assert name in tree


@needs("playwright")
@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1280])
def test_the_path_stepper_is_driven_by_keyboard_alone(page, tmp_path, theme, width):
    pytest.importorskip("contourpy")
    pytest.importorskip("scipy")
    from playwright.sync_api import sync_playwright

    options, wrong = page.PathStepper(), []
    address = write(page, tmp_path, options.html(), theme=theme)
    with sync_playwright() as programs:
        chromium = programs.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        seen = chromium.new_page(viewport={"width": width, "height": 844})
        seen.on("pageerror", lambda error: wrong.append(str(error)))
        seen.goto(address)
        reader = Reader(seen)
        assert reader.stops(5) == ["back", "step", "play", "link", "C"]
        check_events_and_ends(reader, options)
        check_play_link_and_tree(reader)
        assert seen.evaluate("document.documentElement.scrollWidth") <= width
        chromium.close()
    assert wrong == []


@pytest.mark.skipif(not AXE.is_file(), reason="axe-core is not installed; REFSVM_AXE names its axe.min.js")
@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("width", ["390px", "1280px"])
def test_no_serious_barrier_is_found(page, tmp_path, theme, width):
    size = (500, 844) if width == "390px" else (1280, 900)
    look = {"size": size, "width": width, "theme": theme, "scripts": [AXE.resolve()]}
    found = browse(page, tmp_path, both(page), BUSY + SEARCH, **look)
    assert [each for each in found if each[1] in ("serious", "critical")] == []


FIRST = """
const found = { steps: root.steps().length - 1 };
const seen = [...root.querySelectorAll("button, input, select, summary")].filter((each) => each.checkVisibility());
found.seen = seen.map((each) => each.dataset.do || each.dataset.set || each.textContent);
found.before = root.querySelector("[data-panel=points]").getBoundingClientRect().bottom;
press("step");
found.after = root.steps().length - 1;
root.querySelector(".stepper-more").open = true;
press("reset");
found.reset = root.steps().length - 1;
found.more = root.querySelector("[data-panel=gradient]").checkVisibility();
return found;
"""


@pytest.mark.parametrize("size", [(1280, 800), (500, 844)])
def test_a_page_may_begin_with_the_picture_at_a_later_step(page, tmp_path, size):
    """The window of a headless browser is at least 500 pixels wide."""
    found = browse(page, tmp_path, page.Stepper(at=16).html(), FIRST, size=size)
    assert (found["steps"], found["after"], found["reset"]) == (16, 17, 0)
    assert found["seen"] == ["step", "play", "C", "More"]
    assert found["before"] < size[1]
    assert found["more"]
