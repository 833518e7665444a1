"""Two objects have one identity if they differ in nothing that a number depends on, and two if they do."""

import functools
import logging
import os
import random
import sys
import threading
from contextlib import closing
from dataclasses import InitVar, dataclass, field, replace
from enum import Flag
from importlib import import_module
from itertools import count
from pathlib import Path
from sqlite3 import connect
from typing import Any

import numpy as np
import pytest

pytest.importorskip("sklearn")

from refsvm import RBF, SVCCV, NewtonStep, SecondOrder
from refsvm.experiment import Experiment, Problem, RunStore, Solve, Strategy
from refsvm.services.identity import described, digest_of
from refsvm.services.identity.origin import Origin, of_object

from ..programs import printed_by
from .echoes import Echo, echoes, numbered, refused, rows_of


@dataclass(frozen=True)
class Holding:
    """A rule of the user that holds something, shown or not."""

    value: Any = None
    hidden: Any = field(default=None, repr=False, compare=False)
    late: InitVar[Any] = None

    def __post_init__(self, late):
        object.__setattr__(self, "_late", late)

    @functools.cached_property
    def doubled(self):
        return 2 * self.value


class Slotted:
    __slots__ = ("_two", "one")

    def __init__(self, one, two):
        self.one, self._two = one, two

    def __repr__(self):
        return "Slotted()"


class Counted(dict):
    def __repr__(self):
        return "Counted()"


def bell(gamma, inner=lambda: 1.0):
    @dataclass(frozen=True)
    class Bell:
        def __call__(self, X, Z):
            return np.exp(-gamma * inner() * ((X[:, None] - Z[None]) ** 2).sum(-1))

    return Bell()


TYPED = {
    "a function": "def made(v):\n    return FACTOR * v",
    "a class": "class Made:\n    def __call__(self, v):\n        return FACTOR * v\nmade = Made",
    "the call of a dataclass": (
        "@dataclass(frozen=True)\nclass Made:\n    def __call__(self, v):\n        return FACTOR * v\nmade = Made"
    ),
    "the constant of a dataclass": (
        "@dataclass(frozen=True)\nclass Made:\n    def __call__(self, v):\n        return {} * v\nmade = Made"
    ),
}
NAMESPACES = {
    "none": {},
    "that of a module of Python": {"__name__": "json"},
    "that of a package": {"__name__": "sklearn.svm"},
    "that of this file": {"__name__": __name__},
}


def typed(text, factor, **space):
    """Return a rule that holds a function or a class which is made of text, as in ``python -c``."""
    space |= {"FACTOR": factor, "dataclass": dataclass}
    exec(text.format(factor), space)
    return Holding(space["made"])


def adding(by, *, more=0.0):
    def add(v, first=by, *, second=more):
        return v + first + second

    return add


