"""A reader drives the stepper in JupyterLab by keyboard alone, and sees what a stepper of this process holds."""

from __future__ import annotations

import json
import os
import secrets
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from contextlib import contextmanager

import pytest

from ..programs import needs

pytestmark = [pytest.mark.slow, needs("chromium", "jupyterlab", "playwright", "anywidget", "contourpy")]

PATIENCE = 60_000  # milliseconds for what takes a moment, also on a machine that is busy

RULE = '''
from time import sleep

import numpy as np

from refsvm import RBF, NewtonStep, SecondOrder, WorkingSetSelector
from refsvm.datasets import make_banana
from refsvm.display import Stepper


class Early(WorkingSetSelector):
    """The first variable that violates with the last one, and that one."""

    def select(self, state):
        sleep(0.01)
        up = np.flatnonzero(state.alpha < state.upper)
        early = up[state.gradient[up] > state.gradient[state.bottom] + 0.5]
        print(f"{len(early)} are early")
        return (int(early[0]), state.bottom) if len(early) else (state.top, state.bottom)
'''.strip()
SHOWN = """
data = make_banana(30, rng=1)
stepper = Stepper(
    data.X, data.y, kernel=RBF(0.5), C=10.0, selector=Early(), step=NewtonStep(), against=SecondOrder()
)
stepper
""".strip()

# A cell that is run before asks which kernel to take.
IDLE = """() => {
  const context = window.jupyterapp?.shell.currentWidget?.sessionContext;
  return context?.isReady && context.session?.kernel?.status === "idle";
}"""
# Where a control is: 0 if it has the focus, 1 if it comes after what has it, else −1.
WHERE = """(selector) => {
  const at = document.activeElement, to = document.querySelector(selector);
  return at === to ? 0 : at.compareDocumentPosition(to) & Node.DOCUMENT_POSITION_FOLLOWING ? 1 : -1;
}"""
STATES = """() => document.querySelector(".stepper").runs().map((s) => ({
  k: s.k, gap: s.gap, b: s.b, objective: s.objective, alpha: Array.from(s.alpha), G: Array.from(s.G),
  next: s.next && [s.next.i, s.next.j, s.next.mu] }))"""
CONTRAST = """(selector) => {
  const light = (colour) => colour.match(/[\\d.]+/g).slice(0, 3).map((v) => v / 255)
    .map((v) => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)
    .reduce((sum, v, k) => sum + v * [0.2126, 0.7152, 0.0722][k], 0);
  const paper = light(getComputedStyle(document.querySelector(".stepper")).backgroundColor);
  return Math.min(...[...document.querySelectorAll(`.stepper :is(${selector})`)].map((each) => {
    const look = getComputedStyle(each), v = light(each.closest("svg") ? look.fill : look.color);
    return (Math.max(v, paper) + 0.05) / (Math.min(v, paper) + 0.05);
  }));
}"""


WORDS = "button:enabled, label, p, figcaption, figcaption span, text, .stepper-run, .stepper-counts"


