"""`compare` solves one problem by each of several rules."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import product
from typing import Any, Final, NamedTuple, TypeAlias

import numpy as np

from refsvm.analysis.recording import Recording
from refsvm.analysis.solve import solve
from refsvm.compiled.twins import numba_compiles
from refsvm.compiled.warming import prepare_arithmetic
from refsvm.core._checks import pandas_for, shown
from refsvm.core.engine.limits import interruptible, unless_interrupted
from refsvm.core.problem import DualProblem
from refsvm.core.result import Solution, Status
from refsvm.core.rule import is_builtin, name_of
from refsvm.core.selectors.base import WorkingSetSelector
from refsvm.core.shown import short
from refsvm.core.solver.rules import Rules, chosen_rules
from refsvm.core.steps.base import StepRule
from refsvm.core.stopping.base import StoppingRule
from refsvm.experiment.own_rules import IN_FILE, rule_in_file
from refsvm.experiment.strategy import EIGHT_POINTS, ShrinksAtOnce
from refsvm.services.summary import Card, Shown, Table, counted
from refsvm.services.types import RulesLike

Run: TypeAlias = Solution | Recording

SOLVED: Final = (Status.CONVERGED, Status.INSEPARABLE)
"""Statuses of a run that has reached a result."""


class Measured(NamedTuple):
    """The measurements of a run; `ratio` is its number of steps divided by the number of steps of the first run."""

    steps: int
    ratio: float
    rows: int
    seconds: float
    objective: float
    gap: float
    support_vectors: int
    engine: str
    status: str


@dataclass(frozen=True, eq=False, repr=False)
class RuleComparison(Shown):
    """The runs of several rules on one problem, as `compare` returns them.

    Attributes
    ----------
    problem : DualProblem
        The problem.
    runs : dict of str to Solution or Recording
        The runs by name; each solution has a trace.
    left_out : dict of str to str
        Pairs of a selector and a step rule that cannot be combined, each with the reason.
    status : Status
        INTERRUPTED after Ctrl-C; otherwise CONVERGED if all runs converged.
    step : str or None
        Name of the step rule of all runs; "" if the runs have different step rules, None if the step rule is not known.

    Examples
    --------
    >>> from refsvm import compare, DualProblem
    >>> from refsvm.datasets import load
    >>> heart = load("heart")
    >>> race = compare(DualProblem.classification(heart.X, heart.y, gamma=0.005, C=10.0), engine="numpy")
    >>> race
    RuleComparison(2 rules on n=270, newton steps: fewest steps second-order, 254)
    >>> [(name, run.iterations) for name, run in race.runs.items()]
    [('mvp', 428), ('second-order', 254)]
    """

    problem: DualProblem
    runs: Mapping[str, Run]
    left_out: Mapping[str, str] = field(default_factory=dict)
    status: Status = Status.CONVERGED
    step: str | None = None

    def measured(self) -> dict[str, Measured]:
        """Return a dict from the name of each run to its measurements."""
        rows = {name: _measured(run) for name, run in self.runs.items()}
        first = next(iter(rows.values()), None)
        return {name: each._replace(ratio=_ratio(each, first)) for name, each in rows.items()}

    def to_frame(self) -> Any:
        """Return a pandas DataFrame with a row for each run.

        The columns are steps, ratio (steps divided by the steps of the first run; NaN unless the stopping rule ended
        both runs), rows, seconds (NaN for a recording), objective, gap, support_vectors, engine and status.
        """
        pd = pandas_for("to_frame()")

        measured = self.measured()
        index = pd.Index(list(measured), name="rule")
        return pd.DataFrame(list(measured.values()), index=index, columns=list(Measured._fields))

    def _card(self) -> Card:
        measured = self.measured()
        held = "" if self.step is None else f", {self.step or 'different'} steps"
        line = f"{counted(len(measured), 'rule')} on n={self.problem.n}{held}: {_fewest(measured)}"
        if self.status is Status.INTERRUPTED:
            line += ", INTERRUPTED"
        engines = {each.engine for each in measured.values()}
        is_solved = all(map(_is_solved, measured.values()))
        headers = ["rule", "steps", "/ first", "rows", "seconds", "objective", "gap", "support"]
        headers += ["engine"] * (len(engines) > 1) + ["status"] * (not is_solved)
        rows = []
        for name, run in measured.items():
            cells = [
                name, f"{run.steps:,}", _or_dash(run.ratio, ".2f"), f"{run.rows:,}", _or_dash(run.seconds, ".4f"),
                f"{run.objective:.8g}", f"{run.gap:.1e}", f"{run.support_vectors:,}",
            ]  # fmt: skip
            cells += [run.engine] * (len(engines) > 1) + [run.status] * (not is_solved)
            rows.append(tuple(cells))
        return Card(
            line,
            sentence=line,
            is_partial=self.status is Status.INTERRUPTED,
            pairs={"left out": "; ".join(self.left_out)} if self.left_out else {},
            heights=tuple(float(run.steps) for run in measured.values()),
            heights_of="steps of each rule, in the order of the table",
            tables=(Table(tuple(headers), rows),),
        )


def compare(
    problem: DualProblem,
    selectors: RulesLike = ("mvp", "second-order"),
    steps: RulesLike = "newton",
    *,
    stop: StoppingRule | None = None,
    engine: str = "auto",
    shrinking: RulesLike = False,
    **options: Any,
) -> RuleComparison:
    """Solve one problem by each of several rules, and return the runs side by side.

    Parameters
    ----------
    problem : DualProblem
        The problem.
    selectors : sequence, or mapping of str
        Rules by name ("mvp", "second-order", …), as objects, as classes, or as
        FILE.py:NAME for a class in your file. A mapping assigns your own
        names. A `Recording` of `problem` is compared without a new run.
    steps : step rule, or several
        Step rules, in the same forms as the selectors; each step rule is
        combined with each selector. A pair that cannot be combined is left
        out; at least one pair must remain.
    stop : StoppingRule, optional
        Stopping rule of all runs, by default ``KKTGap(1e-3)``.
    engine, shrinking, **options
        As in `refsvm.solve`. Without shrinking, the rules choose every step among all variables. "auto" runs rules in
        the compiled loop if they have compiled code, and otherwise in the readable loop; to compare the seconds of
        rules with and without compiled code, use ``engine="numpy"``.

    Returns
    -------
    RuleComparison
        The runs. The comparison prints as a table, and ``plot()`` draws the
        KKT gap of each run against its steps. Compiled code is loaded before a
        run, and the seconds of the run do not include the loading.

    Raises
    ------
    ValueError
        If there is no rule, a rule is unknown, or no selector can be combined with a step rule.
    KeyboardInterrupt
        After Ctrl-C; ``error.result`` contains the runs so far.

    Examples
    --------
    >>> from dataclasses import dataclass
    >>> from refsvm import DualProblem, WorkingSetSelector, compare
    >>> from refsvm.datasets import load
    >>> @dataclass(frozen=True)
    ... class Mine(WorkingSetSelector):
    ...     def select(self, state):
    ...         return (state.top, state.bottom) if state.gap > 0.0 else (-1, -1)
    >>> heart = load("heart")
    >>> problem = DualProblem.classification(heart.X, heart.y, gamma=0.005, C=10.0)
    >>> [run.steps for run in compare(problem, ["second-order", Mine]).measured().values()]
    [254, 428]
    """
    if not isinstance(problem, DualProblem):
        raise ValueError(
            f"compare takes a problem, not {shown(problem)}; write compare(DualProblem.classification(X, y, …))."
        )
    if "trace" in options or "callback" in options:
        raise ValueError(
            "compare() records every step itself and takes no callback; omit trace and callback."
        )
    entrants, left_out = _entrants(problem, selectors, steps, stop)
    runs: dict[str, Run] = {}
    with interruptible() as interrupt:
        for name, entrant in entrants.items():
            if interrupt.pressed:
                break
            if isinstance(entrant, Recording):
                while not entrant.has_ended and not interrupt.pressed:
                    entrant.reach(len(entrant.states))
                if entrant.error is not None:
                    raise entrant.error
                runs[name] = entrant
                continue
            settings = {"stop": entrant.stop, "engine": engine, "shrinking": shrinking, **options}
            settings |= {"selector": entrant.selector, "step": entrant.step}
            if engine == "auto" and _is_warm(entrant, settings):
                settings["engine"] = "numba"
            runs[name] = solve(problem, **settings, trace=True)
        is_solved = all(_is_solved(_measured(run)) for run in runs.values())
        ended = Status.CONVERGED if is_solved else Status.MAX_ITER
        status = Status.INTERRUPTED if interrupt.pressed else ended
        lengths = {
            name_in_table(each.rules.step if isinstance(each, Recording) else each.step)
            for each in entrants.values()
        }
        result = RuleComparison(problem, runs, left_out, status, lengths.pop() if len(lengths) == 1 else "")
    return unless_interrupted("compare", result, interrupt.pressed)


def _entrants(
    problem: DualProblem, selectors: Any, steps: Any, stop: StoppingRule | None
) -> tuple[dict[str, Rules | Recording], dict[str, str]]:
    """Return two dicts by name: the rules of each run, and the reasons why pairs of rules cannot be combined."""
    chosen = dict(_named("selectors", selectors, WorkingSetSelector))
    lengths = dict(_named("steps", steps, StepRule))
    entrants: dict[str, Rules | Recording] = {}
    left_out: dict[str, ValueError] = {}
    for (name, selector), (step_name, step) in product(chosen.items(), lengths.items()):
        if isinstance(selector, Recording):
            if selector.problem is not problem:
                raise ValueError(
                    f"selectors: the recording {name!r} belongs to another problem; record this problem."
                )
            entrants[name] = selector
            continue
        both = name if len(lengths) == 1 else f"{name}, {step_name}"
        try:
            entrants[both] = chosen_rules(selector, step, stop)
        except ValueError as refusal:
            left_out[both] = refusal
    if not entrants:
        raise next(iter(left_out.values()))
    return entrants, {name: str(refusal) for name, refusal in left_out.items()}


def _named(argument: str, rules: Any, family: Any) -> Iterator[tuple[str, Any]]:
    """Yield each rule with its name; number rules that have the same name."""
    if isinstance(rules, Mapping):
        for name, each in rules.items():
            yield str(name), _rule(argument, each, family)
        return
    if isinstance(rules, str):
        rules = [each.strip() for each in rules.split(",")]
    elif not isinstance(rules, Sequence):
        rules = [rules]
    if not rules:
        raise ValueError(
            f"{argument} contains no rule; give at least one rule, such as {argument}=['{_example(family)}']."
        )
    seen: dict[str, int] = {}
    for each in rules:
        rule = _rule(argument, each, family)
        name = name_in_table(rule)
        seen[name] = seen.get(name, 0) + 1
        yield (name if seen[name] == 1 else f"{name} ({seen[name]})"), rule


def _example(family: Any) -> str:
    return "mvp" if family is WorkingSetSelector else "newton"


def _rule(argument: str, rule: Any, family: Any) -> Any:
    """Return the rule that the user gave by name, as object, as class or in a file; return a recording unchanged."""
    if isinstance(rule, Recording) and family is WorkingSetSelector:
        return rule
    if isinstance(rule, str) and IN_FILE(rule):
        rule = rule_in_file(argument, rule, family)
    return family.checked(argument, rule)


def name_in_table(rule: Any) -> str:
    """Return a rule's command-line name, or its class name with the parameters that are not defaults.

    Examples
    --------
    >>> from refsvm import HybridMaximumGain, SecondOrder
    >>> from refsvm.experiment.race import name_in_table
    >>> name_in_table(SecondOrder()), name_in_table(SecondOrder(planned_range=0.5))
    ('second-order', 'SecondOrder(planned_range=0.5)')
    """
    if isinstance(rule, Recording):
        return f"{name_in_table(rule.rules.selector)}, recorded"
    kind: Any = type(rule)
    with suppress(TypeError, ValueError):  # kind() or == fails if a rule lacks defaults or contains arrays
        if rule == kind():
            return name_of(kind) if is_builtin(kind) else kind.__name__
    return short(rule)


def _is_warm(rules: Rules, settings: Mapping[str, Any]) -> bool:
    """If the rules have compiled code, load the code before their run; return whether the code is loaded."""
    if not (numba_compiles() and all(rule.twin() for rule in rules)):
        return False
    prepare_arithmetic()
    try:
        at_once = {"shrinking": ShrinksAtOnce()} if settings["shrinking"] else {}
        solve(EIGHT_POINTS.dual(), **{**settings, **at_once, "engine": "numba", "start": None})
    except ValueError:  # `solve` may refuse options that do not suit `EIGHT_POINTS`
        return False
    return True


def _measured(run: Run) -> Measured:
    """Return the measurements of a run."""
    if isinstance(run, Recording):
        last = run.states[-1]
        ended = "INTERRUPTED" if run.status is None else run.status.name
        numbers = last.iteration, math.nan, last.kernel_rows, math.nan, last.objective, last.gap
        return Measured(*numbers, int(np.count_nonzero(last.alpha)), "numpy", ended)
    numbers = run.iterations, math.nan, run.kernel_rows, run.seconds, run.objective, run.kkt_gap
    return Measured(*numbers, int(np.count_nonzero(run.alpha)), run.engine, run.status.name)


def _is_solved(run: Measured) -> bool:
    return run.status in {each.name for each in SOLVED}


def _ratio(run: Measured, first: Measured | None) -> float:
    """Return the steps of a run divided by the steps of the first run; NaN unless both runs are solved."""
    if first is None or not (_is_solved(run) and _is_solved(first)) or not first.steps:
        return math.nan
    return run.steps / first.steps


def _fewest(measured: Mapping[str, Measured]) -> str:
    """Return the name of the solved run with the fewest steps."""
    solved = {name: run.steps for name, run in measured.items() if _is_solved(run)}
    if not solved:
        return "none converged"
    best = min(solved, key=solved.__getitem__)
    return f"fewest steps {best}, {solved[best]:,}"


def _or_dash(value: float, form: str) -> str:
    return "–" if math.isnan(value) else f"{value:{form}}"
