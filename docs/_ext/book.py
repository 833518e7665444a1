"""What the chapters need of Sphinx: shipped code on the page, folded answers, notebooks that stand alone.

``.. shipped:: core/selectors/second_order.py`` prints code of the package where it stands, never a copy:

    :object:  names of functions, classes, methods or constants; by default the whole file
    :twin:    the whole twin beside it, behind a tab
    :fold:    a title; the code is folded behind it

``.. fold:: Title`` … ``.. endfold::`` folds what stands between the two, executed code included. A block of code whose
first line is ``# fold: Title`` is folded by itself: what it prints and draws stays in sight.
"""

from __future__ import annotations

import re
from pathlib import Path

import closing
import figures
import front
import pictures
import summary
from docutils import nodes
from docutils.parsers.rst import directives
from first_cell import first_cell
from prose import of_script, unsaid_numbers
from source_lines import ROOT, shown, spans
from sphinx import addnodes
from sphinx.errors import ExtensionError
from sphinx.util.docutils import SphinxDirective
from sphinx_gallery import gen_rst
from sphinx_gallery.notebook import add_code_cell, add_markdown_cell
from stepper_page import Stepper

import refsvm

INSTALL = first_cell(
    ("refsvm", "numba", "sklearn", "matplotlib", "pandas", "anywidget"), "[sklearn,plot,cli,notebook]"
)


def include(path: str, names: list[str]) -> str:
    """Return the literalinclude of these objects of a file of the repository."""
    lines, text = shown(path, names), ["", *(ROOT / path).read_text(encoding="utf-8").splitlines()]
    dedent = min(len(text[n]) - len(text[n].lstrip()) for n in lines if text[n].strip())
    title = f"{path}: {', '.join(names)}" if names else path
    return (
        f".. literalinclude:: /../{path}\n   :language: python\n   :lines: {spans(lines)}\n"
        f"   :dedent: {dedent}\n   :caption: {title}\n"
    )


def indented(text: str) -> str:
    """Return text three columns to the right."""
    return re.sub(r"(?m)^(?=.)", "   ", text)


class Shipped(SphinxDirective):
    """Code of the package."""

    required_arguments = 1
    option_spec = {  # noqa: RUF012
        "object": directives.unchanged, "twin": directives.flag, "fold": directives.unchanged,
    }  # fmt: skip

    def run(self) -> list[nodes.Node]:
        """Parse what `include` returns, in tabs or folded."""
        path, names = self.arguments[0], self.options.get("object", "").split()
        try:
            text = include(f"refsvm/{path}", names)
        except (KeyError, OSError) as missing:
            raise self.error(
                f"refsvm/{path} has no {missing}; say which object the page should show."
            ) from None
        if "twin" in self.options:
            twin = include(f"refsvm/compiled/{path.removeprefix('core/')}", [])
            items = [("NumPy", text), ("Numba twin", twin)]
            text = ".. tab-set::\n\n" + "\n".join(
                indented(f".. tab-item:: {name}\n\n{indented(part)}") for name, part in items
            )
        if "fold" in self.options:
            text = f".. dropdown:: {self.options['fold']}\n\n{indented(text)}"
        return self.parse_text_to_nodes(text)


class Fold(SphinxDirective):
    """Begin of what is folded."""

    required_arguments, final_argument_whitespace = 1, True

    def run(self) -> list[nodes.Node]:
        """Open the element."""
        html = f'<details class="fold"><summary>{self.arguments[0]}</summary>'
        return [nodes.raw("", html, format="html")]


class EndFold(SphinxDirective):
    """End of what is folded."""

    def run(self) -> list[nodes.Node]:
        """Close the element."""
        return [nodes.raw("", "</details>", format="html")]


# -- notebooks ---------------------------------------------------------------------------------------------------------


TABLE = r"(?m)^=+(?:  ?=+)+\n(?:.+\n)+?=+(?:  ?=+)+\n(?:(?:.+\n)+?=+(?:  ?=+)+\n?)?"
"""A simple table of reST."""

