"""The book's apparatus: terms and symbols are linked where a chapter first uses them, and an index lists them.

Nothing of it is typed in a chapter. Terms are those of ``glossary.md``, symbols those of the table of ``notation.md``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

from bibliography import named, papers, plain
from docutils import nodes
from sphinx import addnodes
from sphinx.util.docutils import SphinxDirective

__all__ = ["BOOK", "pattern", "symbols", "terms"]

DOCS = Path(__file__).parents[1]
BOOK = "gallery/tutorials/"
OTHER_SENSES = {
    "free": r"free (?:variables?|support vectors?|ones|steps?)",
    "round": r"(?:[Ee]ach|[Tt]he|[Aa]|one|every|[Aa]ll) rounds?",
    "support vector": r"[Ss]upport vectors?(?! machine)",
    "twin": r"compiled twins?",
    "bounded": r"bounded (?:variables?|support vectors?|ones)",
    "cache": r"(?:kernel )?cache",
    "machine": r"(?<!support vector )machines?(?! that does nothing)",
}
"""Words that mean something else in many sentences: how the term itself stands in a sentence."""


@cache
def terms() -> dict[str, re.Pattern[str]]:
    """Return the pattern of each term of the glossary."""
    entries = re.search(
        r"(?s)```\{glossary\}\n(.*?)\n```", (DOCS / "glossary.md").read_text(encoding="utf-8")
    )[1]
    lines = [line for line in entries.split("\n") if re.match(r"\S", line)]
    return {line: pattern(line) for line in sorted(lines, key=len, reverse=True)}  # hinge loss before loss


def pattern(term: str, *, emphasised: bool = False) -> re.Pattern[str]:
    """Return how a term stands in a sentence: with a capital, in the plural; where it is emphasised, in any sense."""
    words = re.escape(re.sub(r" \(.*\)", "", term)).replace(r"\ ", r"\s+").replace("isation", "i[sz]ation")
    words = rf"[{term[0].upper()}{term[0].lower()}]{words[1:]}s?"
    return re.compile(rf"(?<![\w-])(?:{words if emphasised else OTHER_SENSES.get(term, words)})(?![\w-])")


@cache
def symbols() -> dict[str, str]:
    """Return the anchor of each symbol in the table of the notation, by its LaTeX."""
    page = (DOCS / "notation.md").read_text(encoding="utf-8")
    rows = re.findall(r"(?m)^\| (\$.*?\$) \|", page)
    return {
        symbol: "symbol-" + re.sub(r"\W+", "-", symbol.replace("alpha", "α")).strip("-").lower()
        for row in rows
        for symbol in re.findall(r"\$(.*?)\$", row)
    }


def said_in(node: nodes.Node) -> bool:
    """Whether a piece of text, or a formula, is part of a sentence: of no title, link, code or formula."""
    barred = (
        nodes.title | nodes.reference | nodes.literal | nodes.literal_block | nodes.math | nodes.math_block | nodes.raw
        | nodes.caption | nodes.rubric | nodes.image | nodes.comment | addnodes.pending_xref
        | addnodes.download_reference
    )  # fmt: skip
    parent = node.parent
    while parent is not None:
        if isinstance(parent, barred):
            return False
        parent = parent.parent
    return True


def section_of(node: nodes.Node) -> tuple[str, str]:
    """Return anchor and title of the section that a node stands in."""
    while not isinstance(node, nodes.section):
        node = node.parent
    return node["ids"][0], node.next_node(nodes.title).astext()


def link_terms(app: Any, doctree: nodes.document) -> None:
    """Link each term and symbol at its first use in a chapter, and note the section."""
    docname = app.env.docname
    if not re.fullmatch(BOOK + r"\d\d_\w+", docname):
        return
    noted: dict[str, tuple[str, str]] = {}
    for paragraph in doctree.findall(nodes.paragraph):
        for _, key in named(paragraph.astext()):
            noted.setdefault(f"{papers()[key].shown} {papers()[key].year}", section_of(paragraph))
    for term, form in terms().items():
        for leaf in doctree.findall(nodes.Text):
            is_emphasised = isinstance(leaf.parent, nodes.emphasis)
            found = (pattern(term, emphasised=True) if is_emphasised else form).search(leaf)
            if found and said_in(leaf):
                noted[term] = section_of(leaf)
                name = {
                    "refdomain": "std",
                    "reftype": "term",
                    "reftarget": term,
                    "refexplicit": True,
                    "refwarn": True,
                }
                shown = nodes.inline("", found[0], classes=["term"])
                parts = nodes.Text(leaf[: found.start()]), addnodes.pending_xref("", shown, **name)
                leaf.parent.replace(leaf, [*parts, nodes.Text(leaf[found.end() :])])
                break
    app.env.refsvm_terms[docname] = noted


def link_symbols(app: Any, doctree: nodes.document, docname: str) -> None:
    """Link each symbol where it first stands alone in a chapter."""
    if not re.fullmatch(BOOK + r"\d\d_\w+", docname):
        return
    there = app.builder.get_relative_uri(docname, "notation")
    for symbol, anchor in symbols().items():
        for formula in doctree.findall(nodes.math):
            if formula.astext() == symbol and said_in(formula):
                link = nodes.reference("", "", formula.deepcopy(), refuri=f"{there}#{anchor}", internal=True)
                formula.replace_self(link)
                break


def link_chapters(app: Any, doctree: nodes.document) -> None:
    """Link the numbers of chapters that stand in brackets behind a definition of the glossary."""
    if app.env.docname != "glossary":
        return
    stems = {
        int(file.stem[:2]): file.stem for file in sorted((DOCS.parent / "tutorials").glob("[0-9][0-9]_*.py"))
    }
    for leaf in list(doctree.findall(nodes.Text)):
        found = re.search(r"\[([\d, ]+)\]$", leaf)
        if not found or not said_in(leaf):
            continue
        parts: list[nodes.Node] = [nodes.Text(leaf[: found.start()] + "[")]
        for number in map(int, found[1].split(", ")):
            name = {
                "refdomain": "std",
                "reftype": "doc",
                "reftarget": f"/{BOOK}{stems[number]}",
                "refexplicit": True,
            }
            shown = nodes.inline("", str(number))
            parts += [
                addnodes.pending_xref("", shown, refwarn=True, refdoc="glossary", **name),
                nodes.Text(", "),
            ]
        leaf.parent.replace(leaf, [*parts[:-1], nodes.Text("]")])


def label_symbols(app: Any, doctree: nodes.document) -> None:
    """Give each row of the table of symbols the anchors of its symbols."""
    if app.env.docname != "notation":
        return
    for row in doctree.findall(nodes.row):
        for formula in row.children[0].findall(nodes.math):
            anchor = symbols().get(formula.astext())
            if anchor:
                formula["ids"].append(anchor)


class Places(nodes.General, nodes.Element):
    """Where the index of the book stands, until all chapters are read."""


class BookIndex(SphinxDirective):
    """The index of the book."""

    def run(self) -> list[nodes.Node]:
        """Leave the place."""
        return [Places()]


def entries(noted: dict[str, dict[str, tuple[str, str]]]) -> Iterator[tuple[str, list[tuple[str, str, str]]]]:
    """Yield each term and paper with the chapter, anchor and section of its first use in each chapter."""
    names = {name for of_chapter in noted.values() for name in of_chapter}
    for name in sorted(names, key=lambda name: plain(name).lower()):
        yield name, [(page, *noted[page][name]) for page in sorted(noted) if name in noted[page]]


def fill_index(app: Any, doctree: nodes.document, docname: str) -> None:
    """Put the entries, one letter after the other, where the index stands."""
    for place in list(doctree.findall(Places)):
        letters: dict[str, nodes.bullet_list] = {}
        for name, uses in entries(app.env.refsvm_terms):
            line = nodes.paragraph("", f"{name}: ")
            for page, anchor, title in uses:
                uri = f"{app.builder.get_relative_uri(docname, page)}#{anchor}"
                number = str(int(page.removeprefix(BOOK)[:2]))
                line += [
                    nodes.reference("", number, refuri=uri, internal=True, reftitle=title),
                    nodes.Text(", "),
                ]
            line.pop()
            letters.setdefault(plain(name)[0].upper(), nodes.bullet_list(classes=["simple"])).append(
                nodes.list_item("", line)
            )
        parts: list[nodes.Node] = []
        for letter, listed in letters.items():
            parts += [nodes.rubric("", letter), listed]
        place.replace_self(parts)


def prepare(app: Any) -> None:
    """Make room for what the chapters note."""
    app.env.refsvm_terms = getattr(app.env, "refsvm_terms", {})


def forget(app: Any, env: Any, docname: str) -> None:
    """Forget what a chapter noted that is read anew."""
    getattr(env, "refsvm_terms", {}).pop(docname, None)


def setup(app: Any) -> dict[str, bool]:
    """Register the directive, and the functions above."""
    app.add_node(Places)
    app.add_directive("book-index", BookIndex)
    app.connect("builder-inited", prepare)
    app.connect("env-purge-doc", forget)
    for function in (link_terms, link_chapters, label_symbols):
        app.connect("doctree-read", function)
    app.connect("doctree-resolved", link_symbols)
    app.connect("doctree-resolved", fill_index)
    return {"parallel_read_safe": False}
