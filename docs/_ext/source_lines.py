"""Which lines of a source file are code that a reader should see: no docstrings, imports or blank lines."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable
from pathlib import Path

__all__ = ["ROOT", "code", "directives", "objects", "shown", "spans"]

ROOT = Path(__file__).parents[2]


def skipped(tree: ast.Module) -> set[int]:
    """Lines of docstrings of more than a line, of imports and of ``__all__``."""
    lines: set[int] = set()
    for node in ast.walk(tree):
        is_text = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
        is_text = is_text and isinstance(node.value.value, str) and node.end_lineno > node.lineno
        is_all = isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__"
        is_types = isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"
        if is_text or is_all or is_types or isinstance(node, ast.Import | ast.ImportFrom):
            lines |= set(range(node.lineno, node.end_lineno + 1))
    return lines | {line for node in tree.body[:1] for line in range(1, node.end_lineno + 1)}


def objects(tree: ast.Module, before: str = "") -> dict[str, tuple[int, int]]:
    """First and last line of every function, class, method and constant, by its qualified name."""
    found: dict[str, tuple[int, int]] = {}
    for node in tree.body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            first = min([node.lineno, *(each.lineno for each in node.decorator_list)])
            found[before + node.name] = first, node.end_lineno
            if isinstance(node, ast.ClassDef):
                found |= objects(node, f"{before}{node.name}.")
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            target = node.targets[0] if isinstance(node, ast.Assign) else node.target
            found[before + ast.unparse(target)] = node.lineno, node.end_lineno
    return found


def shown(path: str, names: Iterable[str] = ()) -> list[int]:
    """Lines of a file that the directive ``shipped`` prints: of the objects named, in this order, or of all of it.

    Raises
    ------
    KeyError
        If the file has no object of that name.
    """
    text = (ROOT / path).read_text(encoding="utf-8")
    tree, lines = ast.parse(text), [""]
    lines += text.splitlines()
    known, hidden, chosen = objects(tree), skipped(tree), list[int]()
    for first, last in [known[name] for name in names] or [(1, len(lines) - 1)]:
        part = [number for number in range(first, last + 1) if number not in hidden]
        # no blank lines at the ends, nor two in a row
        part = [
            number
            for at, number in enumerate(part)
            if lines[number].strip() or (at and lines[part[at - 1]].strip())
        ]
        while part and not lines[part[-1]].strip():
            part.pop()
        gap = (
            [chosen[-1] + 1]
            if chosen and chosen[-1] + 1 < len(lines) and not lines[chosen[-1] + 1].strip()
            else []
        )
        chosen += gap + part
    return chosen


def code(path: str, names: Iterable[str] = ()) -> set[int]:
    """Those of `shown` that hold code or a comment, one-line docstrings left out."""
    text = (ROOT / path).read_text(encoding="utf-8")
    lines = ["", *text.splitlines()]
    return {n for n in shown(path, names) if lines[n].strip() and not lines[n].strip().startswith('"""')}


def spans(numbers: list[int]) -> str:
    """Write line numbers as ``literalinclude`` wants them: "3-5,9"."""
    parts: list[list[int]] = []
    for number in numbers:
        if parts and number == parts[-1][-1] + 1:
            parts[-1].append(number)
        else:
            parts.append([number])
    return ",".join(f"{part[0]}-{part[-1]}" for part in parts)


def directives(page: str) -> list[tuple[str, list[str], bool]]:
    """File, objects and whether the twin is shown too, of each ``.. shipped::`` in the text of a script."""
    page = re.sub(r"(?m)^# ?", "", page)
    found = []
    for path, options in re.findall(r"(?m)^ *\.\. shipped:: (\S+)\n((?: +:.*\n)*)", page):
        names = re.search(r":object: (.*)", options)
        found.append((f"refsvm/{path}", names[1].split() if names else [], ":twin:" in options))
    return found
