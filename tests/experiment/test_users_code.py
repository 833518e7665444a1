"""What a strategy of the user raises or returns: an error names the run, a measured run is never lost."""

import enum
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from refsvm import Status
from refsvm.experiment import Experiment, Problem, Strategy
from refsvm.services.pool import in_threads, in_turn, in_workers

from .echoes import Echo, numbered, refused, rows_of

PROBLEMS = [Problem("numbered", numbered)]


@dataclass(frozen=True)
class Raising(Strategy):
    error: str = "StopIteration"
    warms: bool = False

    def warm_up(self):
        if self.warms:
            next(iter([]))

    def run(self, instance):
        if self.error == "StopIteration":
            return {"first": next(iter([]))}
        if self.error == "Unpicklable":
            raise UnpicklableError(lambda: 0)
        raise ZeroDivisionError("by zero")


class UnpicklableError(Exception):
    """Cannot be sent to another process."""


@pytest.mark.parametrize("warms", [False, True])
@pytest.mark.parametrize("n_jobs", [None, 2])
def test_stop_iteration_is_an_error_of_the_run(store, n_jobs, warms):
    if n_jobs:
        pytest.importorskip("joblib")
    experiment = Experiment([Raising("bare next", warms=warms), Echo("echo")], PROBLEMS, store)
    with pytest.raises(
        RuntimeError, match=r"The strategy 'bare next' on the problem 'numbered', order 0, raised Stop"
    ):
        experiment.run(n_jobs=n_jobs)


def test_stop_iteration_does_not_end_a_pool_in_silence():
    for pool in (in_turn, lambda *given: in_workers(*given, 1), lambda *given: in_workers(*given, 2)):
        with pytest.raises(RuntimeError, match="StopIteration"):
            list(pool(next, [(iter([1]),), (iter([]),), (iter([2]),)]))
    with pytest.raises(RuntimeError, match="StopIteration"):
        list(in_threads(next, [iter([1]), iter([])], 2))


@pytest.mark.parametrize("error", ["ZeroDivisionError", "Unpicklable"])
def test_an_error_names_the_run_and_the_runs_of_other_workers_are_kept(store, error):
    pytest.importorskip("joblib")
    experiment = Experiment([Echo("echo"), Raising("wrong", error)], PROBLEMS, store)
    note = "Raised by the strategy 'wrong' on the problem 'numbered', order 0."
    with pytest.raises(Exception, match=r"by zero|Unpicklable") as caught:
        experiment.run(n_jobs=2)
    assert any(note in each for each in caught.value.__notes__)
    assert len(rows_of(store)) == 1
    with pytest.raises((ZeroDivisionError, UnpicklableError)) as caught:
        experiment.run()
    assert caught.value.__notes__ == [note]


@dataclass(frozen=True)
class Returning(Strategy):
    """Returns one of the records of the test, which no store could hold as a field."""

    kind: str = ""

    def run(self, instance):
        return RECORDS[self.kind]()


class Colour(enum.Enum):
    RED = "red"


@dataclass
class Part:
    steps: Any = 3


def endless():
    held = [1.0]
    held.append(held)
    return held


RECORDS = {
    "int64": lambda: {"score": np.int64(3)},
    "float32": lambda: {"score": np.float32(2.5)},
    "bool": lambda: {"score": np.bool_(True)},
    "nan": lambda: {"score": (1.0, np.float64("nan"), -np.inf)},
    "array": lambda: {"score": np.arange(3.0).reshape(1, 3), "first": np.array(2)},
    "nested": lambda: {"score": {"a": [np.int8(1), {4: np.float64(0.5)}]}},
    "fraction": lambda: {"score": Fraction(1, 2)},
    "enum": lambda: {"score": Colour.RED, "status": Status.CONVERGED},
    "dataclass": lambda: {"score": Part(np.int64(4))},
    "complex": lambda: {"score": 1j},
    "object": lambda: {"score": range(3), "text": "\ud800", "function": rows_of, "set": {1.0}},
    "keys": lambda: {3: 1.0, (1, 2): 2.0},
    "endless": lambda: {"score": endless()},
    "refused": lambda: {"status": "REFUSED", "score": 1.0},
    "list": lambda: [1.0],
}
TOLD = {
    "int64": {"score": 3}, "float32": {"score": 2.5}, "bool": {"score": True}, "nan": {"score": [1.0, None, None]},
    "array": {"score": [[0.0, 1.0, 2.0]], "first": 2}, "nested": {"score": {"a": [1, {"4": 0.5}]}},
    "fraction": {"score": 0.5}, "enum": {"score": "RED", "status": "CONVERGED"}, "dataclass": {"score": {"steps": 4}},
    "complex": {"score": "1j"}, "keys": {"3": 1.0, "(1, 2)": 2.0},
}  # fmt: skip


@pytest.mark.parametrize("kind", [*RECORDS][:-2])
def test_any_record_is_stored(store, kind):
    experiment = Experiment([Returning("own", kind)], PROBLEMS, store)
    assert (experiment.run(), experiment.run()) == (1, 0)
    (record,) = experiment.records()
    for name, value in TOLD.get(kind, {}).items():
        assert record[name] == value
        assert type(record[name]) is type(value)
    if kind in ("int64", "float32", "bool", "fraction"):
        assert experiment.values("score") == {("numbered", "own"): {0: record["score"]}}


@dataclass(frozen=True)
class Entry(Strategy):
    entry: str = "problem"

    def run(self, instance):
        return {self.entry: "ridge", "iterations": 5} if self.entry else None


@pytest.mark.parametrize("entry", ["problem", "strategy", "permutation", "run", "computed_by", "_digest"])
def test_entries_by_names_that_are_taken_are_kept_apart(store, entry):
    experiment = Experiment([Entry("own", entry), Echo("echo")], PROBLEMS, store)
    assert (experiment.run(), experiment.run()) == (2, 0)
    own = experiment.records()[0]
    assert (own["problem"], own["strategy"], own["permutation"]) == ("numbered", "own", 0)
    assert own[f"record.{entry}"] == "ridge"
    assert experiment.values("iterations") == {("numbered", "own"): {0: 5}}
    pytest.importorskip("pandas")
    frame = experiment.to_frame()
    assert frame[f"record.{entry}"][0] == "ridge"
    assert frame["run"].is_unique


def test_a_record_that_is_none_is_refused_by_name(store):
    for strategy in (Entry("own", ""), Returning("own", "list")):
        refused(Experiment([strategy], PROBLEMS, store).run, "strategy 'own' returned", "must return a dict")
    assert rows_of(store) == []


def test_a_status_of_the_user_refuses_nothing(store):
    experiment = Experiment([Returning("own", "refused"), Echo("echo")], PROBLEMS, store)
    experiment.run()
    assert experiment.compare("first").notes == ("own refused numbered: ",)
