"""The audits "identities" and "identities_by_dask": two runs are one if they differ in nothing that a number rests on.

Of each number there are two pairs of rules, kernels and data: one differs in one thing, the other in none that counts.

Each pair is two versions of a file with a kernel, a step rule and a strategy of one's own, which compute with a number
that depends on everything in it. One version is computed and stored, then the other one asks the same store. It is
wrong if it gets the numbers of another run, or computes again what is there.
"""

from __future__ import annotations

import importlib.util
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from refsvm import RBF, SVCCV, SVRCV
from refsvm.datasets import Dataset
from refsvm.experiment import Experiment, Problem, Solve

from .frame import Audit, Found, two_workers

SOURCE = '''
"""{docstring}"""
import enum
import functools
from dataclasses import InitVar, dataclass, field

import numpy as np
import {name}_helper
from {name}_helper import halved
from refsvm import StepRule
from refsvm.experiment import Strategy
{comment}
FACTOR = {constant}
TABLE = {{"a": {entry}, "b": 2.0}}
_log = object()


class Colour(enum.Enum):
    RED = {member}


class Base:
    SHIFT = {attribute}

    def lift(self):
        """{docstring}"""
        return {base}


def helped(v):
    return v {operator} {helper}{unrelated}


@functools.cache
def kept(v):
    return v + {kept}


@functools.wraps(helped)
def wrapped(v, by={default}, *, more={keyword}):
    return helped(v) + by + more


def factory(closure, inner):
    def within():
        return inner

    @dataclass(frozen=True)
    class Amount(Base):
        value: object = 1.0
        hidden: object = field(default=0.0, repr=False)
        table: object = None
        late: InitVar[float] = 0.0

        def __post_init__(self, late):
            object.__setattr__(self, "_late", late)

        @functools.cached_property
        def total(self):
            return float(np.asarray(self.table, dtype=float).sum()) if self.table is not None else 0.0

        @property
        def plain(self):
            return {property}

        @staticmethod
        def still():
            return {static}

        def __call__(self):
            from {name}_helper import late_import
            parts = [
                self.value, self.hidden, self._late, closure, within(), FACTOR, TABLE["a"], Colour.RED.value,
                self.SHIFT, self.lift(), wrapped(1.0), kept(1.0), self.plain, self.still(), halved(4.0),
                {name}_helper.DEPTH, late_import(), (lambda: {anonymous})(),
            ]
            extra = len(str(getattr(self.table, "dtype", ""))) + len(str(getattr(self.table, "shape", "")))
            return 1.0 + abs(sum(map(float, parts)) + 0.001 * extra + float(self.shown()))

        def shown(self):
            if isinstance(self.table, dict):
                return sum(float(v) for v in self.table.values())
            if hasattr(self.table, "columns"):
                return float(self.table.to_numpy().sum()) + 0.001 * len("".join(map(str, self.table.columns)))
            if isinstance(self.table, (set, frozenset)):
                return sum(map(float, self.table))
            if callable(self.table):
                return float(self.table(1.0))
            return self.total if hasattr(self.table, "dtype") and not hasattr(self.table, "tocsr") else (
                float(self.table.sum()) if hasattr(self.table, "sum") else 0.0)

    return Amount


@dataclass(frozen=True)
class Bell:
    amount: object

    def __call__(self, X, Z):
        return np.exp(-self.amount() * ((X[:, None] - Z[None]) ** 2).sum(-1) / 50.0)


@dataclass(frozen=True)
class Share(StepRule):
    amount: object

    def length(self, state, i, j):
        part = 0.2 + 0.7 * (self.amount() % 1.0)
        return min(max(part * state.slope / state.curvature, state.low), state.high)


@dataclass(frozen=True)
class Told(Strategy):
    amount: object

    def run(self, instance):
        return {{"amount": self.amount()}}


def module_level(v, by={partial}):
    return v + by
'''

HELPER = """
DEPTH = {depth}
def halved(v):
    return v / {divisor}
def late_import():
    return {imported}
"""

