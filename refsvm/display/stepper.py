"""Stepper: shows a solve in a notebook step by step, with rules of this package or your own rules."""

from __future__ import annotations

import traceback
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from types import SimpleNamespace
from typing import Any, Final

import numpy as np

from refsvm.analysis.recording import LIMIT, RecordedState, Recording
from refsvm.analysis.solve import solve
from refsvm.core._checks import whole
from refsvm.core.engine.limits import Deadline, interruptible
from refsvm.core.rule import Rule
from refsvm.core.seeders.base import Seeder
from refsvm.core.selectors.base import WorkingSetSelector
from refsvm.core.shown import named
from refsvm.core.solver.rules import Rules, chosen_rules
from refsvm.core.steps.base import StepRule
from refsvm.core.steps.newton import NewtonStep
from refsvm.core.stopping.base import StoppingRule
from refsvm.display.runs import FixedPair, reached, refusal, second_rules
from refsvm.display.strip import curves, picture, strip
from refsvm.display.task import NODES, StepperTask
from refsvm.services.summary import counted

SLICE_SECONDS: Final = 0.2
"""Longest time for one message in seconds; in between, the notebook shows the state and can send a stop."""

STRIP_SECONDS: Final = 1.0
"""Longest time for the strip's steps in seconds; a longer solve is shown as far as it has come."""

MEMORY: Final = 2**28
"""Limit on the bytes of the states of all runs."""

LOG: Final = 4_000
"""Number of characters of the log that are kept."""


