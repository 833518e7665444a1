"""RunOptions: one list of what a run can be asked for, checked before anything is computed."""

import inspect
import time
from dataclasses import fields, replace

import numpy as np
import pytest

from refsvm import DualProblem, KKTGap, NoShrinking, Restriction, Rounds, cross_validate, solve
from refsvm.core.solver.options import RunOptions

DEFAULTS = {each.name: each.default for each in fields(RunOptions) if each.init}
X, Y = np.arange(6.0)[:, None], np.array([-1, 1] * 3)


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


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"cache_mb": 0.0}, "cache_mb="),
        (
            {"cache_dtype": "float16"},
            'cache_dtype=\'float16\' is unknown; choose "auto", "float64" or "float32"',
        ),
        ({"shrinking": 1}, "shrinking=1 is not a Shrinking"),
        ({"time_limit": -1.0}, "time_limit="),
        ({"stop": 1e-3}, "stop=0.001 is not a StoppingRule"),
    ],
    ids=lambda value: "" if isinstance(value, str) else next(iter(value)),
)
def test_wrong_options_are_refused_before_a_kernel_value_is_computed(options, sentence):
    called = []

    def kernel(A, B):
        called.append(len(A))
        return A @ B.T

    problem = DualProblem.classification(X, Y, kernel=kernel)
    for run in (solve, Rounds):
        with pytest.raises(ValueError, match=sentence):
            run(problem, **options)
    with pytest.raises(ValueError, match=sentence):
        cross_validate(X, Y, kernel=kernel, folds=3, **options)
    assert not called