NUMBERS = (
    "constant", "entry", "member", "attribute", "base", "helper", "kept", "default", "keyword", "property",
    "static", "anonymous", "depth", "divisor", "imported", "partial",
)  # fmt: skip
"""Numbers in the text of the two files; the last is a default that a partial object replaces."""

HELD = ("value", "hidden", "late", "closure", "inner")
"""Numbers that an object gets."""

TABLES = "array", "dtype", "shape", "sparse", "frame", "column", "mapping", "set", "partial object", "method"
"""What may stand in a field, of which one thing differs."""


@dataclass(frozen=True)
class Version:
    """One version of the files and of the object made by them."""

    name: str
    numbers: dict[str, Any]
    operator: str = "+"
    comment: str = ""
    docstring: str = "Mine."
    unrelated: str = ""
    table: str = ""
    entries: tuple[float, ...] = (1.0, 2.0, 3.0)
    form: str = "plain"
    folder: str = "one"

    def changed(self, name: str, value: Any) -> Version:
        """Another number by this name."""
        return replace(self, numbers=self.numbers | {name: value})


def version_of(rng: np.random.Generator, name: str) -> Version:
    """Random numbers in all places."""
    numbers = {each: float(rng.integers(1, 100)) / 8.0 for each in (*NUMBERS, *HELD)}
    return Version(
        name, numbers, table=str(rng.choice(["", *TABLES])), entries=tuple(rng.integers(1, 9, 3) + 0.5)
    )


def loaded(version: Version, root: Path) -> ModuleType:
    """Write the two files of a version, and import them under its name, anew."""
    folder = root / version.folder
    folder.mkdir(exist_ok=True)
    names = {
        field: getattr(version, field) for field in ("name", "operator", "comment", "docstring", "unrelated")
    }
    made = None
    for suffix, text in (("_helper", HELPER), ("", SOURCE)):
        file = folder / f"{version.name}{suffix}.py"
        file.write_text(text.format(**version.numbers, **names))
        specification: Any = importlib.util.spec_from_file_location(file.stem, file)
        made = importlib.util.module_from_spec(specification)
        sys.modules[file.stem] = made
        # compiled here: Python takes two files that are written within a second for one
        exec(compile(file.read_text(), str(file), "exec"), vars(made))
    assert made is not None
    return made


def table_of(version: Version, module: ModuleType) -> Any:
    """What stands in the field: the same in another form counts as the same."""
    first, second, third = version.entries
    other, kind = version.form == "other", version.table
    pairs = [("a", first), ("b", second), ("c", third)]
    made: dict[str, Callable[[], Any]] = {
        "": lambda: None,
        "sparse": lambda: sparse_table(version.entries, other),
        "frame": lambda: frame_of(version),
        "column": lambda: frame_of(version),
        "mapping": lambda: dict(pairs[::-1] if other else pairs),
        "set": lambda: {*(version.entries[::-1] if other else version.entries)},
        "partial object": lambda: partial(module.module_level, by=first),
        "method": lambda: np.poly1d([first, second]).__call__,
    }
    return made.get(kind, lambda: array_of(version))()


def array_of(version: Version) -> np.ndarray:
    """An array of four numbers, of another type, shape or order in memory where the form says so."""
    first, second, third = version.entries
    values = np.array([[first, second], [third, 1.0]])
    if version.form == "dtype":
        return values.astype(np.float32)
    if version.form == "shape":
        return values.reshape(1, 4)
    return np.asfortranarray(values) if version.form == "other" else values


def sparse_table(entries: tuple[float, ...], other: bool) -> Any:
    """A sparse matrix; in the other form with another order of the same entries, and other integers."""
    from scipy.sparse import csr_array

    data, places = np.array(entries), np.array([0, 3, 1])
    order = np.array([1, 0, 2]) if other else np.arange(3)
    starts = np.array([0, 2, 3], dtype=np.int64 if other else np.int32)
    return csr_array((data[order], places[order].astype(starts.dtype), starts), shape=(2, 5))


