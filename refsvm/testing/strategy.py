"""check_strategy(): checks a rule against its contract, and compares the rule with its compiled copy, the twin."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from itertools import product
from typing import Any

from refsvm import Check, DualProblem, PathTracker, Rule, Seeder, Shrinking
from refsvm.core._checks import positive
from refsvm.core.kernels import KernelMatrix
from refsvm.core.kernels.checked import GivenMatrix
from refsvm.core.selectors import (
    ConjugateSecondOrder,
    HybridMaximumGain,
    MostViolatingPair,
    SecondOrder,
    WorkingSetSelector,
)
from refsvm.core.solver.rules import Rules
from refsvm.core.steps import ConjugateStep, NewtonStep, PlanningAheadStep, StepRule
from refsvm.core.stopping import KKTGap, StoppingRule
from refsvm.services.summary import Card, Shown, counted
from refsvm.testing import engines
from refsvm.testing.apart import in_a_process
from refsvm.testing.contract import Case, check_solve, check_verdict
from refsvm.testing.engines import NOT_COMPARED, check_engines
from refsvm.testing.failures import MOST_SECONDS, explain_failures, within
from refsvm.testing.practice import large_problem, left_out_problems, practice_problems, smallest_cache_mb
from refsvm.testing.roles import check_check, check_large, check_matrix, check_shrinking
from refsvm.testing.seeds import check_seeder
from refsvm.testing.trackers import check_tracker
from refsvm.testing.values import check_value

FAMILIES = (WorkingSetSelector, StepRule, StoppingRule, Seeder, PathTracker, Shrinking, Check)


@dataclass(frozen=True, repr=False)
class StrategyReport(Shown):
    """The report that `check_strategy` returns if every check has passed.

    Attributes
    ----------
    rule : str
        The rule's `repr`.
    problems : tuple of str
        Names of the problems.
    steps : int
        Number of steps of the readable loop that were checked one by one; for a tracker, number of breakpoints.
    twin : str
        A sentence that says in how many solves the engines agreed, or why they were not compared.
    """

    rule: str
    problems: tuple[str, ...]
    steps: int
    twin: str

    def _card(self) -> Card:
        pairs = {
            "rule": self.rule,
            "problems": f"{len(self.problems)}",
            "steps": f"{self.steps:,}",
            "twin": self.twin,
        }
        name = self.rule.partition("(")[0]
        return Card(
            f"{name} keeps its contract: {counted(len(self.problems), 'problem')}, {self.steps:,} steps",
            pairs=pairs,
        )


def check_strategy(rule: Any, *, rng: Any = 0, time_limit: float | None = None) -> StrategyReport:
    """Check a rule against the contract of its base class, and compare the rule with its compiled copy, the twin.

    If a rule raises an exception, or does not return within two minutes, the check raises an AssertionError that
    names the rule, the problem and the step. The notes list the contract.

    Parameters
    ----------
    rule : Rule, KernelMatrix or object with `n` and `block`
        An instance of the rule. For a kernel matrix of your own (``gram=``), the check compares the values that its
        methods return. Planning step rules are checked with selectors that also consider planned pairs.
    rng : int, numpy.random.Generator or None
        Seed or generator of the practice problems, 0 by default.
    time_limit : float, optional
        Limit in seconds on the whole check. If a limit is given, the checks run in a separate process that is ended
        after this time. With a limit, the caller continues even if the rule hangs in compiled code, exits or crashes.

    Returns
    -------
    StrategyReport
        The report, if all checks pass.

    Raises
    ------
    AssertionError
        At the first check that fails; the message names the problem, the step and the difference.
    TypeError
        If `rule` is neither an instance of one of the seven base classes nor a kernel matrix.

    Notes
    -----
    **Every rule** is a frozen, hashable dataclass. A rule keeps its memory in the state, so that one instance takes the
    same steps in every solve of a problem. The rule never writes to α, G or the box. With the rule, `solve` reaches the
    KKT tolerance on every practice problem.

    **A selector** returns i in I_up and j in I_down, or (−1, −1). Only a selector with the attribute ``may_stall =
    True`` may return (−1, −1) before the tolerance is reached.

    **A step rule** returns μ with lo ≤ μ ≤ hi and does not lower f; a planned step and the next step together do not
    lower f. A step with momentum moves no variable out of its box.

    **A stopping rule** returns 0 or the number of one of its reasons; a second call at the same state changes nothing.
    The rule stops only at a point where f is below its optimum f* by at most |f*|/20, or the KKT gap is small. A rule
    for left-out examples (``left_out``) is checked on problems with a left-out example, and must stop only when h has
    the same sign as at the optimum.

    **A seeder** returns a feasible point from which the solve reaches the same optimum.

    **A path tracker** covers the requested range of C in ascending order, on every practice problem that has a path;
    with ``may_refuse = True`` the tracker may refuse some problems with a message. The KKT conditions hold to 1e-6, or
    to the tracker's ``accuracy``, at breakpoints and between them. Two calls, and both engines, return the same path
    bit for bit.

    With **shrinking**, `solve` reaches the tolerance on every problem, with equal results in both engines. On a problem
    with 500 variables, most of which shrinking leaves out, a solve takes a similar number of steps with and without
    shrinking. **A check of leave-one-out** returns the correct sign of h, or 0, for every example.

    **A twin**, the compiled copy of a rule, agrees with its rule bit for bit: i, j, μ, objective, KKT gap and kernel
    rows of every step, and α, G, kernel rows and cache hits at the end. `check_strategy` compares rule and twin with
    and without shrinking, with memory for all kernel rows, and with memory for as few rows as the selector permits.

    Examples
    --------
    >>> from refsvm import MostViolatingPair
    >>> from refsvm.testing import check_strategy
    >>> report = check_strategy(MostViolatingPair())
    >>> report.rule, len(report.problems)
    ('MostViolatingPair()', 15)
    """
    if time_limit is not None:
        return in_a_process(partial(_checked, rule, rng), positive("time_limit", time_limit), repr(rule))
    return _checked(rule, rng)


def _checked(rule: Any, rng: Any) -> StrategyReport:
    """Check a rule in the calling process."""
    if not isinstance(rule, Rule | KernelMatrix | type) and hasattr(rule, "block"):
        try:
            rule = GivenMatrix(rule)
        except ValueError as error:
            raise AssertionError(f"Problem 'a block of rows': {str(error).rstrip('.')}.") from error
    if isinstance(rule, KernelMatrix):
        return StrategyReport(repr(rule), (), 0, f"Its methods agree on {check_matrix(rule)} numbers.")
    if not isinstance(rule, FAMILIES):
        names = ", ".join(family.__name__ for family in FAMILIES)
        raise TypeError(
            f"rule={rule!r:.80} is neither a rule ({names}) nor a kernel matrix with n and block(); pass an instance."
        )
    # use the same problems for every rule, so that results can be compared
    problems = practice_problems(rng)
    if isinstance(rule, StoppingRule) and rule.left_out:
        problems = left_out_problems(problems)
    with explain_failures("any", (rule,)):
        check_value(rule, next(iter(problems.values())))
    steps = 0
    if isinstance(rule, PathTracker):
        return StrategyReport(repr(rule), *check_tracker(rule, problems))
    elif isinstance(rule, Seeder):
        seeds = check_seeder(rule, problems)
        sentence = (
            _no_twin(rule, "seeds are made in NumPy") or f"The twin agrees bit for bit in {seeds} seeds."
        )
    elif isinstance(rule, Check):
        sentence = f"It decides {check_check(rule, problems)} examples, all of them correctly."
    else:
        steps, sentence = _check_steps(rule, problems, rng)
    return StrategyReport(repr(rule), tuple(problems), steps, sentence)


def _check_steps(rule: Rule, problems: dict[str, DualProblem], rng: Any) -> tuple[int, str]:
    """Check a rule that acts in every step, or a shrinking rule; return the steps and a sentence for the report."""
    cases = [
        Case(name, problem, rules) for name, problem in problems.items() for rules in _combinations(rule)
    ]
    # add a large problem, because small problems are solved before the first shrinking
    large = Case("five hundred examples", large_problem(rng), cases[0].rules)
    if isinstance(rule, Shrinking):
        check_large(large, rule)
        return check_shrinking(rule, cases), "Every problem has the same solution with and without shrinking."
    walked = sum(within(MOST_SECONDS, case.name, case.rules, partial(check_solve, case)) for case in cases)
    sentence, left_out = _check_twin(rule, cases), isinstance(rule, StoppingRule) and rule.left_out
    for case in cases if left_out else [large] * isinstance(rule, StoppingRule):
        check_verdict(case)
    if not left_out:
        check_large(large)
    return walked, sentence


def _combinations(rule: Rule) -> Iterator[Rules]:
    """Yield the rule combined with other rules that fit it."""
    if isinstance(rule, WorkingSetSelector):
        yield Rules(rule, NewtonStep(), KKTGap())
        if rule.takes_candidates:
            yield Rules(rule, PlanningAheadStep(), KKTGap())
        if rule.takes_displacement:
            yield Rules(rule, ConjugateStep(), KKTGap())
    elif isinstance(rule, StepRule):
        yield Rules(SecondOrder(), rule, KKTGap())
        if not rule.history:
            yield Rules(MostViolatingPair(), rule, KKTGap())
        if rule.uses_momentum:
            yield Rules(ConjugateSecondOrder(), rule, KKTGap())
    elif isinstance(rule, StoppingRule):
        yield Rules(SecondOrder(), NewtonStep(), rule)
        yield Rules(HybridMaximumGain(), NewtonStep(), rule)
    else:
        yield Case.default_rules()


def _check_twin(rule: Rule, cases: list[Case]) -> str:
    """Compare the engines on every case; return the sentence for the report."""
    sentence = _no_twin(rule, "it runs in the readable engine")
    if sentence:
        return sentence
    for case in cases:
        least = smallest_cache_mb(case.rules.selector, case.problem.n, case.rules.stop, case.rules.step)
        # with few rows in memory a twin must request rows, and is called again in the middle of a selection
        for cache_mb, shrinking in product((200.0, least), (False, True)):
            check_engines(case, cache_mb=cache_mb, shrinking=shrinking)
    return f"Both engines agree bit for bit in {4 * len(cases)} solves."


def _no_twin(rule: Rule, instead: str) -> str:
    """Return a sentence for the report if there is no twin or no compiler; otherwise an empty text."""
    if not engines.can_compare():
        return NOT_COMPARED
    return f"{type(rule).__name__} has no twin; {instead} only." if rule.twin() is None else ""
