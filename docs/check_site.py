"""Load every page of a built site as a reader does: ``python docs/check_site.py docs/_build/html``.

At 1280 and 390 pixels, light and dark, in Chromium, from the disk. Reported are console messages, requests to outside,
a navigation bar of two rows, and what is cut without a cue: what sticks out of the page, and what scrolls sideways
without fading at its edge.
Needs ``pip install playwright`` and a Chromium.
``--only 12_ glossary`` checks the pages whose path contains one of these, ``--chapters`` leaves the pages of the
modules out, ``--part 2/3`` checks every third page from the second on, ``--jobs`` says in how many browsers at once,
and ``--shots FOLDER`` keeps a picture of every page. Slides have their size and no theme, and are left out: kit.py
names what sticks out of a slide. Pages of modules hold no script of their own, and are loaded once
for both widths.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from os import cpu_count
from pathlib import Path
from shutil import which
from typing import Any

WIDTHS, HEIGHT, THEMES = (1280, 390), 844, ("light", "dark")

OF_MODULES = "_modules", "api/generated"

TURN = "(theme) => { document.documentElement.dataset.theme = theme; }"
CUT = Path(__file__).with_suffix(".js").read_text(encoding="utf-8")


def complaints(page: Any, url: str, *, loads: bool) -> Iterator[tuple[str, str]]:
    """What is wrong with one page: (where, what). It is loaded at each width, or made narrow."""
    heard: list[str] = []
    listeners = {
        # the theme itself says which mode it is in
        "console": lambda message: (
            None if message.text.startswith("[PST]") else heard.append(f"console: {message.text}")
        ),
        "pageerror": lambda error: heard.append(f"error: {error}"),
        # what was still on its way when the next page was asked for has not failed
        "requestfailed": lambda request: (
            None if request.failure == "net::ERR_ABORTED" else heard.append(f"failed: {request.url}")
        ),
        "request": lambda request: (
            None
            if request.url.startswith(("file:", "data:", "blob:"))
            else heard.append(f"outside: {request.url}")
        ),
    }
    for event, listener in listeners.items():
        page.on(event, listener)
    for width in WIDTHS:
        if loads or width == WIDTHS[0]:
            show(page, url, width)
        else:
            page.set_viewport_size({"width": width, "height": HEIGHT})
            page.wait_for_function("(width) => innerWidth === width", arg=width)
            page.evaluate("() => { dispatchEvent(new Event('resize')); }")  # edges.js, on a busy machine too
        for theme in THEMES:
            page.evaluate(TURN, theme)
            yield from ((f"{width} {theme}", what) for what in page.evaluate(CUT))
    yield from (("loading", what) for what in heard)
    for event, listener in listeners.items():
        page.remove_listener(event, listener)


def show(page: Any, url: str, width: int) -> None:
    """Load a page at a width, until its formulas are there."""
    page.set_viewport_size({"width": width, "height": HEIGHT})
    page.goto(url)
    page.evaluate("() => window.MathJax?.startup?.promise.then(() => null)")
    page.evaluate("() => { for (const folded of document.querySelectorAll('details')) folded.open = true; }")
    page.wait_for_timeout(50)  # edges.js hears of it


def keep_shots(page: Any, url: str, folder: Path, name: str) -> None:
    """Keep a picture of the page at both widths, of the phone's in the dark."""
    for width, theme in zip(WIDTHS, THEMES, strict=True):
        show(page, url, width)
        page.evaluate(TURN, theme)
        page.screenshot(path=folder / f"{name.replace('/', '_')}_{width}.png", full_page=True)


def is_old(file: Path) -> bool:
    """Whether a file stands at an old address, and leads to the present one at once."""
    return 'http-equiv="refresh"' in file.read_text(encoding="utf-8")[:200]


def check(pages: dict[str, Path], shots: Path | None) -> Iterator[tuple[str, str, list[str]]]:
    """Look at pages one after another, in a browser of their own: (page, what, where)."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as play:
        browser = play.chromium.launch(executable_path=which("chromium"), args=["--no-sandbox"])
        page = browser.new_page()
        page.set_default_timeout(120_000)  # a busy machine
        for name, file in pages.items():
            seen: dict[str, list[str]] = {}
            for where, what in complaints(page, file.as_uri(), loads=not name.startswith(OF_MODULES)):
                seen.setdefault(what, []).append(where)
            for what, places in seen.items():
                print(f"{name}: {what}  [{', '.join(places)}]", flush=True)
                yield name, what, places
            if shots:
                keep_shots(page, file.as_uri(), shots, name)
        browser.close()


def main() -> int:
    """Check all pages; the exit code is 1 if anything was found."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("site", type=Path)
    parser.add_argument(
        "--only", nargs="+", default=[""], help="pages whose path contains one of these, all by default"
    )
    parser.add_argument("--chapters", action="store_true", help="without the pages of modules")
    parser.add_argument("--part", default="1/1", metavar="K/N", help="the K-th of N parts of the pages")
    parser.add_argument(
        "--jobs", type=int, default=cpu_count(), help="browsers at once, one a core by default"
    )
    parser.add_argument("--shots", type=Path, help="a folder for pictures")
    options = parser.parse_args()

    site = options.site.resolve()
    left_out = ("_static", "slides", *(OF_MODULES if options.chapters else ()))
    names = {str(file.relative_to(site).with_suffix("")): file for file in sorted(site.rglob("*.html"))}
    names = {name: file for name, file in names.items() if not is_old(file)}
    pages = [
        name for name in names if not name.startswith(left_out) and any(only in name for only in options.only)
    ]
    part, parts = map(int, options.part.split("/"))
    pages = pages[part - 1 :: parts]
    if options.shots:
        options.shots.mkdir(parents=True, exist_ok=True)
    shares = [{name: names[name] for name in pages[k :: options.jobs]} for k in range(options.jobs)]
    with ThreadPoolExecutor(options.jobs) as pool:
        found = [
            each
            for share in pool.map(lambda share: list(check(share, options.shots)), shares)
            for each in share
        ]
    total = Counter(what.split(":")[0] for _, what, places in found for _ in places)
    print(f"{len(pages)} pages, {sum(total.values())} complaints {dict(total)}")
    return 1 if total else 0


if __name__ == "__main__":
    sys.exit(main())
