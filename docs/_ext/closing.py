"""The box at the end of a chapter: what an idea is worth in steps, kernel rows and seconds on five sets.

``.. rivals::`` shows the table and the figure of ``benchmarks/rivals.py`` in the same way.

``.. worth:: 10`` shows the box that ``benchmarks/worth.py`` prints for chapter 10 from its stored runs, and below it
the content of the directive, which says when the idea loses. No number of the box is typed: content with a number ends
the build, like a chapter without runs.
"""

from __future__ import annotations

import sys
from typing import Any

from docutils import nodes
from prose import NO_COUNT, tokens
from source_lines import ROOT
from sphinx.util.docutils import SphinxDirective

sys.path.append(str(ROOT / "benchmarks"))  # the script is no package
import rivals
import worth as script

__all__ = ["NAME", "RIVALS", "as_markdown", "as_rest", "of_rivals"]

NAME = r"(?m)^ *\.\. worth:: (\d+)\n((?:(?: +.*)?\n)*)"
"""The directive in the text of a chapter, with its content."""

FROM = "Processor time on an {}; the least of several turns. ``python benchmarks/worth.py`` prints this box."


def parts(chapter: int, content: str) -> tuple[str, str, list[str]]:
    """Return the title, the table and the paragraphs of a box.

    Raises
    ------
    ValueError
        If the content has a number, or the chapter has no runs.
    """
    typed = [number for number, _ in tokens(NO_COUNT.sub(" ", content))]
    if typed:
        raise ValueError(
            f"The box of chapter {chapter} has typed numbers, {typed}; its script prints all numbers."
        )
    title, table, verdicts = script.printed(chapter, script.stored_runs())
    return (
        f"What it is worth · {title}",
        table,
        [verdicts, " ".join(content.split()), FROM.format(script.MACHINE)],
    )


def as_rest(chapter: int, content: str) -> str:
    """Return a box as reST."""
    title, table, paragraphs = parts(chapter, content)
    code = [".. code-block:: text", "", *(f"   {line}" for line in table.split("\n")), ""]
    below = [line for paragraph in paragraphs for line in (paragraph, "")]
    return "\n".join([f".. admonition:: {title}", "", *(f"   {line}".rstrip() for line in code + below), ""])


def as_markdown(chapter: int, content: str) -> str:
    """Return a box as Markdown, for a notebook."""
    title, table, paragraphs = parts(chapter, content)
    return "\n\n".join([f"**{title}**", f"```text\n{table}\n```", *paragraphs]) + "\n"


class Worth(SphinxDirective):
    """A box of the script, and when the idea loses."""

    required_arguments, has_content = 1, True

    def run(self) -> list[nodes.Node]:
        """Parse what `as_rest` returns; a chapter is read again when other runs are stored."""
        self.env.note_dependency(str(script.STORE))
        try:
            text = as_rest(int(self.arguments[0]), "\n".join(self.content))
        except (KeyError, ValueError) as error:
            raise self.error(f"benchmarks/worth.py cannot print this box: {error}") from None
        return self.parse_text_to_nodes(text)


RIVALS = r"(?m)^ *\.\. rivals::.*\n"
BY = "Processor time on an {}. ``python benchmarks/rivals.py`` prints this table."


def of_rivals(markup: str) -> str:
    """Return the table of the rivals and its sentences, as "rest" or "markdown"."""
    runs = rivals.stored_runs()
    table, below = rivals.printed(runs), f"{rivals.verdict(runs)}\n\n{BY.format(rivals.MACHINE)}\n"
    if markup == "markdown":
        return f"\n```text\n{table}\n```\n\n{below}"
    lines = "\n".join(f"   {line}" for line in table.split("\n"))
    figure = ".. image:: /_static/how_fast/rivals.svg\n   :alt: " + " ".join(ALT.split())
    return f"{figure}\n\n.. code-block:: text\n\n{lines}\n\n{below}"


ALT = """Three panels compare a kernel machine, a line, random features and boosting. The seconds of a fit rise with the
number of examples, steepest for the kernel machine. Its error on new points is the smallest at nearly every number of
examples. When features of noise are added, the errors of the kernel machine, of the line and of random features rise,
and the error of boosting hardly changes."""


class Rivals(SphinxDirective):
    """The table and the figure of the rivals."""

    def run(self) -> list[nodes.Node]:
        """Parse what `of_rivals` returns."""
        self.env.note_dependency(str(rivals.STORE))
        return self.parse_text_to_nodes(of_rivals("rest"))


def setup(app: Any) -> dict[str, bool]:
    """Add the directive."""
    app.add_directive("worth", Worth)
    app.add_directive("rivals", Rivals)
    return {"parallel_read_safe": True}
