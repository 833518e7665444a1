"""The shape of the code: few files at the root of the package, and no circle of imports anywhere."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


def imported(file: Path, root: Path) -> set[Path]:
    """Files below `root` that a file imports, also inside functions and for types only.

    ``from room import name`` imports the file of the name if there is one, and the room's __init__.py otherwise. That
    Python runs the __init__.py of every folder on the way does not count.
    """
    names: set[str] = set()
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            inside = file.relative_to(root).parts[: -node.level] if node.level else ()
            room = ".".join([*inside, *filter(None, [node.module])])
            for alias in node.names:
                within = f"{room}.{alias.name}" if room else alias.name
                names.add(within if source(within, root) else room)
    return {found for name in names if (found := source(name, root)) and found != file}


def source(name: str, root: Path) -> Path | None:
    """The file of a module, if it lies below `root`."""
    place = root.joinpath(*name.split("."))
    candidates = (place.with_name(f"{place.name}.py"), place / "__init__.py")
    return next((file for file in candidates if name and file.is_file()), None)


def circle(folder: Path, root: Path) -> list[str]:
    """One circle of imports among the files of a folder, its first file at both ends; empty if there is none."""
    graph = {file: sorted(imported(file, root)) for file in sorted(folder.rglob("*.py"))}
    finished: set[Path] = set()
    for first, uses in graph.items():
        trail, branches = [first], [iter(uses)]
        while trail:
            file = next(branches[-1], None)
            if file is None:
                finished.add(trail.pop())
                branches.pop()
            elif file in trail:
                return [str(each.relative_to(root)) for each in (*trail[trail.index(file) :], file)]
            elif file in graph and file not in finished:
                trail.append(file)
                branches.append(iter(graph[file]))
    return []


@pytest.mark.parametrize(("folder", "root"), [("refsvm", "."), ("benchmarks", "benchmarks"), ("tests", ".")])
def test_no_circle_of_imports(folder, root):
    if not (ROOT / folder).is_dir():
        pytest.skip(f"{folder} is not here")
    assert circle((ROOT / folder).resolve(), (ROOT / root).resolve()) == []


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("from room.b import thing", "from room.a import thing"),
        ("import room.b", "import room.a"),
        ("from room import b", "from .a import thing"),
        ("from . import b", "from room import a"),
        ("from room.b import thing", "def late():\n    from room.a import thing"),
        (
            "from room.b import thing",
            "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from room.a import X",
        ),
        ("from room import name", "pass"),
        ("import room", "pass"),
    ],
)
def test_a_circle_is_seen(tmp_path, one, other):
    room = tmp_path / "room"
    room.mkdir()
    (room / "__init__.py").write_text("from room.a import name")
    (room / "a.py").write_text(one)
    (room / "b.py").write_text(other)
    found = circle(room, tmp_path)
    assert found[0] == found[-1]
    assert set(found) == (
        {"room/__init__.py", "room/a.py"} if other == "pass" else {"room/a.py", "room/b.py"}
    )


def test_what_is_no_circle(tmp_path):
    """A room's __init__.py imports its files; they import each other one way, and other packages of any name."""
    (tmp_path / "room" / "sub").mkdir(parents=True)
    (tmp_path / "room" / "__init__.py").write_text("from room.a import name\nfrom room.sub.c import other")
    (tmp_path / "room" / "a.py").write_text("import os\nfrom room import b\nfrom numpy import a")
    (tmp_path / "room" / "b.py").write_text("from __future__ import annotations\nimport a")
    (tmp_path / "room" / "sub" / "__init__.py").write_text("")
    (tmp_path / "room" / "sub" / "c.py").write_text("from ..a import name\nfrom .. import b")
    assert circle(tmp_path / "room", tmp_path) == []
    assert imported(tmp_path / "room" / "sub" / "c.py", tmp_path) == {
        tmp_path / "room" / "a.py",
        tmp_path / "room" / "b.py",
    }


def test_eight_files_at_most_beside_the_folders():
    files = [entry.name for entry in (ROOT / "refsvm").iterdir() if entry.is_file()]
    assert len(files) <= 8, sorted(files)