STEPPER = r"(?m)^ *\.\. stepper::.*\n((?: +:.*(?:\n|\Z))*)"
"""A stepper, with its options as the group."""


def table(match: re.Match[str]) -> str:
    """A simple table of reST, in Markdown."""
    rows = match[0].strip("\n").split("\n")
    columns = [found.span() for found in re.finditer("=+", rows[0])]
    columns[-1] = columns[-1][0], None
    cells = [[row[a:b].strip() for a, b in columns] for row in rows if set(row) - set("= ")]
    cells.insert(1, ["---"] * len(columns))
    return "\n" + "\n".join("| " + " | ".join(row).replace("\n", " ") + " |" for row in cells) + "\n"


def printed(match: re.Match[str]) -> str:
    """The code that a directive shows, as a block of Markdown."""
    names = re.search(r":object: (.*)", match[0])
    path = {"refsvm": "", "examples": "docs/"}.get(match[1].split("/")[0], "refsvm/") + match[1]
    text = ["", *(ROOT / path).read_text(encoding="utf-8").splitlines()]
    lines = "\n".join(text[n] for n in shown(path, names[1].split() if names else []))
    return f"\n`{path}`\n```python\n{lines}\n```\n"


def displayed(match: re.Match[str]) -> str:
    """A displayed formula, in Markdown."""
    return f"{match[1]}$${' '.join(f'{match[2]} {match[3]}'.split())}$$\n"


def as_markdown(text: str) -> str:
    """Replace what is left of reST in a cell."""
    text = re.sub(closing.NAME, lambda box: closing.as_markdown(int(box[1]), box[2]), text)
    text = re.sub(closing.RIVALS, lambda _: closing.of_rivals("markdown"), text)
    text = re.sub(r"(?m)^( *)\.\. math:: ?(.*)\n?((?:\s*^\1 +\S.*\n?)*)", displayed, text)
    text = re.sub(r"(?m)^ *\.\. shipped:: (\S+)\n(?: +:.*\n?)*", printed, text)
    text = re.sub(r"(?m)^ *\.\. literalinclude:: (?:\.\./)*(\S+)\n(?: +:.*\n?)*", printed, text)
    text = re.sub(r"(?m)^ *\.\. include:: .*\n(?: +:.*\n?)*", "", text)
    text = re.sub(r"(?m)^ *\.\. (?:fold|dropdown|admonition):: (.*)\n", r"**\1**\n", text)
    text = re.sub(r"(?m)^ *\.\. (?:endfold|path-stepper|line-stepper|raw)::.*\n?(?: +:.*\n?)*", "", text)
    text = re.sub(r":math:`([^`]*)`", r"$\1$", text)
    text = re.sub(r":[\w:]+:`([^`<]*?)\s*<[^`]*>`", r"\1", text)
    text = re.sub(r":doc:`(?:[^`]*/)?([^`]*)`", r"*\1*", text)
    return re.sub(r":[\w:]+:`~?(?:[\w.]+\.)?(\w+)`", r"`\1`", text)


def notebook(blocks, gallery_conf, target_dir):
    """Return the notebook of a script: the install cell, its helper files, no reST."""
    # tables first: their columns are those of the text as it is typed
    texts = (re.sub(TABLE, table, block[1]) if block[0] == "text" else block[1] for block in blocks)
    typed = [
        (block[0], figures.without_description(text), block[2])
        for block, text in zip(blocks, texts, strict=True)
    ]
    filled = made(typed, gallery_conf, target_dir)
    code = "\n".join(
        block.content if hasattr(block, "content") else block[1] for block in blocks if block[0] == "code"
    )
    folder, cells, wanted = Path(gallery_conf["src_dir"]) / "examples", [], [code]
    while wanted:
        for name in re.findall(r"(?m)^ *from (\w+) import", wanted.pop()):
            helper = folder / f"{name}.py"
            if helper.is_file() and helper not in cells:
                cells.append(helper)
                wanted.append(helper.read_text(encoding="utf-8"))
    for helper in cells:
        add_code_cell(filled, f"%%writefile {helper.name}\n{helper.read_text(encoding='utf-8')}")
        filled["cells"].insert(1, filled["cells"].pop())
    filled["cells"] = [part for cell in filled["cells"] for part in parted(cell)]
    for cell in filled["cells"]:
        if cell["cell_type"] == "markdown":
            cell["source"] = [as_markdown("".join(cell["source"]))]
    return filled


