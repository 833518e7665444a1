"""RunOptions: one list of what a run can be asked for, checked before anything is computed."""

import inspect
import math
import time
from dataclasses import fields, replace

import numpy as np
import pytest

from refsvm import (
    Decomposition,
    DualProblem,
    KKTGap,
    NewtonStep,
    NoShrinking,
    Restriction,
    Rounds,
    SecondOrder,
    cross_validate,
    iterate,
    solve,
)
from refsvm.core.rounds.round import Round
from refsvm.core.solver.options import RunOptions

DEFAULTS = {each.name: each.default for each in fields(RunOptions) if each.init}
X, Y = np.arange(6.0)[:, None], np.array([-1, 1] * 3)
PROBLEM = DualProblem.classification(X, Y)


@pytest.mark.parametrize(
    ("public", "own"),
    [(solve, {"problem", "start", "progress"}), (Rounds, {"problem"})],
    ids=["solve", "Rounds"],
)
def test_public_functions_have_these_options_with_these_defaults(public, own):
    parameters = inspect.signature(public).parameters
    asked = {name: each.default for name, each in parameters.items() if name not in own}
    assert asked == {name: DEFAULTS[name] for name in asked}
    assert DEFAULTS.keys() - asked.keys() <= {"n_jobs", "progress", "rows_and_guards"}


def test_options_have_names():
    with pytest.raises(TypeError, match="positional"):
        RunOptions(None)


def test_another_copy_keeps_the_instant_and_the_shrinking():
    options = RunOptions(time_limit=50.0, shrinking=np.bool_(False), cache_mb=3)
    again = replace(options, max_iter=7)
    assert again.time_limit is options.time_limit
    assert 0.0 < options.time_limit.at - time.perf_counter() <= 50.0
    assert (again.shrinking, RunOptions().shrinking) == (NoShrinking(), Restriction())
    assert type(again.cache_mb) is float
    assert replace(options, stop=KKTGap(0.1)).rules.stop == KKTGap(0.1)


REFUSED = [
    ({"max_iter": 0}, "max_iter=0"),
    ({"max_iter": 2.5}, "max_iter=2.5"),
    ({"max_iter": "many"}, "max_iter='many'"),
    ({"max_iter": math.inf}, "max_iter=inf"),
    ({"time_limit": 0}, "time_limit=0"),
    ({"time_limit": -1.0}, "time_limit=-1.0"),
    ({"time_limit": math.nan}, "time_limit=nan"),
    ({"time_limit": "long"}, "time_limit='long'"),
    ({"callback": 3}, "callback=3"),
    ({"engine": "gpu"}, "engine='gpu'"),
    ({"engine": None}, "engine=None"),
    ({"cache_mb": 0.0}, "cache_mb=0.0"),
    ({"cache_mb": 1e-6}, "cache_mb=1e-06 does not hold two kernel rows"),
    ({"cache_dtype": "float16"}, '\'float16\' is unknown; choose "auto", "float64" or "float32"'),
    ({"shrinking": 1}, "shrinking=1 is not a Shrinking"),
    ({"shrinking": "yes"}, "shrinking='yes' is unknown; choose from decomposition, libsvm"),
    ({"selector": NewtonStep()}, r"selector=NewtonStep\(\) is not a WorkingSetSelector"),
    ({"selector": NewtonStep}, "pass an instance"),
    ({"selector": "second order"}, "selector='second order'"),
    ({"step": SecondOrder()}, "is not a StepRule"),
    ({"stop": 1e-3}, "stop=0.001 is not a StoppingRule"),
    ({"start": [1.0, 2.0]}, r"start has shape \(2,\)"),
    ({"start": np.full(6, np.nan)}, "start contains NaN"),
    ({"start": "zero"}, "start"),
    ({"trace": -1}, "trace=-1"),
    ({"trace": "all"}, "trace='all'"),
    ({"lower": np.ones(6)}, "lower exceeds upper"),
    ({"lower": np.ones(6), "upper": np.ones(6)}, "cannot be reached"),
    ({"lower": np.zeros(3)}, "shape"),
    ({"box": np.zeros(6)}, "not a DualProblem; pass problem"),
    ({"box": PROBLEM, "lower": np.zeros(6)}, "both given"),
    (
        {"box": DualProblem(PROBLEM.gram, 2.0 * PROBLEM.v, 0.0, PROBLEM.lower, PROBLEM.upper)},
        "another problem",
    ),
]


@pytest.mark.parametrize(("arguments", "sentence"), REFUSED, ids=lambda each: str(each)[:40])
def test_wrong_arguments_are_refused_before_a_kernel_value_is_computed(arguments, sentence):
    """By each call that takes them; rounds go on as before."""
    called = []

    def kernel(A, B):
        called.append(len(A))
        return A @ B.T

    problem, rounds = DualProblem.classification(X, Y, kernel=kernel), Rounds(PROBLEM, engine="numpy")
    before, refused = rounds.solve(), 0
    for call, given in ((solve, [problem]), (iterate, [problem]), (Rounds, [problem]), (rounds.solve, [])):
        if not arguments.keys() <= inspect.signature(call).parameters.keys() or (
            "trace" in arguments and call is Rounds
        ):
            continue  # each round says what it records
        with pytest.raises(ValueError, match=sentence) as refusal:
            next(iter(call(*given, **arguments)))
        assert str(refusal.value).endswith((".", "?"))
        refused += 1
    assert refused
    assert not called or arguments.keys() & {"start", "trace"}
    assert np.array_equal(rounds.solve().alpha, before.alpha)


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda: Decomposition(0), "size=0 "),
        (lambda: Decomposition(3), "size=3 is odd"),
        (lambda: Decomposition(2.5), "size=2.5 "),
        (
            lambda: next(Rounds(PROBLEM).run([Round(C=-1.0)])),
            r"C=-1\.0 times a weight of this round is negative",
        ),
        (lambda: cross_validate(X, Y, folds=3, stop=1e-3), "stop=0.001 is not a StoppingRule"),
    ],
    ids=["none", "odd", "half", "negative box", "folds"],
)
def test_wrong_sizes_are_refused(make, sentence):
    with pytest.raises(ValueError, match=sentence):
        make()
