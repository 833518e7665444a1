"""All rules, read from the package: the table of formulas, ``rule-table``, kernels and lines, and a map, ``family``.

A rule stands in them by its line in the ``__init__.py`` of its folder. The map has a card for each decision; of each
rule it links the page, the chapter that prints its file, and the code.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from functools import cache
from typing import Any

from docutils import nodes
from source_lines import ROOT, directives
from sphinx.util.docutils import SphinxDirective

import refsvm
from refsvm.analysis.paths import lines
from refsvm.cli import choices
from refsvm.core import seeders, selectors, solver, steps, stopping, trackers
from refsvm.core.kernels import functions
from refsvm.core.rule import rules_in
from refsvm.services.names import KERNELS

__all__ = ["FAMILY", "family", "rows"]

PARTS = {
    "selector": (selectors, choices.SELECTORS), "step": (steps, choices.STEPS), "stopping": (stopping, choices.STOPS),
    "seeder": (seeders, choices.SEEDERS), "path tracker": (trackers, choices.TRACKERS), "kernel": (functions, KERNELS),
    "line": (lines, {}),
}  # fmt: skip
"""The rooms, and the names of their rules on the command line."""


FAMILY = (
    ("Which pair?", "07_which_pair", "rules", selectors),
    ("How far?", "10_two_steps_at_once", "rules", steps),
    ("When to stop?", "06_when_it_is_over", "choosing", stopping),
    ("Where to begin?", "13_seeds_and_folds", "many_models", seeders),
    ("What to leave out?", "08_rows_cache_shrinking", "rules", solver),
    ("Every C?", "15_the_path_of_c", "what_if", trackers),
)
"""The decisions of a solve: the question, the chapter and the page that answer it, and the room of its rules."""


@cache
def printed() -> dict[str, str]:
    """Return, for each file of the package, the first chapter that prints it."""
    found: dict[str, str] = {}
    for chapter in sorted((ROOT / "tutorials").glob("[0-9][0-9]_*.py")):
        for path, *_ in directives(chapter.read_text(encoding="utf-8")):
            found.setdefault(path, chapter.stem)
    return found


def family() -> Iterator[tuple[str, str, str, list[tuple[Any, str]]]]:
    """Yield question, chapter and page of each decision, and its rules, each with the chapter that prints it."""
    for question, chapter, page, room in FAMILY:
        if room is solver:
            rules = list(dict.fromkeys(each for each in vars(refsvm).values() if is_shrinking(each)))
        else:
            rules = rules_in(room)
        files = [rule.__module__.replace(".", "/") + ".py" for rule in rules]
        chapters = [printed().get(file, chapter) for file in files]
        yield question, chapter, page, list(zip(rules, chapters, strict=True))


def is_shrinking(found: Any) -> bool:
    """Whether a name of the solver is a rule that leaves variables out."""
    return inspect.isclass(found) and issubclass(found, refsvm.Shrinking) and not inspect.isabstract(found)


def rows() -> Iterator[tuple[str, Any, str, str]]:
    """Yield part, rule, its name on the command line, and the first sentence of its docstring."""
    for part, (room, table) in PARTS.items():
        names = {rule: name for name, rule in table.items()}
        for rule in rules_in(room):
            yield part, rule, names.get(rule, ""), " ".join(inspect.getdoc(rule).split("\n\n")[0].split())


class RulesTable(SphinxDirective):
    """Kernels and lines, which have no line in the table of formulas."""

    def run(self) -> list[nodes.Node]:
        """Parse the rows as a table."""
        text = ".. list-table::\n   :header-rows: 1\n\n"
        wanted = [row for row in rows() if row[0] in {"kernel", "line"}]
        for number, (part, rule, name, sentence) in enumerate(
            [("part", None, "command line", "what it does"), *wanted]
        ):
            link = "name" if number == 0 else f":py:obj:`~{rule.__module__}.{rule.__name__}`"
            shown = f"``{name}``" if number and name else name
            cells = part, link, shown, sentence.replace("|", "\\|").replace("*", "\\*")
            text += "   * - " + "\n     - ".join(cells) + "\n"
        return self.parse_text_to_nodes(text)


class RuleTable(SphinxDirective):
    """The table of formulas, in Markdown: each row gets the rule's part and name, its chapter, and its sources."""

    has_content = True

    def run(self) -> list[nodes.Node]:
        """Parse the table with two more columns."""
        found = {rule.__name__: (part, rule, name) for part, rule, name, _ in rows()}
        chapters = {}
        for *_, of_decision in family():
            for rule, chapter in of_decision:
                chapters[rule.__name__] = chapter
                found.setdefault(rule.__name__, ("shrinking", rule, ""))
        lines = [f"{self.content[0]} chapter, source |", f"{self.content[1]}---|"]
        for line in self.content[2:]:
            cell, name = re.match(r"(\| `(\w+)`) \|", line).groups()
            part, rule, shown = found[name]
            chapter = f"[chapter {int(chapters[name][:2])}](/gallery/tutorials/{chapters[name]}.rst)"
            names = f"{cell}<br>{part}" + (f"<br>`{shown}`" if shown else "")
            lines.append(f"{names} |{line.removeprefix(cell + ' |')} {chapter} {sources(rule)} |")
        return [nodes.container("", *self.parse_text_to_nodes("\n".join(lines)), classes=["rule-table"])]


def sources(rule: Any) -> str:
    """Return links to the source of a rule and of its twin, as HTML in Markdown."""
    readable = rule.__module__.replace(".", "/")
    links = [f'<a href="_modules/{readable}.html#{rule.__name__}">NumPy</a>']
    twin = readable.replace("refsvm/core/", "refsvm/compiled/", 1)
    if (ROOT / f"{twin}.py").is_file():
        links.append(f'<a href="_modules/{twin}.html">Numba</a>')
    return " ".join(links)


class Family(SphinxDirective):
    """The map of all decisions."""

    def run(self) -> list[nodes.Node]:
        """Parse the cards."""
        text = ".. grid:: 1 2 3 3\n   :gutter: 2\n   :class-container: family\n\n"
        for question, chapter, page, rules in family():
            text += f"   .. grid-item-card:: {question}\n\n"
            text += f"      :doc:`chapter {int(chapter[:2])} </gallery/tutorials/{chapter}>` · "
            text += f":doc:`page </{page}>`\n\n"
            for rule, shown in rules:
                module, name = rule.__module__, rule.__name__
                code = f"`code <_modules/{module.replace('.', '/')}.html#{name}>`__"
                there = f":doc:`{int(shown[:2])} </gallery/tutorials/{shown}>`"
                text += f"      * :py:obj:`~{module}.{name}` · {there} · {code}\n"
            text += "\n"
        return self.parse_text_to_nodes(text)


def setup(app: Any) -> dict[str, bool]:
    """Register the directives."""
    app.add_directive("rules", RulesTable)
    app.add_directive("rule-table", RuleTable)
    app.add_directive("family", Family)
    return {"parallel_read_safe": True}
