"""Formulas as MathML, which browsers show by themselves: a page loads neither MathJax nor its fonts.

MathJax translates each formula once, in Node.js, while the pages are built. Without Node.js pages load MathJax.
"""

from __future__ import annotations

import importlib.util
import json
import re
import shutil
import subprocess
from functools import cache
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.errors import ExtensionError

__all__ = ["NODE", "RENDERER", "compact", "translated"]

NODE = shutil.which("node")
RENDERER = "mathml" if NODE else "mathjax"
"""The name of the renderer, for `html_math_renderer`."""

LETTERS = {"bold": (0x1D400, 0x1D7CE), "double-struck": (0x1D538, 0x1D7D8), "script": (0x1D49C, 0)}
"""Where the mathematical alphabet of a variant begins in Unicode: its capitals, and its digits."""

EXCEPTIONS = dict(zip(
    [("script", letter) for letter in "BEFHILMR"] + [("double-struck", letter) for letter in "CHNPQRZ"],
    "ℬℰℱℋℐℒℳℛℂℍℕℙℚℝℤ", strict=True,
))  # fmt: skip
"""Letters that Unicode had before the alphabets."""


@cache
def process() -> subprocess.Popen[str]:
    """Start the program that translates."""
    package = importlib.util.find_spec("sphinx-mathjax-offline")
    folder = Path(str(package.origin)).parent / "static" / "mathjax"
    command = [str(NODE), str(Path(__file__).with_suffix(".js")), str(folder)]
    return subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, encoding="utf-8"
    )


@cache
def translated(tex: str, *, display: bool) -> str:
    """Return a formula as MathML."""
    program = process()
    program.stdin.write(json.dumps({"tex": tex, "display": display}) + "\n")
    program.stdin.flush()
    found = json.loads(program.stdout.readline())
    if "error" in found:
        raise ExtensionError(f"The formula {tex!r} cannot be read: {found['error']}")
    return compact(found["mathml"])


def compact(mathml: str) -> str:
    """Return MathML without blanks and attributes of MathJax, with letters in place of variants of them."""
    text = re.sub(r">\s+<", "><", mathml)
    text = re.sub(r' (?:xmlns|data-[\w-]+)="[^"]*"', "", text)
    # behind an operator or at the beginning of a group a sign belongs to the number behind it
    text = re.sub(
        r"(<mo[^>]*>[^<)\]}|!′]*</mo>)<mo>(−|&#x2212;|\+)</mo>", r'\1<mo form="prefix">\2</mo>', text
    )
    variant = r'<(m\w+)((?: [\w-]+="[^"]*")*?) mathvariant="([\w-]+)"([^>]*)>([^<]*)<'
    return re.sub(variant, as_letters, text)


def as_letters(found: re.Match[str]) -> str:
    """Return an element whose variant is in its letters; browsers know the variant "normal" alone."""
    tag, before, variant, after, text = found.groups()
    if variant == "normal":
        return found[0]
    return f"<{tag}{before}{after}>{''.join(letter(each, variant) for each in text)}<"


def letter(each: str, variant: str) -> str:
    """Return a letter or digit of a mathematical alphabet; the same character if the alphabet has none."""
    capitals, digits = LETTERS.get(variant, (0, 0))
    if (variant, each) in EXCEPTIONS:
        return EXCEPTIONS[variant, each]
    if capitals and "A" <= each <= "Z":
        return chr(capitals + ord(each) - ord("A"))
    if capitals and "a" <= each <= "z":
        return chr(capitals + 26 + ord(each) - ord("a"))
    return chr(digits + int(each)) if digits and "0" <= each <= "9" else each


def visit_math(writer: Any, node: nodes.math) -> None:
    """Write a formula in a line."""
    writer.body.append(writer.starttag(node, "span", "", CLASS="math notranslate nohighlight"))
    writer.body.append(f"{translated(node.astext(), display=False)}</span>")
    raise nodes.SkipNode


def visit_math_block(writer: Any, node: nodes.math_block) -> None:
    """Write a displayed formula; formulas that a blank line parts stand below one another."""
    parts = [part for part in node.astext().split("\n\n") if part.strip()]
    texts = [
        rf"\begin{{split}}{part}\end{{split}}" if r"\\" in part and "begin" not in part else part
        for part in parts
    ]
    writer.body.append(writer.starttag(node, "div", CLASS="math notranslate nohighlight"))
    writer.body += [translated(text, display=True) for text in texts]
    writer.body.append("</div>\n")
    raise nodes.SkipNode


def end(app: Any, error: Exception | None) -> None:
    """End the program."""
    if process.cache_info().currsize:
        program = process()
        program.stdin.close()
        program.stdout.close()
        program.wait()
        process.cache_clear()


def setup(app: Any) -> dict[str, bool]:
    """Register the renderer."""
    app.add_html_math_renderer("mathml", (visit_math, None), (visit_math_block, None))
    app.connect("build-finished", end)
    return {"parallel_read_safe": True, "parallel_write_safe": False}
