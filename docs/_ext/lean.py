"""Lean pages: after the build, styles and pages lose parts that no reader sees.

A rule of a style stays if each class of its selector is a word of some page or script of the site. Scripts make
elements, so all of their words count. Fonts of icons go: ``_static/icons.css`` draws the icons. In code, words in the
colour of the text need no element of their own, and links need no tooltip.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

__all__ = ["kept", "words"]

STYLES = "styles/pydata-sphinx-theme.css", "sphinx-design.min.css", "basic.css", "sg_gallery.css"
"""Styles of packages; those of these pages are written by hand."""

PLAIN = re.compile(r'<span class="(?:n|p|w|nn|nx|bp)">([^<]*)</span>')
"""Words of code whose class has the colour of the text, in the light and in the dark."""

BACK = re.compile(r'<a class="sphx-glr-backref-[^"]*" (href="[^"]*") title="[^"]*">')
"""What sphinx-gallery adds to links in code."""

ICONS = re.compile(r'<script defer src="[^"]*/fontawesome\.js[^"]*"></script>\s*')


def words(folder: Path) -> set[str]:
    """Return all words of pages and scripts."""
    found: set[str] = set()
    for file in filter(Path.is_file, (*folder.rglob("*.html"), *folder.rglob("*.js"))):
        if file.name != "searchindex.js":
            text = file.read_text(encoding="utf-8", errors="replace")
            if file.suffix == ".html":
                text = " ".join(re.findall(r'\bclass="([^"]*)"', text))
            found |= set(re.findall(r"[\w-]+", text))
    return found


def blocks(css: str) -> Iterator[tuple[str, str]]:
    """Yield each rule of a style: what stands before its braces and in them. Statements without braces have None."""
    begin = at = 0
    while at < len(css):
        if css[at] == ";":
            yield css[begin : at + 1], ""
            begin = at + 1
        elif css[at] == "{":
            depth, end = 1, at + 1
            while depth:
                depth += {"{": 1, "}": -1}.get(css[end], 0)
                end += 1
            yield css[begin:at], css[at + 1 : end - 1]
            begin, at = end, end - 1
        at += 1


def kept(css: str, used: set[str]) -> str:
    """Return a style without the rules for classes that are not used."""
    parts = []
    for head, body in blocks(re.sub(r"/\*.*?\*/", "", css, flags=re.DOTALL)):
        name = head.strip()
        if not body:
            parts.append(head)
        elif name.startswith(("@media", "@supports", "@layer")):
            inner = kept(body, used)
            parts.append(f"{name}{{{inner}}}" if inner else "")
        elif name == "@font-face" and "Awesome" in body:
            continue
        elif name.startswith("@"):
            parts.append(f"{name}{{{body}}}")
        else:
            selectors = [
                each for each in split(name) if used >= set(re.findall(r"\.(-?[A-Za-z_][\w-]*)", each))
            ]
            parts.append(f"{','.join(selectors)}{{{body}}}" if selectors else "")
    return "".join(parts)


def split(selectors: str) -> list[str]:
    """Return the selectors of a list, whose commas in brackets part nothing."""
    return re.split(r",(?![^(\[]*[)\]])", selectors)


def make_lean(app: Any, error: Exception | None) -> None:
    """Write pages and styles again."""
    if error is not None or app.builder.format != "html":
        return
    site = Path(app.outdir)
    for file in site.rglob("*.html"):
        text = file.read_text(encoding="utf-8")
        lean = ICONS.sub("", BACK.sub(r"<a \1>", PLAIN.sub(r"\1", text)))
        if lean != text:
            file.write_text(lean, encoding="utf-8")
    used = words(site)
    for name in STYLES:
        file = site / "_static" / name
        if file.is_file():
            file.write_text(kept(file.read_text(encoding="utf-8"), used), encoding="utf-8")


def setup(app: Any) -> dict[str, bool]:
    """Make pages and styles lean when all files are there."""
    app.connect("build-finished", make_lean, priority=900)
    return {"parallel_read_safe": True}