def frame_of(version: Version) -> Any:
    """A frame of two columns, the second of which may have another name."""
    from pandas import DataFrame

    first, second, third = version.entries
    return DataFrame({"a": [first, second], "bb" if version.form == "column" else "b": [third, 1.0]})


def amount_of(version: Version, root: Path) -> tuple[Any, ModuleType]:
    """The number that depends on all of a version, as an object."""
    module = loaded(version, root)
    numbers = version.numbers
    value = np.float64(numbers["value"]) if version.form == "other" else numbers["value"]
    cls = module.factory(numbers["closure"], numbers["inner"])
    made = cls(value, numbers["hidden"], table_of(version, module), numbers["late"])
    if version.form == "used":
        made()  # what is computed when it is first asked for makes no other object
    return made, module


def one_thing_differs(rng: np.random.Generator, version: Version) -> tuple[str, Version]:
    """Return what differs, and the other version."""
    names = (*NUMBERS[:-1], *HELD)
    ways = [(name, version.changed(name, version.numbers[name] + 0.125)) for name in names]
    ways.append(("type of a number", version.changed("value", int(np.ceil(version.numbers["value"])))))
    ways.append(("code", replace(version, operator="-")))
    ways.append(("module", replace(version, name=f"{version.name}_too")))
    if version.table:
        first, *others = version.entries
        ways += 4 * [(f"entry of {version.table}", replace(version, entries=(first + 0.25, *others)))]
    if version.table in ("dtype", "shape", "column"):
        ways += 8 * [(version.table, replace(version, form=version.table))]
    return ways[int(rng.integers(len(ways)))]


def nothing_differs(rng: np.random.Generator, version: Version) -> tuple[str, Version]:
    """Return in what the other version differs that does not matter, and that version."""
    ways = [
        ("nothing", version),
        ("comment", replace(version, comment="# a remark\n\n# and another one")),
        ("docstring", replace(version, docstring="Mine, as described elsewhere.")),
        ("another function", replace(version, unrelated="\n\ndef elsewhere():\n    return FACTOR * 7.0")),
        ("folder", replace(version, folder="two")),
        ("form", replace(version, form="other")),
        ("use", replace(version, form="used")),
    ]
    return ways[int(rng.integers(len(ways)))]


Way = Callable[[Version, Path, Path], tuple[int, float]]
"""Computes with a version and a store; returns how many runs were new, and the result."""

DATA = np.random.default_rng(0).normal(size=(24, 2))
SIGNS = np.where(DATA[:, 0] + 0.5 * np.sin(5.0 * DATA[:, 1]) > 0, 1.0, -1.0)


def ran(experiment: Experiment, metric: str) -> tuple[int, float]:
    """Carry out an experiment of one run."""
    return experiment.run(), float(experiment.records()[0][metric])


def problem_with(kernel: Any = RBF(0.5)) -> Problem:  # noqa: B008  a frozen object
    """The examples, with a kernel."""
    return Problem("p", lambda: Dataset("p", DATA, SIGNS), kernel=kernel, C=10.0)


def by_strategy(version: Version, root: Path, store: Path) -> tuple[int, float]:
    """A strategy of one's own in an experiment."""
    amount, module = amount_of(version, root)
    return ran(Experiment([module.Told("told", amount)], [problem_with()], store), "amount")


def by_rule(version: Version, root: Path, store: Path) -> tuple[int, float]:
    """A step rule of one's own in an experiment."""
    amount, module = amount_of(version, root)
    way = Solve("rule", step=module.Share(amount), shrinking=False, engine="numpy", max_iter=2000)
    return ran(Experiment([way], [problem_with()], store), "iterations")


def by_kernel(version: Version, root: Path, store: Path) -> tuple[int, float]:
    """A kernel of one's own in an experiment."""
    amount, module = amount_of(version, root)
    way = Solve("kernel", engine="numpy", max_iter=2000)
    return ran(Experiment([way], [problem_with(module.Bell(amount))], store), "objective")


