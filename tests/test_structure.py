"""The shape of the code: layers, no circle of imports anywhere, and few files at the root of the package."""

from __future__ import annotations

import ast
import io
import re
import sys
import tokenize
from graphlib import CycleError, TopologicalSorter
from inspect import signature
from pathlib import Path

import pytest

from refsvm import Check, PathTracker, Rule, Seeder, Shrinking, StepRule, StoppingRule, WorkingSetSelector
from refsvm.compiled.interface.stamp import NOT_COMPILED

ROOT = Path(__file__).parents[1]
in_the_repository = pytest.mark.skipif(not (ROOT / "pyproject.toml").is_file(), reason="no contract here")


def imports_in_order(*packages: str) -> int:
    """Return how many modules there are; raise CycleError, which names a circle of imports, if there is one."""
    graph = pytest.importorskip("grimp").build_graph(*packages, cache_dir=None)
    uses = {module: graph.find_modules_directly_imported_by(module) for module in graph.modules}
    TopologicalSorter(uses).prepare()
    return len(uses)


@in_the_repository
@pytest.mark.parametrize("packages", [["refsvm"], ["tests"], ["audit", "mutating", "side_by_side"]])
def test_no_circle_of_imports(packages, monkeypatch):
    """Imports inside functions, and those for types only, count."""
    monkeypatch.syspath_prepend(ROOT / "benchmarks")
    assert imports_in_order(*packages) > 20


@pytest.mark.parametrize("line", ["from . import b", "def late():\n    from room.b import thing"])
def test_a_circle_is_seen(line, tmp_path, monkeypatch):
    for name, text in {"__init__": "", "a": line, "b": "from .a import thing"}.items():
        (tmp_path / "room").mkdir(exist_ok=True)
        (tmp_path / "room" / f"{name}.py").write_text(text)
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(CycleError, match="room"):
        imports_in_order("room")


def test_the_border():
    """The reference imports nothing from outside itself but NumPy, not even inside functions."""
    foreign = {}
    for file in sorted((ROOT / "refsvm/core").rglob("*.py")):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            names = [a.name for a in node.names] if isinstance(node, ast.Import) else []
            names += [node.module or "."] if isinstance(node, ast.ImportFrom) else []
            far = [n for n in names if n.split(".")[0] == "refsvm" and not n.startswith("refsvm.core")]
            far += [n for n in names if n.split(".")[0] not in {*sys.stdlib_module_names, "numpy", "refsvm"}]
            if far:
                foreign[str(file.relative_to(ROOT))] = far
    assert foreign.keys() <= LATE_IN_CORE


def lines_of_code(file: Path) -> int:
    """Lines that hold code: none that are blank, comments or docstrings."""
    text, docs, code = file.read_text(encoding="utf-8"), set(), set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Expr) and isinstance(getattr(node.value, "value", None), str):
            docs.update(range(node.lineno, node.end_lineno + 1))
    blank = {
        tokenize.COMMENT,
        tokenize.NL,
        tokenize.NEWLINE,
        tokenize.INDENT,
        tokenize.DEDENT,
        tokenize.ENDMARKER,
    }
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type not in blank:
            code.update(range(token.start[0], token.end[0] + 1))
    return len(code - docs)


def test_the_reference_stays_small():
    """Who adds to it takes something out, or says in a decision why these numbers grow."""
    lines = sum(map(lines_of_code, (ROOT / "refsvm/core").rglob("*.py")))
    # safe screening came after the number, and has its own
    assert lines - lines_of_code(ROOT / "refsvm/core/solver/safe_screening.py") <= 8_200
    assert lines <= 8_340
    doors = (ROOT / "refsvm/core/doors.py").read_text(encoding="utf-8")
    named = re.findall(r"(?m)^        self\.(\w+)", doors)
    assert len(named) <= 4
    for door in named:  # each says why no caller can pass it
        assert re.search(rf"(?s)    {door} : callable.*?, because ", doors)
    for room, most in (("", 16), ("core", 25)):
        entries = [e.name for e in (ROOT / "refsvm" / room).iterdir() if not e.name.startswith("__pycache__")]
        assert len(entries) <= most


LATE_IN_CORE = {
    f"refsvm/core/{name}.py"
    for name in (
        "_checks",
        "kernels/checked",
        "kernels/sparse",
        "walk/algebra",
        "walk/linear_program",
        "walk/updated_qr",
    )
}
"""Files that import SciPy or pandas inside functions: data of a caller's, and the factors and the program of a path."""


