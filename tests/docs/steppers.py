"""The scripts of the steppers, run in Node.js, or in a page of Chromium that drives itself."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from ..programs import needs, seen_in_chromium

__all__ = [
    "CHROMIUM", "DOCS", "IN_CHROMIUM", "SCRIPTS", "browse", "needs_chromium", "needs_node", "node", "write",
]  # fmt: skip

DOCS = Path(__file__).parents[2] / "docs"
SCRIPTS = DOCS / "_static" / "stepper"
NODE, CHROMIUM = shutil.which("node"), shutil.which("chromium")

needs_node, needs_chromium = needs("node"), needs("chromium")
IN_CHROMIUM = [
    pytest.mark.skipif(not SCRIPTS.is_dir(), reason="docs is not here"),
    pytest.mark.slow,
    needs_chromium,
]

PAGE = """<!doctype html><html lang="en" data-theme="THEME"><meta charset="utf-8"><title>Steppers</title>
<link rel="icon" href="data:,"><style>.bd-main .bd-content .bd-article-container { overflow-x: auto; }
body { margin: 0; width: WIDTH; }</style>STYLE<main class="bd-main"><div class="bd-content">
<div class="bd-article-container"><h1>Steppers</h1>HTML</div></div></main>SCRIPTS<script>
window.addEventListener("load", async () => {
  const root = document.querySelector(".stepper"), points = root.querySelector("[data-panel=points]");
  const press = (name, stepper = root) => stepper.querySelector(`[data-do=${name}]`).click();
  const set = (name, value) => {
    const input = root.querySelector(`[data-set="${name}"]`);
    input.value = value;
    input.dispatchEvent(new Event(input.type === "range" ? "input" : "change"));
  };
  const key = (name, element = points) =>
    element.dispatchEvent(new KeyboardEvent("keydown", { key: name, bubbles: true }));
  const leave = () => points.dispatchEvent(new Event("blur"));
  const tap = (t) => { leave(); for (let k = 0; k <= t; k++) key("n"); key("Enter"); leave(); };
  const found = await (async () => {DRIVE})(), left = document.createElement("pre");
  left.id = "found";
  left.textContent = JSON.stringify(found);
  document.body.append(left);
});
</script>"""


def node(program, data):
    """Return what a program prints in Node.js, given some data."""
    command, given = [NODE, "--eval", program, str(SCRIPTS)], {"input": json.dumps(data), "text": True}
    run = subprocess.run(command, capture_output=True, check=False, timeout=60, **given)
    assert run.returncode == 0, run.stderr
    return json.loads(run.stdout)


def write(page, folder, html, drive="", *, width="auto", theme="light", scripts=()):
    """Write a page of steppers, which a program drives; return its address."""
    own = dict.fromkeys(name for names in page.SCRIPTS.values() for name in names)
    places = [each.as_uri() for each in (*map(page.script, own), *scripts)]
    parts = {
        "THEME": theme, "WIDTH": width, "HTML": html, "DRIVE": drive,
        "STYLE": f'<link rel="stylesheet" href="{page.script("stepper.css").as_uri()}">',
        "SCRIPTS": "".join(f'<script defer src="{each}"></script>' for each in places),
    }  # fmt: skip
    text = re.sub(r"\b(?:" + "|".join(parts) + r")\b", lambda name: parts[name[0]], PAGE)
    (folder / "page.html").write_text(text, encoding="utf-8")
    return (folder / "page.html").as_uri()


def browse(page, folder, html, drive, *, size=(800, 600), **look):
    """Return what a program finds in a page of steppers, after it has driven it; no error may be seen there."""
    address = write(page, folder, html, drive, **look)
    return seen_in_chromium(address, folder, f"--window-size={size[0]},{size[1]}")