def by_search(
    search: type, version: Version, root: Path, store: Path, n_jobs: int | None = None
) -> tuple[int, float]:
    """A kernel of one's own in a search, whose cells count."""
    amount, module = amount_of(version, root)
    target = SIGNS if search is SVCCV else SIGNS + DATA[:, 1]
    before = cells_in(store)
    options = {
        "Cs": [1.0, 5.0] if n_jobs else [1.0],
        "cv": 2,
        "refit": False,
        "engine": "numpy",
        "n_jobs": n_jobs,
    }
    scoring = None if search is SVRCV else "roc_auc"
    if n_jobs:
        in_workers(version, root)
    found = search(kernel=module.Bell(amount), store=store, scoring=scoring, **options).fit(DATA, target)
    return cells_in(store) - before, float(found.best_score_)


def in_workers(version: Version, root: Path) -> None:
    """Have each Dask worker hold the same files under the same names."""
    from distributed import get_client

    texts = {
        name: (root / version.folder / f"{name}.py").read_text()
        for name in (f"{version.name}_helper", version.name)
    }

    def hold(texts: dict[str, str]) -> None:
        for name, text in texts.items():
            sys.modules[name] = made = ModuleType(name)
            exec(compile(text, f"{name}.py", "exec"), vars(made))

    get_client().run(hold, texts)


def cells_in(store: Path) -> int:
    """How many runs a store holds."""
    import sqlite3
    from contextlib import closing

    if not store.is_file():
        return 0
    with closing(sqlite3.connect(store)) as connection:
        return int(connection.execute("SELECT count(*) FROM runs").fetchone()[0])


WAYS: dict[str, Way] = {
    "strategy": by_strategy,
    "step rule": by_rule,
    "kernel": by_kernel,
    "SVCCV": partial(by_search, SVCCV),
    "SVRCV": partial(by_search, SVRCV),
}


def wrong_of(seed: int, number: int, ways: dict[str, Way] = WAYS) -> list[str]:
    """Try a pair of both kinds; return a line for each that is wrong."""
    wrong = []
    names = ("mine_of_pairs", "colorsys")  # a file may have the name of a module of Python
    for kind, other_of in (("differ", one_thing_differs), ("same", nothing_differs)):
        rng = np.random.default_rng((seed, number, kind == "same"))
        version = version_of(rng, names[int(rng.integers(10) == 0)])
        what, other = other_of(rng, version)
        way = sorted(ways)[int(rng.integers(len(ways)))]
        with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
            warnings.simplefilter("ignore")
            root, store = Path(folder), Path(folder, "a.sqlite")
            ways[way](version, root, store)
            new, told = ways[way](other, root, store)
            _, true = ways[way](other, root, Path(folder, "b.sqlite"))
        # the numbers of two versions may be equal by chance, but not those of one differ
        if (new > 0) != (kind == "differ") or told != true:
            wrong.append(f"{kind} ({what}, by {way}): {new} new runs, told {told}, true {true}")
    return wrong


BY_DASK: dict[str, Way] = {
    f"{search.__name__} on Dask": partial(by_search, search, n_jobs=2) for search in (SVCCV, SVRCV)
}


@contextmanager
def modules_restored() -> Iterator[None]:
    """Put back the module whose name a file gets."""
    known = sys.modules.get("colorsys")
    yield
    if known is not None:
        sys.modules["colorsys"] = known


def case(number: int, options: Any) -> Found:
    """Try a pair of both kinds."""
    return Found(wrong_of(0, number))


def by_dask(number: int, options: Any) -> Found:
    """The same in searches by two workers."""
    return Found(wrong_of(1, number, BY_DASK))


AUDITS = {
    "identities": Audit("Are two runs one exactly if their numbers are?", case, 300, around=modules_restored),
    "identities_by_dask": Audit("And by Dask workers?", by_dask, 20, around=two_workers),
}
