"""Docstrings name classes and functions as `refsvm` makes them public, `SVC` or `refsvm.solve`: links to the pages."""

from __future__ import annotations

from typing import Any

from docutils import nodes
from sphinx.util.nodes import make_refnode

import refsvm

__all__ = ["canonical"]


def canonical(target: str) -> str:
    """Return the name of a class or function with its module, or "" if `refsvm` makes no such name public."""
    found: Any = refsvm
    for name in target.removeprefix("refsvm.").split("."):
        found = getattr(found, name, None)
    return f"{found.__module__}.{found.__qualname__}" if hasattr(found, "__qualname__") else ""


def resolve(app: Any, env: Any, node: Any, shown: nodes.Element) -> nodes.reference | None:
    """Return the reference to the page that documents a public name, or None."""
    name = canonical(node["reftarget"]) if node.get("refdomain") == "py" else ""
    entry = env.get_domain("py").objects.get(name)
    if entry is None:
        return None
    return make_refnode(app.builder, node["refdoc"], entry.docname, entry.node_id, shown, name)


def setup(app: Any) -> dict[str, bool]:
    """Register the search for public names."""
    app.connect("missing-reference", resolve)
    return {"parallel_read_safe": True}
