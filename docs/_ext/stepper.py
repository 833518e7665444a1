"""Directives ``stepper``, ``path-stepper`` and ``line-stepper``: what the reader drives, in a page.

Options are the fields of `stepper_page.Stepper`, `PathStepper` and `LineStepper`, with dashes: ``:selector: mvp``,
``:C-max: 10``.
"""

from __future__ import annotations

from dataclasses import fields
from typing import Any

from docutils import nodes
from docutils.parsers.rst import directives
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective
from stepper_page import DATA, SCRIPTS, SELECTORS, STEPS, LineStepper, PathStepper, Stepper

CHOICES = {"data": DATA, "selector": SELECTORS, "step": STEPS}
TYPES = {"str": str, "int": directives.positive_int, "float": float}


def one_of(names: Any) -> Any:
    """A converter of an option that takes one of some names."""
    return lambda argument: directives.choice(argument, sorted(names))


class Directive(SphinxDirective):
    """What all have in common: the options become the fields, the fields a fragment of HTML."""

    maker: type[Stepper | PathStepper | LineStepper]

    def run(self) -> list[nodes.Node]:
        names = {option(field.name): field.name for field in fields(self.maker)}
        page = self.maker(**{names[name.lower()]: value for name, value in self.options.items()})
        return [nodes.raw("", page.html(), format="html", stepper=self.name)]


def option(name: str) -> str:
    """The option of a field; reStructuredText lowers the letters of options, MyST leaves them."""
    return name.lower().replace("_", "-")


def directive(maker: type) -> type[Directive]:
    """The directive of a class of options."""
    spec = {}
    for field in fields(maker):
        convert = one_of(CHOICES[field.name]) if field.name in CHOICES else TYPES[str(field.type)]
        spec[option(field.name)] = spec[field.name.replace("_", "-")] = convert
    return type(maker.__name__, (Directive,), {"maker": maker, "option_spec": spec})


def add_scripts(app: Sphinx, pagename: str, templatename: str, context: dict, doctree: Any) -> None:
    """Scripts and style where a page holds a stepper."""
    kinds = (
        {node["stepper"] for node in doctree.findall(nodes.raw) if "stepper" in node} if doctree else set()
    )
    if kinds:
        app.add_css_file("stepper/stepper.css")
    for script in dict.fromkeys(script for kind in sorted(kinds) for script in SCRIPTS[kind]):
        app.add_js_file(f"stepper/{script}", loading_method="defer")


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the directives."""
    app.add_directive("stepper", directive(Stepper))
    app.add_directive("path-stepper", directive(PathStepper))
    app.add_directive("line-stepper", directive(LineStepper))
    app.connect("html-page-context", add_scripts)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
