"""Formulas become MathML, and styles lose what no page uses."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from ..programs import module

DOCS = Path(__file__).parents[2] / "docs"
pytestmark = pytest.mark.skipif(not DOCS.is_dir(), reason="the documentation is not here")
pytest.importorskip("sphinx")

lean, formulas = module("lean", "docs/_ext"), module("formulas", "docs/_ext")


def test_what_no_page_uses_goes():
    css = ".used{color:red}.unused,.used .unused{top:0}@media print{.used{top:0}.unused{left:0}}"
    fonts = "/* a comment */ @font-face{font-family:Font Awesome\\ 7 Free;src:url(x)}"
    assert lean.kept(css + fonts, {"used"}) == ".used{color:red}@media print{.used{top:0}}"
    assert (
        lean.PLAIN.sub(r"\1", '<span class="n">a</span><span class="o">=</span>')
        == 'a<span class="o">=</span>'
    )
    given = '<math xmlns="http://x">\n  <mi mathvariant="script">E</mi><mo>{</mo><mo>\u2212</mo>\n</math>'
    assert formulas.compact(given) == '<math><mi>\u2130</mi><mo>{</mo><mo form="prefix">\u2212</mo></math>'


def test_every_icon_of_the_theme_is_drawn():
    drawn = set(
        re.findall(r"(?m)^\.(fa-[\w-]+) \{ --icon", (DOCS / "_static" / "icons.css").read_text("utf-8"))
    )
    own = "\n".join(file.read_text("utf-8") for file in (DOCS / "_templates").glob("*.html"))
    assert len(drawn) > 10
    assert set(re.findall(r"fa-solid (fa-[\w-]+)", own)) <= drawn


@pytest.mark.skipif(formulas.NODE is None, reason="Node.js is not here")
def test_a_formula_is_translated_and_a_wrong_one_is_refused():
    pytest.importorskip("sphinx-mathjax-offline")
    assert "<mi>\u03b1</mi>" in formulas.translated(r"\alpha^\top K", display=False).replace(
        "&#x3B1;", "\u03b1"
    )
    with pytest.raises(formulas.ExtensionError, match="cannot be read"):
        formulas.translated(r"\frac{a", display=False)
    formulas.end(None, None)