class Stepper:
    """Shows the steps of one or two solves, with a picture of the next pair.

    If a Stepper is the last line of a notebook cell, the notebook shows a widget. The buttons of the widget take a
    step, go back, play the steps and run to the end. If the widget draws the examples, you can drag, relabel and add
    examples. From Python, the methods of a Stepper do what the widget does, and you can use methods and widget
    together. The widget needs anywidget, ``pip install "refsvm[notebook]"``; the methods need NumPy only. If the
    notebook has no running kernel, a strip of pictures replaces the widget.

    Parameters
    ----------
    X : array-like or CSR of shape (n, d), or DualProblem
        Examples; if d = 2 and n ≤ 300, and the task is not a regression, the examples are drawn and can be changed. A
        `DualProblem` cannot be changed.
    y : array-like of shape (n,), optional
        Two labels of any kind, or targets of a regression. Pass None for novelty detection and for a `DualProblem`.
    kernel : kernel object or callable, default Linear()
        The kernel.
    C : float or array-like of shape (n,)
        Penalty.
    epsilon, nu : float, optional
        ε or ν, which make the task a regression or novelty detection, as in `DualProblem.regression` and
        `DualProblem.one_class`.
    pair : (label, label), optional
        With several classes, the two labels to separate; the second label is the positive class.
    selector, step, stop : rules, optional
        As in `refsvm.solve`.
    start : array-like of shape (n,), optional
        α of the first state.
    against : rule, or sequence of rules, optional
        A selector, a step rule or both, for a second run on the same problem. If you omit the selector or the step
        rule, the second run uses the default rule, not the rule of the first run.
    seeder : Seeder, optional
        Rule that makes the starting point after a change of C; by default the current α is scaled.

    Attributes
    ----------
    recordings : list of Recording
        One recording for each run.
    k : int
        Number of steps that lead to the shown states; a run with fewer steps shows its last state.
    log : str
        Text that the rules have printed on the present problem up to the present step.
    note : str
        A sentence about the latest change of the problem, or the error that the change caused.

    Raises
    ------
    ValueError
        If the problem or the rules are invalid, or y contains more than two classes and no pair is given.

    Examples
    --------
    >>> from refsvm import RBF, MostViolatingPair, SecondOrder
    >>> from refsvm.datasets import make_banana
    >>> from refsvm.display import Stepper
    >>> data = make_banana(40, rng=1)
    >>> rules = {"selector": MostViolatingPair(), "against": SecondOrder()}
    >>> stepper = Stepper(data.X, data.y, kernel=RBF(0.5), C=10.0, **rules)
    >>> stepper.step(3)
    >>> [(state.next.i, state.next.j) for state in stepper.now]
    [(4, 30), (5, 24)]
    >>> stepper.end()
    >>> [len(recording.states) - 1 for recording in stepper.recordings]
    [143, 51]
    """

    def __init__(
        self,
        X: Any,
        y: Any = None,
        *,
        kernel: Any = None,
        C: Any = 1.0,
        epsilon: float | None = None,
        nu: float | None = None,
        pair: tuple[Any, Any] | None = None,
        selector: WorkingSetSelector | None = None,
        step: StepRule | None = None,
        stop: StoppingRule | None = None,
        start: Any = None,
        against: Rule | Sequence[Rule] | None = None,
        seeder: Seeder | None = None,
    ) -> None:
        self.task = self._original = StepperTask.of(X, y, pair, kernel=kernel, C=C, epsilon=epsilon, nu=nu)
        self.seeder = None if seeder is None else Seeder.checked("seeder", seeder)
        self.rules: list[Rules] = [chosen_rules(selector, step, stop)]
        if against is not None:
            self.rules.append(second_rules(against, stop))
        self.note, self.k, self._is_answering, self._widget = "", 0, False, None  # type: str, int, bool, Any
        self._begin(self.task, [start] * len(self.rules))

    def __repr__(self) -> str:
        """Return the rules of all runs, and the number of steps shown."""
        return f"<Stepper: {' against '.join(map(self.rules_of, range(len(self.rules))))}; step {self.k}>"

    # -- the runs ---------------------------------------------------------------------------------------------------

    @property
    def now(self) -> list[RecordedState]:
        """For each run, the state that the stepper shows."""
        return [each.states[each.reach(self.k)] for each in self.recordings]

    @property
    def error(self) -> BaseException | None:
        """The error that a rule raised after the shown state, or None; if both runs failed, the first run's error."""
        failed = (each.error for each, now in zip(self.recordings, self.now, strict=True) if now.next is None)
        return next(filter(None, failed), None)

    @property
    def log(self) -> str:
        """The text that the rules printed; only the end of a long text is kept."""
        return "".join(text for k, text in self._printed.items() if k <= self.k)[-LOG:]

    @property
    def may_step(self) -> bool:
        """Whether at least one run has a next step."""
        return any(state.next is not None for state in self.now)

    def step(self, count: int = 1) -> None:
        """Take `count` steps in each run."""
        self.to(self.k + whole("count", count, 1))

    def back(self, count: int = 1) -> None:
        """Show the states `count` steps earlier."""
        self.to(max(self.k - whole("count", count, 1), 0))

    def to(self, k: int) -> None:
        """Show the states after k steps; a run with fewer steps shows its last state, and Ctrl-C stops all runs."""
        self._advance(whole("k", k, 0), Deadline())
        self._refresh()

    def end(self) -> None:
        """Take all steps of each run; after Ctrl-C, keep the steps so far."""
        self.to(LIMIT)

    def _advance(self, k: int, deadline: Deadline) -> None:
        """Take steps until step k, the end of all runs, the deadline or Ctrl-C."""
        self.k = min(self.k, k)
        with interruptible() as block:
            while self.k < k and self.may_step and deadline.left() > 0.0 and not block.pressed:
                self.k += 1
                self._printed[self.k] = self._printed.get(self.k, "") + reached(self.recordings, self.k)

    def _begin(self, task: StepperTask, starts: Sequence[Any]) -> None:
        """Start all runs on a task, each run at its own α; if a run cannot start, change nothing."""
        limit = max(min(LIMIT, MEMORY // (16 * task.problem.n * len(self.rules))), 100)
        recordings = [
            Recording(task.problem, **rules._asdict(), start=start, limit=limit)
            for rules, start in zip(self.rules, starts, strict=True)
        ]
        printed = {0: reached(recordings, 0)}
        self.task, self.recordings, self.k, self._printed = task, recordings, 0, printed

    # -- changes of the problem, after which the runs continue ----------------------------------------------------

    def reset(self) -> None:
        """Start all runs again at α = 0, with the original examples, C and γ."""
        self._changed(self._original, "from the beginning", warm=False)

    def set_penalty(self, C: float, warm: bool = True) -> None:
        """Change C, and continue from the scaled α or the seeder's starting point; if not `warm`, start at α = 0."""
        task = self.task.with_penalty(C)
        if warm and self.seeder is not None:
            solved = solve(self.task.problem, stop=self.rules[0].stop)
            start = self.seeder.seed(solved, task.problem)
            self._begin(task, [start] * len(self.rules))
            self._say(f"C = {C:.3g}, seeded by {self.seeder!r}")
            return
        self._changed(task, f"C = {C:.3g}", warm)

    def set_gamma(self, gamma: float, warm: bool = True) -> None:
        """Change γ of the kernel, and continue from the present α; if not `warm`, start at α = 0."""
        self._changed(self.task.with_gamma(gamma), f"γ = {gamma:.3g}", warm)

    def move(self, t: int, x: Sequence[float]) -> None:
        """Move example t to x, and continue from the present α."""
        self._changed(self.task.moved(t, x), f"example {t} has moved")

    def relabel(self, t: int) -> None:
        """Give example t the other label, and continue with αₜ = 0."""
        self._changed(self.task.relabelled(t), f"example {t} has the other label")

    def add(self, x: Sequence[float], label: Any) -> None:
        """Add an example x with a label, and continue with α = 0 for the new example."""
        self._add(x, self.task.sign_of(label))

    def _add(self, x: Sequence[float], sign: float) -> None:
        self._changed(self.task.with_example(x, sign), f"example {len(self.task.X)} is new")

    def own(self, i: int, j: int) -> None:
        """Let the first run take a Newton step with the pair (i, j); then continue each run from its α.

        Raises
        ------
        ValueError
            If the pair does not exist, a bound blocks the step, the step would go backwards, or it does not increase f.
        """
        one = Recording(
            self.task.problem, selector=FixedPair(i, j), step=NewtonStep(), start=self.now[0].alpha, limit=1
        )
        taken = one.at(0).next
        if one.error is not None:
            raise one.error
        if taken is None:
            raise ValueError(
                f"The pair ({i}, {j}) takes no step, because the KKT gap is at most tol; lower tol."
            )
        refused = refusal(self.task.problem, self.now[0], i, j, float(self.rules[0].stop.tolerance))
        if refused:
            raise ValueError(refused)
        after = one.at(1).alpha
        self._begin(self.task, [after, *(state.alpha for state in self.now[1:])])
        self._say(f"your pair ({i}, {j}) has moved by {taken.length:.3g}")

    def _changed(self, task: StepperTask, note: str, warm: bool = True) -> None:
        starts = [task.start(state.alpha, self.task) if warm else None for state in self.now]
        self._begin(task, starts)
        self._say(
            f"{note}; the runs continue from the previous α" if warm else f"{note}; the runs start at α = 0"
        )

    def _say(self, note: str) -> None:
        self.note = note
        self._refresh()

    # -- output -------------------------------------------------------------------------------------------------------

    def gaps(self, run: int) -> np.ndarray:
        """Return the KKT gap ψ of a run after every step up to the k-th step, shape (k + 1,)."""
        states = self.recordings[run].states[: self.k + 1]
        return np.array([state.gap for state in states])

    def ending(self, run: int) -> str:
        """Return the reason why a run has no next step; "" if the run has a next step."""
        recording = self.recordings[run]
        if self.now[run].next is not None:
            return ""
        if recording.error is not None:
            return f"{type(recording.error).__name__}: {recording.error}"
        return recording.reason

    def rules_of(self, run: int) -> str:
        """Return the selector and the step rule of a run as text, by class name if a rule's repr is not readable."""
        return ", ".join(map(named, self.rules[run][:2]))

    def failure(self, run: int) -> str:
        """Return the last lines of the traceback of a rule's error; "" if no rule raised an error up to this step."""
        error = self.recordings[run].error
        if error is None or self.now[run].next is not None:
            return ""
        return "".join(traceback.format_exception(error, limit=-3))

    def receive(self, message: Mapping[str, Any]) -> None:
        """Call the method that a button's message names; if an error occurs, show its text as the note.

        Parameters
        ----------
        message : mapping
            ``{"do": name, "with": arguments}``. ``name`` is the name of a method. "end" takes steps for a fifth of a
            second; then the widget shows the state, and sends "end" again unless you stop the run.
        """
        self._is_answering = True
        try:
            self._actions[message["do"]](*message.get("with", ()))
        except Exception as error:  # noqa: BLE001  a user's kernel or rule may raise anything
            self.note = f"{type(error).__name__}: {error}"
        finally:
            self._is_answering = False
        self._refresh()

    @cached_property
    def _actions(self) -> dict[str, Callable[..., None]]:
        """Return a dict from each name in messages to its method."""
        return {
            "step": self.step, "back": self.back, "to": self.to, "end": self._end_for_a_while, "reset": self.reset,
            "C": self.set_penalty, "gamma": self.set_gamma, "move": self.move, "relabel": self.relabel,
            "add": self._add, "own": self.own,
        }  # fmt: skip

    def _end_for_a_while(self) -> None:
        self._advance(LIMIT, Deadline.after(SLICE_SECONDS))

    @property
    def widget(self) -> Any:
        """The widget, created at the first use and again after it was closed.

        Raises
        ------
        ImportError
            If anywidget is not installed.
        """
        from refsvm.display.widget import widget_of

        # create a new widget after ipywidgets.Widget.close_all(), because the old widget cannot reach its views
        if self._widget is None or self._widget.comm is None:
            self._widget = widget_of(self)
        return self._widget

    def _refresh(self) -> None:
        """Send the present states to the widget; if `receive` is handling a message, leave this to `receive`."""
        if self._widget is not None and not self._is_answering:
            self._widget.refresh()

    def _ipython_display_(self) -> None:
        """Show the strip of pictures and the widget in a notebook; while the widget is running, it hides the strip.

        In a notebook that is opened without a kernel, only the strip is visible. If anywidget is not installed, this
        method lets IPython show the strip alone.
        """
        try:
            widget = self.widget
        except ImportError:
            raise NotImplementedError from None
        from IPython.display import display

        strip = {
            "text/html": f'<div class="{widget.hides}">{self._repr_html_()}</div>',
            "text/plain": repr(self),
        }
        display(strip, raw=True)
        display(widget)

    def _display_(self) -> Any:
        """Return the object that marimo shows: the widget, or the strip if anywidget is not installed."""
        try:
            return self.widget
        except ImportError:
            return SimpleNamespace(_repr_html_=self._repr_html_)

    def _repr_html_(self) -> str:
        """Return pictures of the start, a middle state and the end of each run, and ψ against the steps."""
        k = self.k
        self._advance(LIMIT, Deadline.after(STRIP_SECONDS))  # this call changes k, which is restored below
        lasts = [len(each.states) - 1 for each in self.recordings]
        self.k = k
        tolerance = float(self.rules[0].stop.tolerance)
        rows = [(self.rules_of(run), self._pictures(run, last)) for run, last in enumerate(lasts)]
        gaps = [np.array([state.gap for state in each.states]) for each in self.recordings]
        rows[0][1].append((curves(gaps, tolerance), "KKT gap against steps"))
        words = "; ".join(
            f"{title}: {counted(last, 'step')}" for (title, _), last in zip(rows, lasts, strict=True)
        )
        return strip(rows, f"{words}. Run the cell to step through it.")

    def _pictures(self, run: int, last: int) -> list[tuple[str, str]]:
        """Return pictures of the first, a middle and the last state of a run; an empty list if they cannot be drawn."""
        try:
            import contourpy  # noqa: F401
        except ImportError:
            return []
        problem, task, ranges, drawn = self.task.problem, self.task, self.task.ranges, []
        if not task.in_plane or ranges is None:
            return []
        room = problem.upper - problem.lower
        for k in sorted({0, last // 4, last}):
            state = self.recordings[run].states[k]
            shares = np.abs(state.alpha) / np.where(room > 0.0, room, 1.0)
            values = task.decision_values(state.alpha, state.intercept)
            h = values.reshape(NODES, NODES)[::2, ::2].ravel()  # a small picture needs fewer nodes
            content = picture(task.X, task.signs, shares, h, ranges, task.levels)
            drawn.append((content, f"{counted(k, 'step')}, ψ = {state.gap:.2g}"))
        return drawn
