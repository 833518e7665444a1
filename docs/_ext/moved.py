"""Old addresses: a page that was moved leaves a small file that leads to its new place.

A page whose text is a file of the repository alone leaves a sentence that names the file. Links to such files, which a
reader of the repository can follow, become the name of the file in the site.
"""

from __future__ import annotations

from collections.abc import Iterator
from html import escape
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx import addnodes

__all__ = ["IN_REPOSITORY", "LECTURES", "MOVED", "forwarded"]

DOCS = Path(__file__).parents[1]

MOVED = {
    "adding": "write_a_rule#add-a-rule-to-the-package",
    "book_index": "glossary#index-of-the-book",
    "citing": "bibliography#how-to-cite",
    "contract": "write_a_rule",
    "faq": "questions",
    "files_and_trust": "data#files-and-trust",
    "gallery/examples/02_add_your_own_seeder": "gallery/examples/01_add_your_own_rule#a-seeder",
    "gallery/examples/03_add_your_own_tracker": "gallery/examples/01_add_your_own_rule#a-tracker",
    "gallery/examples/04_swap_a_rule_and_measure": "experiments",
    "gallery/examples/05_an_interval_for_a_target": "what_if#an-interval-for-a-target",
    "gallery/examples/05_every_price_of_an_error": "what_if#every-price-of-an-error",
    "gallery/examples/06_how_results_look": "gallery/examples/08_cards_and_pictures",
    "gallery/examples/08_every_picture": "gallery/examples/08_cards_and_pictures",
    "gallery/examples/index": "stepper",
    "genindex": "api/index",
    "how_near_the_limit": "how_measured#how-near-the-limit",
    "influence": "what_if#the-influence-of-an-example",
    "layout": "api/index#how-the-code-is-laid-out",
    "lecturing/plans": "lectures/paths",
    "lines": "what_if",
    "measured": "how_fast",
    "probabilities": "many_models#probabilities",
    "project": "getting_started",
    "reference": "rules",
    "rounds": "many_models#solve-a-family-of-problems",
    "same_bits": "how_measured#the-same-bits-on-every-machine",
    "saving_models": "data#saving-models",
    "several_machines": "many_models#several-machines",
    "tuning_by_gradient": "what_if#tuning-by-gradient",
    "use": "getting_started",
}
"""New places of the pages of 0.4.0, with the section."""

LECTURES = "lectures/paths"
"""The page of all lectures; each had a page of its own."""

IN_REPOSITORY = {
    "contributing": "CONTRIBUTING.md",
    "papers/preparations": "docs/papers/preparations.md",
    "papers/seeds_and_answers": "docs/papers/seeds_and_answers.md",
}
"""Pages whose text is a file of the repository alone; the decisions are the others."""

STUB = """<!doctype html><html lang="en"><meta charset="utf-8"><title>{title}</title>{head}<p>{words}</p></html>
"""
LEAD = """<meta http-equiv="refresh" content="1; url={url}"><link rel="canonical" href="{url}">\
<script>location.replace("{page}" + (location.hash || "{section}"));</script>"""


def forwarded() -> Iterator[tuple[str, str, str]]:
    """Yield each old page with its new place, or with the file of the repository: (old, place, file)."""
    for old, place in MOVED.items():
        yield old, place, ""
    for chapter in sorted((DOCS.parent / "tutorials").glob("[0-9][0-9]_*.py")):
        yield f"lecturing/{chapter.stem}", LECTURES, ""
    for old, file in IN_REPOSITORY.items():
        yield old, "", file
    for file in sorted((DOCS / "decisions").glob("*.md")):
        yield f"decisions/{file.stem}", "", f"docs/decisions/{file.name}"


def stub(old: str, place: str, file: str) -> str:
    """Return the page that stands at an old address."""
    up = "../" * old.count("/")
    if file:
        words = f'Read <code>{escape(file)}</code> in the repository. <a href="{up}index.html">refsvm</a>'
        return STUB.format(title=old, head="", words=words)
    page, _, section = place.partition("#")
    page, section = f"{up}{page}.html", f"#{section}" if section else ""
    words = f'This page has moved: <a href="{page}{section}">{escape(place)}</a>'
    return STUB.format(
        title=old, head=LEAD.format(url=page + section, page=page, section=section), words=words
    )


def write_stubs(app: Any, error: Exception | None) -> None:
    """Write a page at every old address."""
    if error is not None or app.builder.format != "html":
        return
    for old, place, file in forwarded():
        target = Path(app.outdir) / f"{old}.html"
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(stub(old, place, file), encoding="utf-8")


def name_files(app: Any, doctree: nodes.document) -> None:
    """Show links to pages that the site leaves out as names of files."""
    files = {old: file for old, _, file in forwarded() if file}
    for link in list(doctree.findall(addnodes.pending_xref)):
        file = files.get(str(link.get("reftarget", "")).lstrip("/"))
        if link.get("refdomain") == "doc" and file:
            words = nodes.inline("", "", *link.children)
            link.replace_self([words, nodes.Text(" ("), nodes.literal("", file), nodes.Text(")")])


def setup(app: Any) -> dict[str, bool]:
    """Name the files when pages are read, and write old addresses at the end."""
    app.connect("doctree-read", name_files)
    app.connect("build-finished", write_stubs)
    return {"parallel_read_safe": True}