PAIRS = {
    "a field": (Holding(1.0), Holding(2.0)),
    **{
        f"a number in {what} typed as text, in {where}": tuple(typed(text, by, **space) for by in (1.0, 2.0))
        for where, space in NAMESPACES.items()
        for what, text in TYPED.items()
    },
    "a field that is not shown": (Holding(hidden=1.0), Holding(hidden=2.0)),
    "an attribute that is no field": (Holding(late=1.0), Holding(late=2.0)),
    "a slot": (Slotted(1, 2), Slotted(1, 3)),
    "an entry of a kind of dict": (Counted(a=1), Counted(a=2)),
    "a variable of a closure": (bell(1.0), bell(2.0)),
    "a function of a closure": (bell(1.0), bell(1.0, lambda: 2.0)),
    "a default": (Holding(adding(1.0)), Holding(adding(2.0))),
    "a default by name": (Holding(adding(1.0, more=1.0)), Holding(adding(1.0, more=2.0))),
    "an operation": (Holding(lambda v: v + 1), Holding(lambda v: v - 1)),
    "a constant": (Holding(lambda v: v + 1), Holding(lambda v: v + 2)),
    "a function of NumPy": (Holding(np.exp), Holding(np.log)),
    "a function called": (Holding(lambda v: np.exp(v) + 1), Holding(lambda v: np.log(v) + 1)),
    "an argument of a partial": (
        Holding(functools.partial(adding, 1.0)),
        Holding(functools.partial(adding, 2.0)),
    ),
    "the object of a method": (Holding(Holding(1.0).__eq__), Holding(Holding(2.0).__eq__)),
    "the type of a number": (Holding(1), Holding(1.0)),
    "a truth value": (Holding(1), Holding(True)),
    "the sign of zero": (Holding(0.0), Holding(-0.0)),
    "the precision of a number": (Holding(np.float32(0.5)), Holding(0.5)),
    "a small entry of an array": (Holding(np.zeros(3000)), Holding(np.eye(1, 3000)[0] * 1e-13)),
    "an entry of an array": (Holding(np.zeros(5000)), Holding(np.eye(1, 5000, 2500)[0])),
    "the type of an array": (Holding(np.zeros(3)), Holding(np.zeros(3, dtype=np.float32))),
    "the type of another size": (Holding(np.zeros(4)), Holding(np.zeros(4, dtype=np.int64))),
    "the shape of an array": (Holding(np.zeros((2, 3))), Holding(np.zeros((3, 2)))),
    "an array of objects": (
        Holding(np.array([1, "a"], dtype=object)),
        Holding(np.array([1, "b"], dtype=object)),
    ),
    "a masked entry": (
        Holding(np.ma.MaskedArray([1.0, 2.0], [0, 1])),
        Holding(np.ma.MaskedArray([1.0, 2.0], [1, 0])),
    ),
    "a list and a tuple": (Holding([1, 2]), Holding((1, 2))),
    "a key": (Holding({"a": 1}), Holding({"b": 1})),
    "a member of a set": (Holding({"a", "b"}), Holding({"a", "c"})),
    "the state of a generator": (Holding(np.random.default_rng(0)), Holding(np.random.default_rng(1))),
    "the random numbers of Python": (Holding(random.Random(0)), Holding(random.Random(1))),
    "a rule in a rule": (Holding(SecondOrder(0.5)), Holding(SecondOrder(0.6))),
    "the class of a rule": (Holding(NewtonStep()), Holding(SecondOrder())),
    "Nones in another place": (Holding((None, (1,))), Holding((None, 1))),
}  # fmt: skip


@pytest.mark.parametrize("what", PAIRS)
def test_what_differs_in_one_thing_has_two_identities(what):
    one, other = PAIRS[what]
    assert described("rule", one) != described("rule", other)


SAME = {
    "made twice": lambda: Holding(1.0, (2.0, "a")),
    "a factory called twice": lambda: bell(1.0, lambda: 3.0),
    "a function that calls itself": lambda: Holding(recursive),
    "an object that holds itself": lambda: around(3),
    "a NumPy number": iter([Holding(0.5), Holding(np.float64(0.5))]).__next__,
    "a copy of an array": lambda: Holding(np.arange(4.0)),
    "the order of memory": iter([Holding(np.tri(3)), Holding(np.asfortranarray(np.tri(3)))]).__next__,
    "the order of a dict": iter([Holding({"a": 1, "b": 2}), Holding({"b": 2, "a": 1})]).__next__,
    "one object twice, and two equal ones": iter([Holding((bell(1.0),) * 2), Holding((bell(1.0), bell(1.0)))]).__next__,
    "what is computed when it is first asked for": iter([asked := Holding(1.0), Holding(asked.doubled / 2)]).__next__,
    "logs, locks and marks": lambda: Holding((logging.getLogger("a"), threading.Lock(), object())),
}  # fmt: skip


def recursive(n):
    return 1 if n < 1 else n * recursive(n - 1)


def around(n):
    held = [n]
    held.append(held)
    return Holding(held)


@pytest.mark.parametrize("what", SAME)
def test_what_differs_in_nothing_has_one_identity(what):
    assert described("rule", SAME[what]()) == described("rule", SAME[what]())


def two_fold(x):
    return 2 * x


def compiled(how):
    """The function by a decorator of Numba."""
    return getattr(pytest.importorskip("numba"), how)(two_fold)


