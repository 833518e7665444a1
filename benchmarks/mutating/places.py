"""Mutants: single changes of the source of a folder, drawn by a seed. The changes are those of Cosmic Ray."""

from __future__ import annotations

import ast
import hashlib
import re
from collections.abc import Iterator
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import count
from pathlib import Path
from typing import Final

from cosmic_ray.ast import ast_nodes, get_ast
from cosmic_ray.ast.ast_query import ASTQuery
from cosmic_ray.mutating import mutate_code
from cosmic_ray.plugins import get_operator, operator_names

__all__ = ["Mutant", "draw"]

NUMBERS: Final = "(Add|Sub|Mul|Div|FloorDiv|Mod|Pow)"
SETS: Final = "(BitOr|BitAnd|BitXor)"
ORDERS: Final = "(Eq|NotEq|Lt|LtE|Gt|GtE)"

USED: Final = re.compile(
    f"core/(ReplaceBinaryOperator)_{NUMBERS}_{NUMBERS}|core/(ReplaceBinaryOperator)_{SETS}_{SETS}|"
    f"core/(ReplaceComparisonOperator)_{ORDERS}_{ORDERS}|core/(ReplaceComparisonOperator)_(Is_IsNot|IsNot_Is)|"
    "core/(ReplaceUnaryOperator)_Delete_.*|core/(AddNot|ExceptionReplacer|NumberReplacer|RemoveDecorator|"
    "ReplaceAndWithOr|ReplaceOrWithAnd|ReplaceBreakWithContinue|ReplaceContinueWithBreak|ReplaceFalseWithTrue|"
    "ReplaceTrueWithFalse|ZeroIterationForLoop)"
)
"""Operators that leave a program that may run: to shift a float would be noticed by any test."""


@dataclass(frozen=True)
class Mutant:
    """One change.

    Attributes
    ----------
    key : str
        File, function, operator and line as it was: the same whatever stands above the line.
    path : str
        The file, relative to the repository.
    line : int
    before, after : str
        The lines that differ.
    source : str
        The whole file after the change.
    """

    key: str
    path: str
    line: int
    before: str
    after: str
    source: str


def draw(root: Path, folder: str, seed: int, number: int) -> list[Mutant]:
    """Return so many mutants of a folder: the order is that of a hash of the seed and the key of a place."""
    places = sorted(
        place
        for path in sorted((root / "refsvm" / folder).glob("*.py"))
        for place in _places(root, path, seed)
    )
    drawn: list[Mutant] = []
    for _, _, key, path, operator, occurrence in places:
        if len(drawn) == number:
            break
        mutant = _mutated(root, key, path, operator, occurrence)
        if mutant is not None and mutant.path + mutant.source not in {
            each.path + each.source for each in drawn
        }:
            drawn.append(mutant)
    return drawn


def _places(root: Path, path: Path, seed: int) -> Iterator[tuple[str, str, str, str, str, int]]:
    """Yield the rank of each place, and of all changes that can be made there the one that the seed chooses."""
    source, name = path.read_text(encoding="utf-8"), str(path.relative_to(root))
    tree, lines, chosen = get_ast(source), source.split("\n"), {}
    nodes = list(ast_nodes(tree))
    for operator in operator_names():
        match = USED.fullmatch(operator)
        if not match:
            continue
        made = get_operator(operator)()
        kind = next(group for group in match.groups() if group and not re.fullmatch(NUMBERS, group))
        number = count()
        for node in nodes:
            for change, (start, _) in enumerate(made.mutation_positions(node)):
                occurrence, text = next(number), lines[start[0] - 1].strip()
                function = ASTQuery(node).get_definition_name()
                key = f"{name}:{function}:{operator}:{text}:{start[1]}:{change}"
                place = f"{name}:{function}:{kind}:{text}:{start[1]}"
                option = _hashed(seed, key), key, operator, occurrence
                chosen[place, start] = min(option, chosen.get((place, start), option))
    for (place, start), (_, key, operator, occurrence) in chosen.items():
        same = sorted(position for other, position in chosen if other == place).index(start)
        yield _hashed(seed, f"{place}:{same}"), place, f"{key}:{same}", name, operator, occurrence


def _hashed(seed: int, text: str) -> str:
    return hashlib.sha256(f"{seed}:{text}".encode()).hexdigest()


def _mutated(root: Path, key: str, path: str, operator: str, occurrence: int) -> Mutant | None:
    """Return the mutant, or None where the program is the same: annotations and docstrings do nothing."""
    source = (root / path).read_text(encoding="utf-8")
    changed = mutate_code(source, get_operator(operator)(), occurrence)
    try:
        if changed is None or _program(changed) == _program(source):
            return None
    except SyntaxError:
        return None
    lines, others = source.split("\n"), changed.split("\n")
    moves = [
        move
        for move in SequenceMatcher(None, lines, others, autojunk=False).get_opcodes()
        if move[0] != "equal"
    ]
    if not moves:
        return None
    first = moves[0][1] + 1
    before, after = (
        "\n".join(text for _, *ends in moves for text in side[ends[at] : ends[at + 1]])
        for side, at in ((lines, 0), (others, 2))
    )
    return Mutant(key, path, first, before, after, changed)


def _program(source: str) -> str:
    tree = ast.parse(source)
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef):
            node.returns = None
        elif isinstance(node, ast.arg):
            node.annotation = None
        elif isinstance(node, ast.AnnAssign):
            node.annotation = ast.Constant(None)
        elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            node.value.value = None
    return ast.dump(tree)
