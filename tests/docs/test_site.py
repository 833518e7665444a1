"""What pages say of the package as a whole: its modules, its speed in a figure, its version."""

from __future__ import annotations

import re
import sys
from collections import Counter
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from pkgutil import iter_modules

import pytest

import refsvm

from ..programs import module

DOCS = Path(__file__).parents[2] / "docs"
pytestmark = pytest.mark.skipif(not DOCS.exists(), reason="the documentation is not here")


def test_every_module_stands_once_in_the_groups_of_the_api():
    groups, _ = (DOCS / "api" / "index.md").read_text(encoding="utf-8").split("## All modules")
    listed = Counter(re.findall(r"(?m)^   (refsvm\.\w+)$", groups))
    modules = {f"refsvm.{each.name}" for each in iter_modules(refsvm.__path__) if each.name[0] != "_"}
    assert listed == Counter(modules)


def test_the_figure_of_speeds_is_described_by_the_means_that_it_shows():
    pytest.importorskip("matplotlib")
    summary = module("summary", "docs/_ext")
    description = re.search(r"!\[(.*?)\]", (DOCS / "how_fast.md").read_text(encoding="utf-8"))[1]
    shown = [f"{summary.shares(line, DOCS / '_static' / 'how_fast')[1]:.2g}" for line in summary.LINES]
    described = re.findall(r"\b\d\.\d+", description)
    assert described == shown
    sys.modules.pop("summary")


@pytest.mark.parametrize(
    ("file", "place"),
    [
        ("CHANGELOG.md", r"(?m)^## \[([\d.]+)\] - \d{4}-\d\d-\d\d$"),
        ("CITATION.cff", r"(?m)^version: ([\d.]+)$"),
        ("README.md", r"(?m)^This is version ([\d.]+)\. "),
        ("docs/bibliography.md", r"version = \{([\d.]+)\}"),
    ],
)
def test_every_place_that_names_the_version_names_this_one(file, place):
    text = (DOCS.parent / file).read_text(encoding="utf-8")
    if file == "CHANGELOG.md" and "\n## [Unreleased]\n" in text:
        pytest.skip("changes that are not released stand above this version")
    assert re.search(place, text)[1] == refsvm.__version__


def test_no_person_stands_for_a_variable_or_a_caller():
    root = DOCS.parent
    pages = [*root.glob("*.md"), *DOCS.glob("*.md"), *DOCS.glob("[adp]*/*.md"), *root.glob("tutorials/*.*")]
    files = [*pages, *root.glob("refsvm/**/*.py"), *root.glob("docs/examples/*.py")]
    quoted = {"0020-words.md"}  # these words are its subject
    found = [
        (file.name, word)
        for file in files
        if file.name not in quoted
        for word in re.findall(r"(?i)\b(?:whoever|(?:no|some|any)body)\b", file.read_text(encoding="utf-8"))
    ]
    assert len(files) > 300
    assert found == []


def test_every_reference_names_the_module_that_has_the_page():
    for library in ("numba", "sklearn", "matplotlib"):  # which modules of references import
        pytest.importorskip(library)
    root = DOCS.parent
    pages = [*DOCS.glob("*.md"), *DOCS.glob("[adp]*/*.md"), *DOCS.glob("examples/0*.py")]
    pages += root.glob("tutorials/*.py")
    role = r"(?:\{(?:py:)?(?:func|class|meth|attr|exc)\}|:(?:py:)?(?:func|class|meth|attr|exc):)`([^`]+)`"
    targets = {
        (page.name, re.sub(r".*<|[~>]", "", each, flags=re.DOTALL))
        for page in pages
        for each in re.findall(role, page.read_text(encoding="utf-8"))
    }
    assert len(targets) > 150
    assert sorted(each for each in targets if not has_entry(each[1])) == []


def has_entry(target: str) -> bool:
    """Whether the page of the module that the name begins with documents the rest of it."""
    module = target.rpartition(".")[0]
    while module and find_module(module) is None:
        module = module.rpartition(".")[0]
    if not module:
        return False
    names = target.removeprefix(f"{module}.").split(".")
    owner = import_module(module)
    if getattr(vars(owner).get(names[0]), "__module__", module) != module:
        return False
    for name in names:
        if name not in vars(owner) and name not in getattr(owner, "__annotations__", {}):
            return False
        owner = vars(owner).get(name)
    return True


def find_module(name: str) -> object:
    """Return the specification of a module, or None."""
    try:
        return find_spec(name)
    except ModuleNotFoundError:  # a part of the name is no package
        return None


def test_public_names_in_docstrings_lead_to_the_modules_that_define_them():
    pytest.importorskip("sphinx")
    canonical = module("public_names", "docs/_ext").canonical
    assert canonical("SVC") == canonical("refsvm.SVC") == "refsvm.estimators.svc.SVC"
    assert canonical("DualProblem.classification") == "refsvm.core.formulations.Formulations.classification"
    assert [canonical(name) for name in ("budget", "refsvm.core.solver", "NamedTuple", "")] == [""] * 4
    sys.modules.pop("public_names")


def test_every_dotted_name_in_backticks_is_there():
    """A module that has moved leaves its old name in docstrings and pages; no build checks these references."""
    for library in ("numba", "sklearn", "matplotlib", "typer"):
        pytest.importorskip(library)
    root = DOCS.parent
    pages = [*DOCS.glob("*.md"), *DOCS.glob("[dp]*/*.md")]
    files = [*pages, *root.glob("refsvm/**/*.py"), *root.glob("tutorials/*.py")]
    names = {
        (file.name, name)
        for file in files
        for name in re.findall(r"`~?(refsvm(?:\.\w+)+)(?:\(\))?`", file.read_text(encoding="utf-8"))
    }
    assert len(names) > 200
    assert sorted(each for each in names if not is_there(each[1])) == []


def is_there(name: str) -> bool:
    """Whether a dotted name is a module, or an attribute or field of what stands before its last dots."""
    parts = name.split(".")
    k = next(k for k in range(len(parts), 0, -1) if find_module(".".join(parts[:k])) is not None)
    owner = import_module(".".join(parts[:k]))
    for part in parts[k:]:
        if not hasattr(owner, part):
            return part in getattr(owner, "__annotations__", {})
        owner = getattr(owner, part)
    return True
