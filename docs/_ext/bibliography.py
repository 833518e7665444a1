"""Papers: ``.. bibtex:: platt1998`` prints entries of ``refsvm.bib``, and the year of a paper in a text is linked.

Chapters, pages and docstrings name a paper as a reader would, "R.-E. Fan, P.-H. Chen and C.-J. Lin (2005)"; nothing in
them is markup, so ``help()`` and notebooks show the same words. Where the surname of a first author stands before the
year of one of that author's entries, in the same paragraph, the year leads to the page of the bibliography.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from docutils import nodes
from sphinx.util.docutils import SphinxDirective

__all__ = ["FILE", "Paper", "named", "papers", "plain"]

FILE = Path(__file__).parents[1] / "refsvm.bib"
NEAR = 220
"""Characters between the surname and the year: authors and a title."""


class Paper(NamedTuple):
    """An entry of the file: its key, the first author's surname without accents and with them, the year, a word that
    tells it apart from others, and its text.
    """

    key: str
    author: str
    shown: str
    year: str
    said: str
    text: str


def plain(text: str) -> str:
    r"""Return a text without the accents of LaTeX or Unicode: M\"uller and Müller are Muller."""
    text = re.sub(r"\\(?:[a-zA-Z]+ ?|[\"'`^~])|[{}]", "", text)
    return "".join(each for each in unicodedata.normalize("NFD", text) if not unicodedata.combining(each))


def accented(authors: str) -> str:
    r"""Return the first surname of a list of authors with Unicode's accents: Sch\"olkopf is Schölkopf."""
    marks = {'"': "\u0308", "'": "\u0301", "`": "\u0300", "v": "\u030c", "~": "\u0303"}
    accent = r"\\([\"'`~]|v(?=\{))\{?(\w)\}?"
    text = re.sub(accent, lambda found: found[2] + marks[found[1]], authors.split(",", maxsplit=1)[0])
    return unicodedata.normalize("NFC", text)


@cache
def papers() -> dict[str, Paper]:
    """Return all entries by their keys."""
    found = {}
    for text in re.findall(r"(?ms)^@\w+\{.*?^\}$", FILE.read_text(encoding="utf-8")):
        fields = dict(re.findall(r"\b(author|year|said) *= *\{((?:[^{}]|\{[^{}]*\})*)\}", text))
        key = re.search(r"\{(\S+?),", text)[1]
        surname = plain(fields["author"]).split(",")[0]
        shown = re.sub(r" said = \{.*?\},", "", text)
        found[key] = Paper(
            key, surname, accented(fields["author"]), fields["year"], fields.get("said", ""), shown
        )
    return found


def named(text: str) -> Iterator[tuple[int, str]]:
    """Yield the place of each year that belongs to an entry, and the key of the entry."""
    years = list(re.finditer(r"\b(?:19|20)\d\d\b", text))
    words = plain_in_place(text) if years else ""
    for year in years:
        before = words[max(0, year.start() - NEAR) : year.start()]
        near = [
            (before.rfind(paper.author), bool(paper.said), paper.key)
            for paper in papers().values()
            if paper.year == year[0] and paper.said in words and re.search(rf"\b{paper.author}\b", before)
        ]
        if near:
            yield year.start(), max(near)[2]


def plain_in_place(text: str) -> str:
    """Return a text of the same length without accents."""
    return "".join(unicodedata.normalize("NFD", each)[0] for each in text)


def link(app: Any, doctree: nodes.document, docname: str) -> None:
    """Link the years of all papers that the paragraphs of a page name."""
    domain = app.env.get_domain("cite")
    places = {each.key: (each.bibliography_key.docname, each.citation_id) for each in domain.citations}
    if not places or docname == next(iter(places.values()))[0]:
        return
    for paragraph in list(doctree.findall(nodes.paragraph)):
        leaves = [
            leaf
            for leaf in paragraph.findall(nodes.Text)
            if not isinstance(leaf.parent, nodes.reference | nodes.literal | nodes.math)
        ]
        keys = dict(named("".join(map(str, leaves))))
        begin = 0
        for leaf in leaves:
            parts: list[nodes.Node] = []
            done = 0
            for at, key in keys.items():
                if begin <= at < begin + len(leaf):
                    page, target = places[key]
                    uri = f"{app.builder.get_relative_uri(docname, page)}#{target}"
                    year = nodes.reference(
                        "", str(leaf)[at - begin : at - begin + 4], refuri=uri, internal=True
                    )
                    parts += [nodes.Text(str(leaf)[done : at - begin]), year]
                    done = at - begin + 4
            begin += len(leaf)
            if parts:
                leaf.parent.replace(leaf, [*parts, nodes.Text(str(leaf)[done:])])


class BibTeX(SphinxDirective):
    """Entries of the file, to copy."""

    required_arguments, final_argument_whitespace = 1, True

    def run(self) -> list[nodes.Node]:
        """Return a block with the entries."""
        missing = [key for key in self.arguments[0].split() if key not in papers()]
        if missing:
            raise self.error(f"refsvm.bib has no entry {', '.join(missing)}.")
        text = "\n".join(papers()[key].text for key in self.arguments[0].split())
        return [nodes.literal_block(text, text, language="bibtex")]


def setup(app: Any) -> dict[str, bool]:
    """Add the directive, and link papers when pages are written."""
    app.add_directive("bibtex", BibTeX)
    app.connect("doctree-resolved", link)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
