"""The table of all rules, read from the package: ``.. rules::``, in Markdown within ``{eval-rst}``.

A rule stands in it by its line in the ``__init__.py`` of its room.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from typing import Any

from docutils import nodes
from sphinx.util.docutils import SphinxDirective

from refsvm import seeders, selectors, steps, stopping, trackers
from refsvm.cli import choices
from refsvm.kernels import functions
from refsvm.kernels.names import KERNELS
from refsvm.paths import lines
from refsvm.rule import rules_in

__all__ = ["rows"]

PARTS = {
    "selector": (selectors, choices.SELECTORS), "step": (steps, choices.STEPS), "stopping": (stopping, choices.STOPS),
    "seeder": (seeders, choices.SEEDERS), "path tracker": (trackers, choices.TRACKERS), "kernel": (functions, KERNELS),
    "line": (lines, {}),
}  # fmt: skip
"""The rooms, and the names of their rules on the command line."""


def rows() -> Iterator[tuple[str, Any, str, str]]:
    """Yield part, rule, its name on the command line, and the first sentence of its docstring."""
    for part, (room, table) in PARTS.items():
        names = {rule: name for name, rule in table.items()}
        for rule in rules_in(room):
            yield part, rule, names.get(rule, ""), " ".join(inspect.getdoc(rule).split("\n\n")[0].split())


class RulesTable(SphinxDirective):
    """All rules."""

    def run(self) -> list[nodes.Node]:
        """Parse the rows as a table."""
        text = ".. list-table::\n   :header-rows: 1\n\n"
        for number, row in enumerate([("part", None, "command line", "what it does"), *rows()]):
            part, rule, name, sentence = row
            link = "name" if number == 0 else f":py:obj:`~{rule.__module__}.{rule.__name__}`"
            shown = f"``{name}``" if number and name else name
            cells = part, link, shown, sentence.replace("|", "\\|").replace("*", "\\*")
            text += "   * - " + "\n     - ".join(cells) + "\n"
        return self.parse_text_to_nodes(text)


def setup(app: Any) -> dict[str, bool]:
    """Register the directive."""
    app.add_directive("rules", RulesTable)
    return {"parallel_read_safe": True}
