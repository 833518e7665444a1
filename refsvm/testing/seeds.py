"""The contract of a seeder: seeds are feasible and reproducible, and lead to the same optimum."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from refsvm import DualProblem, Rule, Seeder, Solution, solve
from refsvm.core.kernels.cached_rows import stored_rows
from refsvm.core.rule import memory_of
from refsvm.core.state import NOTHING
from refsvm.testing import engines
from refsvm.testing.contract import Case, infeasibility
from refsvm.testing.failures import MOST_SECONDS, explain_failures, within


def check_seeder(seeder: Seeder, problems: dict[str, DualProblem]) -> int:
    """Check that seeds are feasible and reproducible, and do not change the optimum; return the number of seeds.

    The seeder makes three seeds for each problem: for exchanging some examples, for leaving them out and for putting
    them back. If the seeder has a compiled twin and Numba is installed, the twin must return the same α bit for bit.

    Raises
    ------
    AssertionError
        If the seeder breaks its contract.
    """
    # exchange a large share of the examples in one problem, and a small share in the next problem
    removals, seeds = itertools.cycle((2, 4)), 0
    for name, problem in problems.items():
        if problem.n < 8 or name.startswith("indefinite"):  # indefinite problems have several optima
            continue
        every = next(removals) * (problem.n // 8 if problem.n % 3 else 1)
        old, new = (problem.without(np.arange(first, problem.n, every)) for first in (0, 1))
        for one, other in ((old, new), (problem, new), (old, problem)):
            _check_seed(seeder, name, one, other)
            seeds += 1
    return seeds


def _check_seed(seeder: Seeder, name: str, old: DualProblem, new: DualProblem) -> None:
    """Make a seed for one problem from the solution of another problem, and check the seed."""
    rules = Case.default_rules(tol=1e-6)
    case = Case(name, new, rules)
    solved = solve(old, stop=rules.stop, engine="numpy")
    alpha, gradient = solved.alpha.copy(), solved.gradient.copy()
    seed: Any
    seed, again = within(
        MOST_SECONDS, name, (seeder,), lambda: (seeder.seed(solved, new), seeder.seed(solved, new))
    )
    is_array = isinstance(seed, np.ndarray)
    right = is_array and seed.dtype == np.float64 and seed.shape == (new.n,)
    gave = f"an array of {seed.dtype}, shape {seed.shape}" if is_array else repr(seed)
    case.require(right, 0, f"{seeder!r} gave {gave}; expected a float64 vector of {new.n}.")
    case.require(np.isfinite(seed).all(), 0, f"{seeder!r} gave a seed that is not finite.")
    case.require(np.array_equal(seed, again), 0, f"{seeder!r} gave two different seeds.")
    unchanged = np.array_equal(solved.alpha, alpha) and np.array_equal(solved.gradient, gradient)
    case.require(
        unchanged, 0, f"{seeder!r} wrote to the solution that it received; copy arrays before changing them."
    )
    _check_memory(case, seeder, solved)
    same = not np.shares_memory(seed, solved.alpha) and not np.shares_memory(seed, again)
    message = f"{seeder!r} returned an array that it or the solution keeps; return a new array."
    case.require(same, 0, message)
    off = infeasibility(new, seed)
    case.require(off <= 1e-12, 0, f"the seed of {seeder!r} is infeasible by {off:.3g} times the box.")
    # a seed may increase the number of steps, but must never change the optimum
    cold, warm = (solve(new, stop=rules.stop, engine="numpy", start=s).objective for s in (None, seed))
    sentence = f"from the seed of {seeder!r} the solve ends at f = {warm!r}, from zero at {cold!r}."
    case.require(abs(warm - cold) <= 1e-5 * (1.0 + abs(cold)), 0, sentence)
    if engines.can_compare() and seeder.twin() is not None:
        with explain_failures(name, (seeder,)):
            _check_seed_twin(case, seeder, solved, seed)


def _check_memory(case: Case, seeder: Seeder, solved: Solution) -> None:
    """Check that the seeder makes feasible seeds both with its memory and with an empty memory."""
    # the seeder makes no memory, so its `seed` need not accept a memory
    if type(seeder).memory is Rule.memory:
        return
    with explain_failures(case.name, (seeder,)):
        memory = memory_of(seeder, solved)
        pays: Any = seeder.pays(solved, 100, [np.arange(1), np.arange(2)])
        others = [seeder.seed(solved, case.problem, memory=each) for each in (memory, NOTHING)]  # type: ignore[call-arg]
    message = f"{seeder!r}.pays() returned {pays!r}; return True or False."
    case.require(isinstance(pays, bool | np.bool_), 0, message)
    off = max(infeasibility(case.problem, np.asarray(other)) for other in others)
    message = f"the seed of {seeder!r} with its memory is infeasible by {off:.3g} times the box."
    case.require(off <= 1e-12, 0, message)


def _check_seed_twin(case: Case, seeder: Seeder, solved: Solution, seed: np.ndarray) -> None:
    """Compare a seed with the seed of the compiled twin, which has to request the kernel rows that it needs."""
    from refsvm.compiled.interface.seeding import compiled_seed

    compiled = compiled_seed(seeder, solved, case.problem, stored_rows(case.problem.gram))
    for i in np.flatnonzero(compiled != seed).tolist():
        message = f"the twin of {seeder!r} gives α[{i}] = {compiled[i]!r}, the seeder {seed[i]!r}."
        case.require(False, 0, message)