def without_counterpart(folder: Path) -> list[str]:
    """The files of `compiled/` that mirror none; those of `interface/` and those that call compiled code need not."""
    files = {file.relative_to(folder / "compiled") for file in (folder / "compiled").rglob("*.py")}
    mirrors = {file for file in files if file.parts[0] != "interface" and file.name not in NOT_COMPILED}
    return sorted(
        file.as_posix()
        for file in mirrors
        if not any((folder / room / file).is_file() for room in ("core", "."))
    )


def test_every_twin_has_the_path_of_what_it_mirrors():
    assert without_counterpart(ROOT / "refsvm") == []


def doubled_classes(folder: Path) -> dict[str, list[str]]:
    """The class names that are defined more than once outside `compiled/`, whose twins carry the names they mirror."""
    places: dict[str, list[str]] = {}
    for file in sorted(folder.rglob("*.py")):
        if (place := file.relative_to(folder)).parts[0] != "compiled":
            for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
                if isinstance(node, ast.ClassDef):
                    places.setdefault(node.name, []).append(place.as_posix())
    return {name: files for name, files in places.items() if len(files) > 1}


def test_one_class_name_one_class():
    assert doubled_classes(ROOT / "refsvm").keys() <= {"Task"}


HOOKS = ("parameters", "twin", "memory", "rows_needed")
FIRST = {"problem", "solved"}
"""A seeder is asked for the memory of a solution, and says so in the name of the argument."""


def other_hooks(family: type[Rule], shipped: bool = False) -> list[str]:
    """The hooks, of a family and of all classes below it, that take something else than those of `Rule`."""
    found = []
    for rule in lineage(family):
        if shipped and not rule.__module__.startswith("refsvm."):
            continue
        for name in HOOKS:
            asked = (signature(getattr(each, name)).parameters.values() for each in (Rule, rule))
            wanted, given = ([(p.name in FIRST, p.kind, p.default) for p in each] for each in asked)
            if wanted != given:
                found.append(f"{rule.__name__}.{name}")
    return found


def lineage(rule: type[Rule]) -> list[type[Rule]]:
    """A class and all below it."""
    return [rule, *(each for child in rule.__subclasses__() for each in lineage(child))]


FAMILIES = [WorkingSetSelector, StepRule, StoppingRule, Seeder, PathTracker, Shrinking, Check]


@pytest.mark.parametrize("family", FAMILIES)
def test_the_hooks_of_all_families_are_the_same(family):
    assert issubclass(family, Rule)
    assert other_hooks(family, shipped=True) == []
    assert family.example_call


@pytest.mark.parametrize("family", FAMILIES)
def test_every_family_refuses_others_in_the_same_sentence(family):
    with pytest.raises(ValueError, match=rf"^it=3 is not a {family.__name__}; pass an instance, such as it="):
        family.checked("it", 3)


def rooms_with_a_table(folder: Path) -> list[Path]:
    """The rooms whose first docstring lists what stands in them, a line each."""
    return sorted(
        file.parent for file in folder.rglob("__init__.py") if re.search(r"(?m)^=+  =+$", docstring(file))
    )


def docstring(file: Path) -> str:
    return ast.get_docstring(ast.parse(file.read_text(encoding="utf-8"))) or ""


def listed_but_absent(room: Path) -> list[str]:
    """The names that begin a line of the table and are no file or folder of the room, nor defined in its own file."""
    doc, text = docstring(room / "__init__.py"), (room / "__init__.py").read_text(encoding="utf-8")
    columns = re.findall(r"(?m)^(`\w+`(?:, `\w+`)*)", doc)
    names = [name for column in columns for name in re.findall(r"\w+", column)]
    there = {file.stem for file in room.iterdir()} | set(re.findall(r"\w+", text.split('"""', 2)[2]))
    return [name for name in names if name not in there]


@pytest.mark.parametrize("room", rooms_with_a_table(ROOT / "refsvm"), ids=lambda room: room.name)
def test_what_a_room_lists_is_there(room):
    assert listed_but_absent(room) == []


def rows_of_contributing() -> list[list[str]]:
    """What stands in backquotes in each row of the table "Which tests a file touches"."""
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    part = text.split("## Which tests a file touches")[1].split("\n## ")[0]
    return [re.findall(r"`([^`]+)`", line) for line in part.splitlines() if line.startswith("| `")]


@in_the_repository
def test_contributing_says_which_tests_each_file_of_the_package_touches():
    said = [name for row in rows_of_contributing() for name in row]
    there = {file.name for file in (ROOT / "refsvm").iterdir() if not file.name.startswith("__pycache__")}
    missing = there - {"py.typed"} - set(said)
    named = [name for text in said for name in text.split() if name.startswith("tests/")]
    gone = [name for name in named if not (ROOT / name).exists()]
    assert (missing, gone) == (set(), [])