def of_a_new_class():
    """An object of a class that nobody has used."""
    return dataclass(frozen=True)(type("New", (), {"__annotations__": {"value": float}, "value": 1.0}))()


USED = {
    "pickled, as for another process": (of_a_new_class, lambda each: each.__reduce_ex__(2)),
    "a flag of two flags": (lambda: Flag("Flag", "A B").A, lambda each: type(each)(3)),
    "compiled at its first call": (lambda: compiled("njit"), lambda each: each(3.0)),
    "a ufunc, too": (lambda: compiled("vectorize"), lambda each: each(np.arange(3.0))),
    "remembered": (lambda: functools.cache(two_fold), lambda each: each(3.0)),
}


@pytest.mark.parametrize("what", USED)
def test_what_is_used_keeps_its_identity(what):
    make, use = USED[what]
    made = make()
    before = digest_of(made)
    use(made)
    assert digest_of(made) == before


def test_sparse_matrices_and_frames_count_by_content():
    sparse, pandas = pytest.importorskip("scipy.sparse"), pytest.importorskip("pandas")
    values = np.array([[0.0, 1.0], [2.0, 3.0]])
    rows = sparse.csr_array(values)
    moved = sparse.csr_array(
        (rows.data[[0, 2, 1]], rows.indices[[0, 2, 1]].astype(np.int64), rows.indptr), (2, 2)
    )
    frame = pandas.DataFrame(values, columns=["a", "b"])
    assert digest_of(rows) == digest_of(rows.copy()) == digest_of(moved)
    assert digest_of(frame) == digest_of(frame.copy())
    others = [
        rows, 2.0 * rows, rows.astype(np.float32), rows.tocsc(), sparse.csr_matrix(rows), sparse.csr_array((2, 2)),
        frame, frame + 1.0, frame.astype(np.float32), frame.rename(columns={"a": "c"}), frame.set_index("a"),
        frame["a"], frame["b"], frame["a"].rename("z"), frame["a"].astype("category"), frame.columns,
    ]  # fmt: skip
    assert len({digest_of(each) for each in others}) == len(others)


MODULE = """
from dataclasses import dataclass
import {name}_tools

FACTOR = 1.0

def scaled(v):
    return {name}_tools.by(v) * FACTOR

@dataclass(frozen=True)
class Bell:
    def __call__(self, X, Z):
        from {name}_tools import shift
        return scaled(X @ Z.T) + shift()
"""
TOOLS = "def by(v):\n    return v * 2.0\ndef shift():\n    return 0.5\n"


@pytest.fixture
def file(tmp_path, monkeypatch):
    """A function that writes two files with a kernel, imports them anew and describes the kernel."""
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)

    def description(name="bell_of_test", module=MODULE, tools=TOOLS):
        for suffix, text in (("_tools", tools), ("", module)):
            (tmp_path / f"{name}{suffix}.py").write_text(text.format(name=name))
            monkeypatch.delitem(sys.modules, f"{name}{suffix}", raising=False)
        return described("kernel", import_module(name).Bell())

    return description


@pytest.mark.parametrize(
    "change",
    [
        {"module": MODULE.replace("1.0", "3.0")},
        {"module": MODULE.replace("* FACTOR", "+ FACTOR")},
        {"module": MODULE.replace("+ shift()", "- shift()")},
        {"tools": TOOLS.replace("2.0", "3.0")},
        {"tools": TOOLS.replace("0.5", "0.6")},
        {"name": "second_of_test"},
    ],
)
def test_code_that_was_edited_is_other_code(file, change):
    assert file() != file(**change)


@pytest.mark.parametrize(
    "change",
    [
        {"module": MODULE.replace("FACTOR = 1.0", "# a remark\n\nFACTOR = 1.0  # and another")},
        {"module": MODULE.replace("    return {name}", '    """Documented."""\n    return {name}')},
        {"module": MODULE + "\ndef elsewhere():\n    return scaled(3.0)\n"},
        {"tools": TOOLS + "\nUNUSED = 3.0\n"},
        {},
    ],
)
def test_what_computes_nothing_is_no_part_of_the_code(file, change):
    assert file() == file(**change)


