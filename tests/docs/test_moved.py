"""Old addresses lead to pages, and to sections of them, that are there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from ..programs import module

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
pytestmark = pytest.mark.skipif(not DOCS.is_dir(), reason="the documentation is not here")
pytest.importorskip("sphinx")

moved = module("moved", "docs/_ext")
SOURCES = {"api/index": DOCS / "layout.md"}
"""Files whose sections a page includes."""


def text_of(page):
    """Return the text that a page is made from."""
    if page.startswith("gallery/examples/"):
        return (DOCS / "examples" / f"{page.rpartition('/')[2]}.py").read_text(encoding="utf-8")
    return SOURCES.get(page, DOCS / f"{page}.md").read_text(encoding="utf-8")


def anchors(text):
    """Return the anchors of the headings of a page in Markdown or in comments of a script."""
    titles = re.findall(r"(?m)^#+ (.+)$", text)
    return {re.sub(r"[^\w\- ]", "", title).strip().lower().replace(" ", "-") for title in titles}


@pytest.mark.parametrize(("old", "place", "file"), list(moved.forwarded()), ids=lambda each: each)
def test_an_old_address_leads_to_a_page_or_names_a_file(old, place, file):
    assert not (DOCS / f"{old}.md").is_file() or file or old == "layout"
    page, _, section = place.partition("#")
    if file:
        assert (ROOT / file).is_file()
        assert f"<code>{file}</code>" in moved.stub(old, place, file)
        return
    up = "../" * old.count("/")
    assert f'location.replace("{up}{page}.html"' in moved.stub(old, place, file)
    if page != moved.LECTURES:
        assert not section or section in anchors(text_of(page))


def test_every_decision_and_every_lecture_has_its_old_address():
    old = [each for each, *_ in moved.forwarded()]
    assert len(old) == len(set(old))
    assert sum(each.startswith("decisions/") for each in old) == len(list((DOCS / "decisions").glob("*.md")))
    assert sum(each.startswith("lecturing/") and each != "lecturing/plans" for each in old) == len(
        list((ROOT / "tutorials").glob("[0-9]*.py"))
    )
