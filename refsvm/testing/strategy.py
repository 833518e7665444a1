"""check_strategy(): the contract and the twin of one rule."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

from refsvm.paths.base import PathTracker
from refsvm.seeders.base import Seeder
from refsvm.selectors import HybridMaximumGain, MostViolatingPair, SecondOrder, WorkingSetSelector
from refsvm.solver.rules import Rules
from refsvm.steps import NewtonStep, PlanningAheadStep, StepRule
from refsvm.stopping import KKTGap, StoppingRule
from refsvm.testing.contract import Case, check_seeder, check_solve, check_value
from refsvm.testing.engines import check_engines
from refsvm.testing.practice import left_out_problems, practice_problems, smallest_cache_mb
from refsvm.testing.trackers import check_tracker

__all__ = ["StrategyReport", "check_strategy"]

Rule = WorkingSetSelector | StepRule | StoppingRule


@dataclass(frozen=True)
class StrategyReport:
    """What `check_strategy` looked at; it exists only if every check has passed.

    Attributes
    ----------
    rule : str
        The rule, as it prints.
    problems : tuple of str
        Names of the problems.
    steps : int
        Steps of the readable loop that were checked one by one; of a tracker, breakpoints.
    twin : str
        A sentence: in how many solves the engines agreed, or why they were not compared.
    """

    rule: str
    problems: tuple[str, ...]
    steps: int
    twin: str


def check_strategy(rule: Rule | Seeder | PathTracker, *, rng: Any = 0) -> StrategyReport:
    """Check a rule against the contract of its base, and its twin against the rule.

    **Contract.** A rule is a frozen, hashable dataclass. One instance gives the same steps each time: its
    memory lives in the state. It never writes to α, G or the box. A selector returns i in I_up and j in
    I_down, or (−1, −1). A step has lo ≤ μ ≤ hi and does not lower f, unless it is planned: then it does not
    together with the next one. A stopping rule returns 0 or the number of one of its reasons, and asking it
    again changes nothing; one made for left-out examples (``left_out``) is checked on problems that have one.
    Every practice problem is solved to its KKT tolerance; only a selector with an
    attribute ``may_stall = True`` may end earlier with (−1, −1). A seeder returns a feasible point, from
    which the same optimum is reached.

    **Twin.** In both engines i, j, μ, objective, KKT gap and kernel rows of every step are equal bit for bit,
    and so are α, G, kernel rows and hits at the end: with and without shrinking, with memory for all kernel
    rows and for as few as the selector allows.

    **Trackers.** A path tracker covers the range of C that it is given, in ascending order, on every practice problem
    that has a path; with ``may_refuse = True`` it may refuse some in a sentence. The KKT conditions hold to 1e-6 at its
    breakpoints and between them, and a second call as well as the other engine give the same path bit for bit.

    Parameters
    ----------
    rule : WorkingSetSelector, StepRule, StoppingRule, Seeder or PathTracker
        An instance. A step rule that plans is tried with selectors that take candidates, and the reverse.
    rng : int, numpy.random.Generator or None
        Seed or generator of the practice problems.

    Returns
    -------
    StrategyReport

    Raises
    ------
    AssertionError
        At the first check that fails; the sentence names the problem, the step and what differs.
    TypeError
        If `rule` is not an instance of one of the five bases.

    Examples
    --------
    >>> from refsvm import MostViolatingPair
    >>> from refsvm.testing import check_strategy
    >>> report = check_strategy(MostViolatingPair())
    >>> report.rule, len(report.problems)
    ('MostViolatingPair()', 15)
    """
    if not isinstance(rule, WorkingSetSelector | StepRule | StoppingRule | Seeder | PathTracker):
        raise TypeError(
            f"rule={rule!r} is no selector, step rule, stopping rule, seeder or path tracker; pass an instance."
        )
    problems = practice_problems(rng)
    if isinstance(rule, PathTracker):
        check_value(rule, next(iter(problems.values())))
        names, breakpoints, sentence = check_tracker(rule, problems)
        return StrategyReport(repr(rule), names, breakpoints, sentence)
    if isinstance(rule, Seeder):
        check_value(rule, next(iter(problems.values())))
        seeds = check_seeder(rule, problems)
        return StrategyReport(repr(rule), tuple(problems), 0, _told_of_seeds(rule, seeds))
    if isinstance(rule, StoppingRule) and rule.left_out:
        problems = left_out_problems(problems)
    check_value(rule, next(iter(problems.values())))
    combinations = tuple(_combinations(rule))
    cases = [Case(name, problem, rules) for name, problem in problems.items() for rules in combinations]
    walked = sum(check_solve(case) for case in cases)
    return StrategyReport(repr(rule), tuple(problems), walked, _check_twin(rule, cases))


def _told_of_seeds(seeder: Seeder, seeds: int) -> str:
    """Return the sentence on the twin of a seeder for the report."""
    if find_spec("numba") is None:
        return "The twin was not compared: Numba is not installed."
    if seeder.twin() is None:
        return f"{type(seeder).__name__} has no twin; seeds are made in NumPy only."
    return f"The twin agrees bit for bit in {seeds} seeds."


def _combinations(rule: Rule) -> Iterator[Rules]:
    """Yield the rule together with partners that fit."""
    if isinstance(rule, WorkingSetSelector):
        yield Rules(rule, NewtonStep(), KKTGap())
        if rule.takes_candidates:
            yield Rules(rule, PlanningAheadStep(), KKTGap())
    elif isinstance(rule, StepRule):
        yield Rules(SecondOrder(), rule, KKTGap())
        if not rule.history:
            yield Rules(MostViolatingPair(), rule, KKTGap())
    else:
        yield Rules(SecondOrder(), NewtonStep(), rule)
        yield Rules(HybridMaximumGain(), NewtonStep(), rule)


def _check_twin(rule: Rule, cases: list[Case]) -> str:
    """Compare the engines on every case; return the sentence for the report."""
    if find_spec("numba") is None:
        return "The twin was not compared: Numba is not installed."
    if rule.twin() is None:
        return f"{type(rule).__name__} has no twin; it runs in the readable engine only."
    solves = 0
    for case in cases:
        for cache_mb in (200.0, smallest_cache_mb(case.rules.selector, case.problem.n, case.rules.stop)):
            for shrinking in (False, True):
                check_engines(case, cache_mb=cache_mb, shrinking=shrinking)
                solves += 1
    return f"Both engines agree bit for bit in {solves} solves."