def test_a_file_by_the_name_of_a_module_of_python_is_one_of_the_user(file):
    assert "colorsys" in sys.stdlib_module_names
    assert file("colorsys") != file("colorsys", MODULE.replace("1.0", "3.0"))


def test_an_edit_that_is_not_loaded_is_seen_and_so_is_one_that_is(tmp_path, file):
    before = file()
    kernel = sys.modules["bell_of_test"].Bell()
    (tmp_path / "bell_of_test.py").write_text(MODULE.format(name="bell_of_test").replace("1.0", "3.0"))
    edited = described("kernel", kernel)
    assert len({before, edited, file(module=MODULE.replace("1.0", "3.0"))}) == 3


LAZY = """
DEBUG = False
class Bell:
    def __call__(self, X, Z):
        if DEBUG:
            import {name}_tools
        from {name}_package import part
        return X @ Z.T
"""
NUMBERS = count()
WRITES = "from pathlib import Path\nPath({mark!r}).touch()\nraise RuntimeError\n"


@pytest.fixture
def lazy(tmp_path, monkeypatch):
    """A function that writes a kernel and the modules that it imports when it is called, and returns the kernel."""
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)

    def description(tools="", package="", part="", runs=False):
        name = f"lazy_{next(NUMBERS)}_of_test"  # which no module has that is loaded
        (tmp_path / f"{name}_package").mkdir()
        said = WRITES.format(mark=str(tmp_path / "executed")) if not runs else ""
        for file, text in (
            ("_tools", tools),
            ("_package/__init__", package),
            ("_package/part", part),
            ("", LAZY),
        ):
            text = text.replace("{name}", name) + said * (file != "")
            (tmp_path / f"{name}{file}.py").write_text(text)
        kernel = import_module(name).Bell()
        found = digest_of(kernel)
        if runs:
            kernel(np.ones((1, 1)), np.ones((1, 1)))
            assert f"{name}_package.part" in sys.modules
            assert digest_of(kernel) == found
        return kernel

    return description


def test_to_describe_code_runs_no_module_that_it_only_names(lazy, tmp_path):
    lazy(
        tools="import {name}\n",
        package="from . import part\nfrom .nowhere import x\n",
        part="import {name}_package\n",
    )
    assert not (tmp_path / "executed").exists()


def test_what_a_run_imports_does_not_change_its_identity(lazy):
    lazy(part="import {name}_tools\n", runs=True)


@pytest.mark.parametrize("file", ["_tools", "_package/__init__", "_package/part"])
def test_an_edit_of_what_is_imported_later_is_seen(file, lazy, tmp_path):
    kernel = lazy()
    found, name = [digest_of(kernel)], type(kernel).__module__
    for text in ("def f():\n    return 1\n", "def f():\n    'Documented.'\n    return 1  # one\n", "x = 2\n"):
        (tmp_path / f"{name}{file}.py").write_text(text)
        found.append(digest_of(kernel))
    assert found[1] == found[2]
    assert len({*found}) == 3


@pytest.mark.slow
def test_another_process_finds_the_same_identity(tmp_path):
    """Sets of text have another order in each process."""
    script = tmp_path / "script.py"
    script.write_text(
        "from dataclasses import dataclass\nfrom refsvm.services.identity import described\n"
        "@dataclass(frozen=True)\nclass Mine:\n    names: frozenset = frozenset('abcdefgh')\n"
        "    def __call__(self, X, Z):\n        return X in {'a', 'b', 'c'}\n"
        "print(described('kernel', Mine()))\n"
    )
    found = {
        printed_by(script, PYTHONHASHSEED=seed, PYTHONPATH=os.pathsep.join(sys.path))
        for seed in ("0", "1", "2")
    }
    assert len(found) == 1