@contextmanager
def jupyterlab(folder):
    """Address of a server with settings of its own, and its token."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    token = secrets.token_hex(16)
    env = {name: value for name, value in os.environ.items() if not name.startswith(("JUPYTER", "COV_"))}
    for name in ("HOME", "JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR", "IPYTHONDIR"):
        env[name] = str(folder / name.lower())
        (folder / name.lower()).mkdir()
    command = [
        sys.executable, "-m", "jupyterlab", "--allow-root", "--no-browser", "--expose-app-in-browser",
        "--ServerApp.ip=127.0.0.1", f"--ServerApp.port={port}", "--ServerApp.port_retries=0",
        f"--ServerApp.root_dir={folder}", f"--IdentityProvider.token={token}",
        f"--LabApp.workspaces_dir={folder / 'workspaces'}",
        f"--LabApp.user_settings_dir={folder / 'settings'}", "--LabApp.extension_manager=readonly",
        "--LabApp.check_for_updates_class=jupyterlab.NeverCheckForUpdate",
    ]  # fmt: skip
    log = folder / "server.log"
    with log.open("w") as out, subprocess.Popen(command, env=env, stdout=out, stderr=out) as server:
        try:
            wait_for(f"http://127.0.0.1:{port}/api?token={token}", server, log)
            yield f"http://127.0.0.1:{port}", token
        finally:
            server.terminate()
            try:
                server.wait(20)
            except subprocess.TimeoutExpired:
                server.kill()


def wait_for(address, server, log):
    """Wait until the server answers."""
    ends = time.monotonic() + 2 * PATIENCE / 1000
    while True:
        try:
            with urllib.request.urlopen(address, timeout=5):
                return
        except OSError:
            assert server.poll() is None, log.read_text()
            assert time.monotonic() < ends, log.read_text()
            time.sleep(0.2)


def write_settings(folder, name, **values):
    """Write settings of JupyterLab before it reads them."""
    file = folder / "settings" / "@jupyterlab" / "apputils-extension" / f"{name}.jupyterlab-settings"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps(values), encoding="utf-8")


def write_notebook(folder, *sources):
    """Write a notebook whose cells were never run."""
    cell = {"cell_type": "code", "metadata": {}, "outputs": [], "execution_count": None}
    cells = [{**cell, "id": f"cell-{k}", "source": source} for k, source in enumerate(sources)]
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    notebook = {"cells": cells, "metadata": {"kernelspec": kernel}, "nbformat": 4, "nbformat_minor": 5}
    (folder / "steps.ipynb").write_text(json.dumps(notebook), encoding="utf-8")


@pytest.fixture(scope="module")
def lab(tmp_path_factory):
    """A browser, and a folder with the address of the server that shows it."""
    from playwright.sync_api import sync_playwright

    folder = tmp_path_factory.mktemp("lab")
    write_settings(folder, "notification", fetchNews="false", checkForUpdates=False)
    look = {"executable_path": shutil.which("chromium"), "args": ["--no-sandbox", "--disable-dev-shm-usage"]}
    with jupyterlab(folder) as server, sync_playwright() as playwright:
        browser = playwright.chromium.launch(**look)
        yield browser, folder, server
        browser.close()


class Reader:
    """Has a keyboard, and sees a page of JupyterLab; `twin` is the stepper that should be seen."""

    def __init__(self, page, twin):
        self.page, self.twin = page, twin

    def open(self, address, token):
        """Open the notebook, and wait until its kernel is there."""
        self.page.goto(f"{address}/lab/tree/steps.ipynb?token={token}", wait_until="domcontentloaded")
        self.page.wait_for_selector(".jp-Notebook .jp-Cell")
        self.page.wait_for_function(IDLE)

    def run_cells(self):
        """Run both cells, the second one when the first has run and left the focus to it."""
        cells = "[...document.querySelectorAll('.jp-Notebook .jp-Cell')]"
        for k, key in enumerate(["Shift+Enter", "Control+Enter"]):
            self.page.wait_for_function(f"document.activeElement === {cells}[{k}]")
            self.press(key)
            prompt = f"{cells}[{k}].querySelector('.jp-InputPrompt').textContent"
            self.page.wait_for_function(f"{prompt} === '[{k + 1}]:'")
        self.page.wait_for_selector("[data-do=reset]")

    def press(self, *keys):
        """Press keys, one after another."""
        for key in keys:
            self.page.keyboard.press(key)

    def go(self, selector):
        """Move the focus to a control by Tab."""
        for _ in range(60):
            where = self.page.evaluate(WHERE, selector)
            if where == 0:
                return
            self.press("Tab" if where > 0 else "Shift+Tab")
        raise AssertionError(f"Tab does not reach {selector}")

    def do(self, button, key="Enter"):
        """Press a button by a key."""
        self.go(f"[data-do={button}]")
        self.press(key)

    def said(self):
        """The line of words."""
        return self.page.text_content(".stepper-said")

    def until(self, found, wanted):
        """Wait until what is found is what is wanted."""
        ends = time.monotonic() + PATIENCE / 1000
        while found() != wanted and time.monotonic() < ends:
            self.page.wait_for_timeout(20)
        assert found() == wanted

    def sees(self):
        """Wait until the runs of the page are those of the twin, bit for bit."""
        wanted = [
            {
                "k": state.iteration, "gap": state.gap, "b": state.intercept, "objective": state.objective,
                "alpha": state.alpha.tolist(), "G": state.gradient.tolist(),
                "next": state.next and [state.next.i, state.next.j, state.next.length],
            }
            for state in self.twin.now
        ]  # fmt: skip
        self.until(lambda: self.page.evaluate(STATES), wanted)
        note = self.twin.note.rstrip(".")
        self.until(lambda: self.said().startswith(f"Step {self.twin.k}{f'; {note}' if note else ''}."), True)


def twin():
    """The stepper of the notebook, made here, where its rule takes no rest."""
    names = {}
    exec(f"{RULE}\nsleep = lambda seconds: None\n{SHOWN}", names)
    return names["stepper"]


@pytest.fixture
def reader(lab, request):
    browser, folder, (address, token) = lab
    write_settings(folder, "themes", theme=f"JupyterLab {request.param}")
    write_notebook(folder, RULE, SHOWN)
    page = browser.new_page(viewport={"width": 1400, "height": 1100})
    page.set_default_timeout(PATIENCE)
    page.errors = []
    page.on("pageerror", lambda error: page.errors.append(str(error)))
    reader = Reader(page, twin())
    reader.open(address, token)
    yield reader
    page.screenshot(path=folder / f"{request.param}.png")
    page.close()


def steps_back_and_forth(reader):
    for key in ("Enter", "Space", "ArrowRight"):
        reader.do("step", key)
        reader.twin.step()
        reader.sees()
    for key in ("ArrowLeft", "Enter"):
        reader.go("[data-do=back]")
        reader.press(key)
        reader.twin.back()
        reader.sees()


def plays(reader):
    reader.do("play")
    reader.until(lambda: reader.page.evaluate(STATES)[0]["k"] >= 3, True)
    reader.press("Enter")
    reader.until(lambda: reader.page.text_content("[data-do=play]"), "Play")
    reader.page.wait_for_timeout(400)  # a message may be on its way
    reader.twin.to(reader.page.evaluate(STATES)[0]["k"])
    reader.sees()


def reaches_and_changes(reader):
    """`test_stepper_in_a_browser` uses all controls; here Tab reaches them, and the kernel gets an example and C."""
    for each in ("do=end", "do=predict", "do=minus", "do=reset", "set=gamma", "set=warm", "panel=points"):
        reader.go(f"[data-{each}]")
    reader.do("plus")
    reader.twin.add([(low + high) / 2 for low, high in reader.twin.task.ranges.T.tolist()], 1)
    reader.sees()
    reader.go("[data-set=C]")
    reader.press("ArrowRight")
    value = reader.page.evaluate("10 ** Number(document.querySelector('[data-set=C]').value)")
    reader.twin.set_penalty(value, warm=True)
    reader.sees()


def is_seen_without_a_kernel(reader, lab):
    """The notebook is saved and opened with a new kernel, and nothing is run: pictures stand for the stepper."""
    _, _, (address, token) = lab
    page, strip = reader.page, ".jp-OutputArea img[alt*='Run the cell to step through it']"
    assert page.is_hidden(strip)
    reader.press("Control+s")
    page.wait_for_selector(".jp-mod-dirty", state="detached")
    for session in page.request.get(f"{address}/api/sessions?token={token}").json():
        page.request.delete(f"{address}/api/sessions/{session['id']}?token={token}")
    reader.open(address, token)
    page.wait_for_selector(strip)
    assert page.locator(".stepper").count() == 0
    assert page.evaluate("(strip) => document.querySelector(strip).naturalWidth", strip) > 500


@pytest.mark.parametrize("reader", ["Light", "Dark"], indirect=True)
def test_every_control_by_keyboard_alone(reader, request, lab):
    page = reader.page
    reader.run_cells()
    reader.sees()
    steps_back_and_forth(reader)
    plays(reader)
    reaches_and_changes(reader)
    # keys of JupyterLab that would delete, cut, split or change a cell
    reader.go("[data-do=step]")
    reader.press("d", "d", "x", "m", "a", "b")
    cells = "[...document.querySelectorAll('.jp-Notebook .jp-Cell')]"
    assert page.evaluate(f"{cells}.map((each) => each.matches('.jp-CodeCell'))") == [True, True]
    is_dark = request.node.callspec.params["reader"] == "Dark"
    paper = page.evaluate("getComputedStyle(document.querySelector('.stepper')).backgroundColor")
    assert paper == ("rgb(27, 31, 36)" if is_dark else "rgb(255, 255, 255)")
    assert page.evaluate(CONTRAST, WORDS) >= 4.5
    for width, across in ((900, "0 0 480 130"), (1400, "0 0 960 130")):  # words keep their size
        page.set_viewport_size({"width": width, "height": 1100})
        reader.until(lambda: page.get_attribute(".stepper-race", "viewBox"), across)
    is_seen_without_a_kernel(reader, lab)
    assert page.errors == []
