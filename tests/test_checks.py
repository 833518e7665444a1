"""What is no real number is refused in every numeric argument, in one sentence that names the argument."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, fields, is_dataclass, replace
from fractions import Fraction
from inspect import isabstract
from typing import Any

import numpy as np
import pytest

from refsvm import (
    RBF,
    Decomposition,
    DualProblem,
    Linear,
    Rounds,
    SecondOrder,
    cross_validate,
    leave_one_out,
    regularization_path,
    solve,
)
from refsvm.core.kernels import Gram
from refsvm.core.rule import PlainNumbers, _family

X, Y = np.array([[0.0], [1.0], [2.0]]), np.array([-1, 1, 1])
ONES = np.ones(3)


def problem(**changes) -> DualProblem:
    parts = {"v": ONES, "z": 0.0, "lower": -ONES, "upper": ONES, **changes}
    return DualProblem(Gram(Linear(), np.eye(3)), **parts)


def labelled(y, examples=X) -> DualProblem:
    return DualProblem.classification(examples, y, kernel="linear")


def solved(**options) -> object:
    return solve(problem(), engine="numpy", **options)


def with_numbers() -> list[Any]:
    """Every rule, kernel, algebra and loss that can be made without arguments, and an RBF kernel.

    Other folders of the package, which a test before this one may have imported, are not asked.
    """
    made = [RBF(0.5), Decomposition(size=10)]
    for kind in _family(PlainNumbers):
        is_asked = kind.__module__.startswith(("refsvm.core.", "refsvm.analysis."))
        with suppress(TypeError, ValueError):
            made += [kind()] if is_asked and is_dataclass(kind) and not isabstract(kind) else []
    return made


NUMBERS = {
    "z": lambda value: problem(z=value),
    "C": lambda value: DualProblem.classification(X, Y, kernel="linear", C=value),
    "gamma": lambda value: RBF(gamma=value),
    "cache_mb": lambda value: solved(cache_mb=value),
    "max_iter": lambda value: solved(max_iter=value),
    "time_limit": lambda value: solved(time_limit=value),
    "trace": lambda value: solved(trace=value),
    "r": lambda value: problem().without(value),
}
RESAMPLED = np.arange(12.0)[:, None], np.where(np.arange(12) % 3, 1, -1)


def left_out(**options) -> object:
    return leave_one_out(*RESAMPLED, kernel=RBF(1.0), engine="numpy", **options)


def validated(**options) -> object:
    return cross_validate(*RESAMPLED, kernel=RBF(1.0), engine="numpy", **{"folds": 3, **options})


def path(**options) -> object:
    options = {"C_min": 0.5, "C_max": 2.0, **options}
    return regularization_path(*RESAMPLED, kernel=RBF(1.0), engine="numpy", **options)


NUMBERS |= {
    "C of regression": lambda value: DualProblem.regression(X, [0.0, 1.0, 2.0], kernel="linear", C=value),
    "epsilon": lambda value: DualProblem.regression(X, [0.0, 1.0, 2.0], kernel="linear", epsilon=value),
    "nu": lambda value: DualProblem.one_class(X, kernel="linear", nu=value),
    "weights": lambda value: DualProblem.one_class(X, kernel="linear", weights=value),
    "C of leave_one_out": lambda value: left_out(C=value),
    "cache_mb of leave_one_out": lambda value: left_out(cache_mb=value),
    "max_iter of leave_one_out": lambda value: left_out(max_iter=value),
    "time_limit of leave_one_out": lambda value: left_out(time_limit=value),
    "C of cross_validate": lambda value: validated(C=value),
    "folds": lambda value: validated(folds=value),
    "cache_mb of cross_validate": lambda value: validated(cache_mb=value),
    "C_min": lambda value: path(C_min=value),
    "C_max": lambda value: path(C_max=value),
    "cache_mb of regularization_path": lambda value: path(cache_mb=value),
    "time_limit of regularization_path": lambda value: path(time_limit=value),
    "max_events": lambda value: path(max_events=value),
}
NUMBERS |= {
    f"{field.name} of {type(each).__name__}": lambda value, each=each, name=field.name: replace(
        each, **{name: value}
    )
    for each in with_numbers()
    for field in fields(each)
    if type(getattr(each, field.name)) in (int, float)
    # these take any value, or what equals 1 or 2
    if (type(each).__name__ != "Restriction" and field.name != "variables")
}
NEEDS_SCIPY = {
    "cache_mb of regularization_path",
    "time_limit of regularization_path",
    "max_events",
    "C_min",
    "C_max",
}
OPTIONAL = {"max_iter", "time_limit", "max_events", "C_min", "C_max"}  # None means: no limit, or the default
UNBOUNDED = {"C", "cache_mb", "margin", "budget", "near"}  # infinity has a meaning
NOT_THERE = {"max_iter of MIR", "max_events of ATO"}
VECTORS = {
    "v": lambda value: problem(v=value),
    "lower": lambda value: problem(lower=value),
    "upper": lambda value: problem(upper=value),
    "C": lambda value: DualProblem.classification(X, Y, kernel="linear", C=value),
    "X": lambda value: labelled(Y, np.array([value], dtype=object).T),
    "y": labelled,
    "start": lambda value: solved(start=value),
    "alpha": lambda value: problem().restrict([0], value),
    "indices": lambda value: problem().restrict(value),
    "lower of Rounds": lambda value: Rounds(problem(), engine="numpy").solve(lower=value),
    "start of Rounds": lambda value: Rounds(problem(), engine="numpy").solve(start=value),
    "y of regression": lambda value: DualProblem.regression(X, value, kernel="linear"),
    "weights": lambda value: DualProblem.one_class(X, kernel="linear", weights=value),
    "sample_weight": lambda value: path(sample_weight=[*value, *([1.0] * 9)]),
}
NO_NUMBERS = [1j, np.complex128(1.0), None, "1", b"1", [1.0, 2.0], np.nan, np.inf, 10**400, object()]


@pytest.mark.parametrize("value", NO_NUMBERS, ids=lambda value: repr(value)[:20])
@pytest.mark.parametrize("place", NUMBERS)
def test_what_is_no_number_is_refused(place, value):
    name = place.split()[0]
    has_meaning = name in OPTIONAL if value is None else name in UNBOUNDED and value is np.inf
    has_meaning |= place in ("gamma", "gamma of RBF") and isinstance(value, list)  # one for each feature
    if has_meaning and place not in NOT_THERE:
        if place in NEEDS_SCIPY:
            pytest.importorskip("scipy")
        NUMBERS[place](value)
        return
    with pytest.raises(ValueError, match=rf"\b{name}\b.*; |^selector=.* needs") as refusal:
        NUMBERS[place](value)
    assert "\n" not in str(refusal.value)


@pytest.mark.parametrize("value", [1j, None, "1", b"1", np.nan, 10**400], ids=lambda value: repr(value)[:20])
@pytest.mark.parametrize("name", VECTORS)
def test_a_vector_of_other_things_is_refused(name, value):
    for values in ([value, 1.0, 1.0], np.array([1.0, value, 1.0], dtype=object)):
        with pytest.raises(ValueError, match=rf"^{name.split()[0]}\b.*; ") as refusal:
            VECTORS[name](values)
        assert "\n" not in str(refusal.value)


@pytest.mark.parametrize("name", VECTORS)
def test_a_complex_vector_is_refused(name):
    with pytest.raises(ValueError, match=rf"^{name.split()[0]}\b"):
        VECTORS[name](np.array([1.0, -1.0, 1.0]) + 0j)


@pytest.mark.parametrize("value", [1, np.float32(0.5), np.int8(1), Fraction(1, 2), np.array(0.5), True])
def test_a_real_number_of_any_type_is_taken(value):
    assert isinstance(problem(z=value).z, float)
    assert problem(v=[value, 0, 1.0]).v.dtype == np.float64


def test_what_a_rule_keeps_is_the_number_that_was_checked():
    made = with_numbers()
    counted = 0
    for each in made:
        for name, value in {field.name: getattr(each, field.name) for field in fields(each)}.items():
            if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < np.inf:
                continue
            types = [
                np.float64,
                np.float32,
                *((Fraction, np.array) if isinstance(value, float) else (float,)),
            ]
            types += [np.uint8, np.int8, np.int64] if value % 1 == 0 and value < 100 else []
            for given in [kind(value) for kind in types]:
                kept, right = getattr(replace(each, **{name: given}), name), type(value)(given)
                assert (type(kept), kept) == (type(value), right), (each, name, given)
                counted += 1
    assert counted > 150, made


def test_numbers_of_a_rule_of_ones_own_are_kept_as_pythons():
    @dataclass(frozen=True)
    class Mine(SecondOrder):
        share: float = 0.5
        often: int = 2
        any_of_both: object = None

        def __post_init__(self):  # which calls none of its base
            assert isinstance(self.often, np.uint8)

    mine = Mine(
        share=np.float32(0.25), often=np.uint8(254), any_of_both=np.int8(3), planned_range=Fraction(1, 2)
    )
    kept = [mine.share, mine.often, mine.any_of_both, mine.planned_range]
    assert list(map(repr, kept)) == ["0.25", "254", "3", "0.5"]


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: problem(z=np.inf), r"z=inf is not finite; give a finite real number\.$"),
        (lambda: problem(z=1 + 0j), r"z=\(1\+0j\) is not a number; give a finite real number\.$"),
        (lambda: problem(v=[None, 1.0, 1.0]), "v holds None, which is not a real number; give finite real"),
        (lambda: labelled(Y, [[1.0], [1.0, 2.0]]), "X has rows of different lengths; give a table of real"),
        (lambda: labelled([-1, None, None]), "y holds the labels -1, None; code the two classes"),
        (lambda: labelled(np.array(["a"] * 3, dtype=object)), "y holds a single class, 'a'; two classes"),
    ],
)
def test_the_sentence_names_argument_value_and_remedy(call, sentence):
    with pytest.raises(ValueError, match=f"^{sentence}"):
        call()


@pytest.mark.parametrize("indices", [[0.5], [[0]], [3], [-4], "0", [True, False, True]])
def test_positions_outside_of_the_problem_are_refused(indices):
    with pytest.raises(ValueError, match=r"^indices.*from 0 to 2\."):
        problem().restrict(indices)
    assert problem().restrict([]).n == 0
    assert problem().restrict([2, 0]).n == 2


def test_sparse_data_of_complex_numbers_are_refused():
    csr_matrix = pytest.importorskip("scipy.sparse").csr_matrix
    with pytest.raises(ValueError, match=r"^X holds values of type complex128; give real numbers"):
        DualProblem.classification(csr_matrix(X + 1j), Y, kernel="linear")