def test_what_has_no_identity_is_refused_with_the_way_out():
    way_out = "make it a frozen dataclass", "identity='...'"
    refused(lambda: described("kernel", lambda X, Z: X @ Z.T), "kernel=<function", *way_out)
    refused(lambda: described("kernel", object()), "kernel=<object object at", *way_out)
    handle = Path(__file__).open()  # noqa: SIM115  closed below
    with handle:
        for held, where in (
            (handle, "value"),
            ([1, {"a": handle}], "value."),
            (lambda: handle, "value.closure handle"),
            ((k for k in range(3)), "value is a generator"),
        ):
            refused(lambda held=held: described("rule", Holding(held)), f"finished run ({where}", *way_out)


@dataclass(frozen=True)
class Told(Strategy):
    """Counts calls of something that has no identity by value."""

    source: Any = None

    def run(self, instance):
        return {"value": self.source.value}


class Source:
    """Holds a generator; what it is, its user says."""

    def __init__(self, value, identity=None):
        self.value, self.items = value, (k for k in range(3))
        if identity is not None:
            self.identity = identity

    def __repr__(self):
        return f"Source({self.value})"


def test_an_identity_of_ones_own_stands_for_what_has_none(store):
    def run_of(*sources):
        ways = [Told(name, source) for name, source in zip("ab", sources, strict=False)]
        return Experiment(ways, [Problem("numbered", numbered)], store).run()

    refused(lambda: run_of(Source(1.0)), "a finished run (items is a generator)")
    assert run_of(Source(1.0, "first"), Source(1.0, "second")) == 2
    assert run_of(Source(1.0, "first")) == 0
    assert run_of(Source(2.0, "first")) == 1, "what can be seen counts, too"


def test_two_runs_of_one_identity_with_different_objects_are_an_error(store):
    ways = [Told("a", Source(1.0, "same")), Told("b", Source(1.0, "same"))]
    experiment = Experiment(ways, [Problem("numbered", numbered)], store)
    refused(
        experiment.run, "'a' on 'numbered' and 'b' on 'numbered' have the same identity", "different objects"
    )
    shared = Source(1.0, "same")
    assert replace(experiment, strategies=[replace(each, source=shared) for each in ways]).run() == 1


def test_the_name_counts_if_the_code_of_a_strategy_reads_it(store):
    @dataclass(frozen=True)
    class Named(Strategy):
        def run(self, instance):
            return {"length": len(self.name)}

    experiment = Experiment([Named("a"), Named("long")], [Problem("numbered", numbered)], store)
    assert experiment.run() == 2
    assert [record["length"] for record in experiment.records()] == [1, 4]


def test_runs_of_the_old_identity_are_read_and_not_used(store):
    echoes(store, 1.0).run()
    with closing(connect(store)) as connection, connection:
        connection.execute(
            "UPDATE runs SET config = json_set(json_remove(config, '$.identity'), '$.refsvm', '0.2.0'),"
            " hash = substr(hash, 2)"
        )
        connection.execute("UPDATE runs SET metrics = json_remove(metrics, '$._digest')")
    with pytest.warns(UserWarning, match=r"runs\.sqlite' contains 12 runs of refsvm 0\.3\.0"):
        assert echoes(store, 1.0).run() == 12
    old = RunStore(store).old_runs()
    assert len(old) == 12
    assert old[0]["metrics"]["status"] == "CONVERGED"
    assert old[0]["config"]["factor"] == 1.0
    pytest.importorskip("sklearn")
    X, y = np.random.default_rng(0).normal(size=(20, 2)), np.arange(20) % 2
    with pytest.warns(UserWarning, match="12 runs of refsvm 0.3.0 or before"):
        SVCCV(Cs=[1.0], gammas=[1.0], cv=2, store=store, engine="numpy").fit(X, y)
    assert len(rows_of(store)) == 26


def test_objects_of_the_package_are_described_by_their_fields_alone():
    assert {described("kernel", RBF(gamma)) for gamma in (np.float64(0.5), 0.5)} == {"refsvm: RBF(gamma=0.5)"}
    assert of_object(RBF) is of_object(Solve) is Origin.LIBRARY
    assert of_object(np.linalg.norm) is of_object(functools.wraps) is Origin.PYTHON
    assert of_object(Echo) is Origin.USER
