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

CSS = """/* a comment */ .used{color:red}.unused{color:blue}.used .unused,.used>.other{margin:0}
@media (width < 40rem){.unused{top:0}} @media print{.used{top:0}} a:not(.used, .other){left:0}
@font-face{font-family:Font Awesome\\ 7 Free;src:url(x)} @charset "utf-8";"""


def test_rules_for_classes_that_no_page_uses_go():
    kept = lean.kept(CSS, {"used", "other"})
    assert "blue" not in kept
    assert ".used{color:red}" in kept
    assert ".used>.other{margin:0}" in kept
    assert "@media print{.used{top:0}}" in kept
    assert "40rem" not in kept
    assert "a:not(.used, .other){left:0}" in kept
    assert "font-face" not in kept


def test_words_in_the_colour_of_the_text_lose_their_element():
    code = '<span class="n">a</span><span class="o">=</span><span class="p">(</span>'
    assert lean.PLAIN.sub(r"\1", code) == 'a<span class="o">=</span>('


def test_every_icon_of_the_theme_is_drawn():
    drawn = set(
        re.findall(r"(?m)^\.(fa-[\w-]+) \{ --icon", (DOCS / "_static" / "icons.css").read_text("utf-8"))
    )
    own = "\n".join(file.read_text("utf-8") for file in (DOCS / "_templates").glob("*.html"))
    assert len(drawn) > 10
    assert set(re.findall(r"fa-solid (fa-[\w-]+)", own)) <= drawn


@pytest.mark.parametrize(
    ("mathml", "written"),
    [
        ('<math xmlns="http://x">\n  <mi>K</mi>\n</math>', "<math><mi>K</mi></math>"),
        ('<mi mathvariant="script">E</mi>', "<mi>\u2130</mi>"),
        ('<mn mathvariant="bold">1</mn>', "<mn>\U0001d7cf</mn>"),
        ('<mi mathvariant="normal">T</mi>', '<mi mathvariant="normal">T</mi>'),
        ("<mo>{</mo><mo>\u2212</mo><mn>1</mn>", '<mo>{</mo><mo form="prefix">\u2212</mo><mn>1</mn>'),
        ("<mo>)</mo><mo>\u2212</mo><mn>1</mn>", "<mo>)</mo><mo>\u2212</mo><mn>1</mn>"),
    ],
)
def test_mathml_is_what_browsers_read(mathml, written):
    assert formulas.compact(mathml) == written


@pytest.mark.skipif(formulas.NODE is None, reason="Node.js is not here")
def test_a_formula_is_translated_and_a_wrong_one_is_refused():
    pytest.importorskip("sphinx-mathjax-offline")
    assert "<mi>\u03b1</mi>" in formulas.translated(r"\alpha^\top K", display=False).replace(
        "&#x3B1;", "\u03b1"
    )
    with pytest.raises(formulas.ExtensionError, match="cannot be read"):
        formulas.translated(r"\frac{a", display=False)
    formulas.end(None, None)