def parted(cell):
    """Yield a cell; of one of text with steppers the text around each, and between them cells that show them."""
    if cell["cell_type"] != "markdown":
        yield cell
        return
    shown = {"cells": []}
    for k, part in enumerate(re.split(STEPPER, "".join(cell["source"]))):
        if k % 2:
            add_code_cell(shown, Stepper.of_directive(part).code())
        elif part.strip():
            add_markdown_cell(shown, part)
    yield from shown["cells"]


made = gen_rst.jupyter_notebook

# -- numbers -----------------------------------------------------------------------------------------------------------


def executed(blocks, script_vars, gallery_conf, file_conf):
    """Execute a script; a chapter whose sentences have numbers that its code does not print ends the build."""
    outputs, seconds = run_script(blocks, script_vars, gallery_conf, file_conf)
    chapter = Path(script_vars["src_file"])
    was_run = script_vars["execute_script"] and len(outputs) == len(blocks)
    if chapter.parent.name == "tutorials" and was_run:
        missing = unsaid_numbers(chapter.stem, of_script(blocks, outputs))
        if missing:
            raise ExtensionError(
                f"{chapter.name} has numbers in its sentences that the code next to them does not print: "
                f"{missing}; print or assert them, or say in docs/_ext/prose.py what they rest on."
            )
    return outputs, seconds


run_script = gen_rst.execute_script

# -- folded code -------------------------------------------------------------------------------------------------------


def set_code(code, lang="python", lineno=None):
    """Return the directive of a block of code, folded behind its title if it begins with one."""
    code = figures.without_description(code)
    title = re.match(r"\s*# fold: (.*)\n", code)
    if not title:
        return typeset(code, lang=lang, lineno=lineno)
    lines_before = title[0].count("\n")
    shown = typeset(code[title.end() :], lang=lang, lineno=None if lineno is None else lineno + lines_before)
    opening = f'<details class="fold"><summary>{title[1]}</summary>'
    return f".. raw:: html\n\n    {opening}\n\n{shown}\n\n.. raw:: html\n\n    </details>\n\n"


typeset = gen_rst.codestr2rst


def link_rules(app, doctree):
    """Link the names of rules on the landing page and in the table of the rules to their pages."""
    if app.env.docname not in {"index", "rules"}:
        return
    for literal in list(doctree.findall(nodes.literal)):
        rule = getattr(refsvm, literal.astext(), None)
        if isinstance(rule, type) and not isinstance(literal.parent, nodes.reference | addnodes.pending_xref):
            target = {
                "refdomain": "py",
                "reftype": "class",
                "reftarget": f"{rule.__module__}.{rule.__name__}",
            }
            link = addnodes.pending_xref("", literal.deepcopy(), refexplicit=True, refwarn=True, **target)
            literal.replace_self(link)


def setup(app):
    """Add the directives; sphinx-gallery executes scripts and writes notebooks through the functions above."""
    app.add_directive("shipped", Shipped)
    app.add_directive("fold", Fold)
    app.add_directive("endfold", EndFold)
    app.connect("doctree-read", link_rules)
    gen_rst.jupyter_notebook, gen_rst.execute_script, gen_rst.codestr2rst = notebook, executed, set_code
    front.draw_front()
    pictures.draw_all(Path(app.srcdir) / "_static")
    summary.draw_summary(Path(app.srcdir) / "_static")
    return {"parallel_read_safe": True}
