"""Displays of leave-one-out: LOOGapDisplay draws one round, and LOODecisionDisplay draws all predictions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final, Self

import numpy as np

from refsvm.analysis.resampling.leave_one_out import leave_one_out
from refsvm.analysis.resampling.results import DECIDERS, LeaveOneOut
from refsvm.core._checks import is_sparse
from refsvm.core.problem import DualProblem
from refsvm.core.solver.loop import iterate
from refsvm.core.stopping import LOODualityGap
from refsvm.core.stopping.loo_duality_gap import H
from refsvm.display.canvas import PALETTE, Axes, Display, literal, require
from refsvm.display.machine import machine_of, name_of_class


@dataclass(eq=False)
class LOOGapDisplay(Display):
    """Draws the primal objective F and the bound H after each step of the round that trains without one example.

    F falls. H rises; it is a lower bound of the objective of all models with decision value 0 at the left-out example
    (`LOODualityGap`). As soon as H exceeds F, the sign of the decision value at the left-out example is certain. The
    display also draws the dual objective f, which meets F at the optimum.

    Parameters
    ----------
    primal, bound, dual : ndarrays of shape (t,), float64
        F, H and f after 1, 2, 3, … steps.
    example : int
        The left-out example r.

    Examples
    --------
    >>> from refsvm import DualProblem, RBF
    >>> from refsvm.datasets import make_banana
    >>> from refsvm.display import LOOGapDisplay
    >>> data = make_banana(60, rng=0)
    >>> problem = DualProblem.classification(data.X, data.y, kernel=RBF(0.25))
    >>> LOOGapDisplay.from_problem(problem, 3).decided_after is None
    False
    """

    primal: np.ndarray
    bound: np.ndarray
    dual: np.ndarray
    example: int

    @classmethod
    def from_problem(
        cls,
        problem: DualProblem,
        example: int,
        *,
        stop: LOODualityGap | None = None,
        ax: Axes | None = None,
        **rules: Any,
    ) -> Self:
        """Train without one example until the KKT gap is small, and draw F, H and f of each step.

        Parameters
        ----------
        problem : DualProblem
            The problem with all examples.
        example : int
            The left-out example r.
        stop : LOODualityGap, optional
            The display computes H, and ends the training, with the parameters ``tol`` and ``variables`` of this rule.
        ax : matplotlib Axes, optional
            Axes to draw on.
        **rules
            ``selector``, ``step`` and ``start``, as in `refsvm.iterate`.
        """
        require("problem", problem, DualProblem, "give the problem of all examples")
        left_out, rule = problem.without(example), LOODualityGap() if stop is None else stop
        curves: list[tuple[float, float, float]] = []
        for state in iterate(left_out, stop=_GoesOn(rule.tol, variables=rule.variables), **rules):
            F = left_out.primal_objective(state.alpha, gradient=state.gradient)
            curves.append((F, float(state.stop_memory[H]), state.objective))
        columns = np.array(curves).reshape(-1, 3).T
        return cls(columns[0], columns[1], columns[2], example).plot(ax=ax)

    @property
    def decided_after(self) -> int | None:
        """Number of steps after which H first exceeds F; None if H never exceeds F."""
        above = np.flatnonzero(self.bound > self.primal)
        return int(above[0]) + 1 if len(above) else None

    def plot(self, ax: Axes | None = None) -> Self:
        """Draw F, H and f again."""
        self._draw_on(ax)
        steps = np.arange(1, len(self.primal) + 1)
        self.ax_.plot(steps, self.primal, label="$F$: primal objective without the example")
        self.ax_.plot(steps, self.bound, label="$H$: bound on solutions with $h(x_r)=0$")
        self.ax_.plot(steps, self.dual, "--", color="0.6", label="$f$: dual objective")
        if self.decided_after is not None:
            self.ax_.axvline(self.decided_after, color="0.4", lw=0.8, label="the sign is certain")
        # leave the first tenth of F out of the axis limits, because its large values would flatten all curves
        low, high = np.nanmin(self.dual), np.nanmax(self.primal[len(self.primal) // 10 :])
        seen = (low - 0.05 * (high - low), high + 0.15 * (high - low))
        title = f"example {self.example} left out"
        return self._labelled(xlabel="steps", ylabel="objective", title=title, ylim=seen)


@dataclass(frozen=True)
class _GoesOn(LOODualityGap):
    """Computes H as `LOODualityGap` does, but stops only when the KKT gap is small, so that the curves are complete."""

    def check(self, state: Any) -> int:
        return int(super().check(state) == 1)


BLUE, VERMILLION, GREEN, PINK, ORANGE, SKY, INK = PALETTE
# readers who cannot tell red from green can distinguish the colours that occur in the same plot
COLOURS: Final = dict(
    zip(DECIDERS, ("0.8", VERMILLION, PINK, BLUE, SKY, ORANGE, INK, "#661100", GREEN), strict=True)
)


@dataclass(eq=False)
class LOODecisionDisplay(Display):
    """Draws examples in the plane; colours show how each label was predicted, and rings mark wrong predictions.

    Parameters
    ----------
    X : ndarray of shape (n, 2)
        The examples.
    labels : ndarray of shape (n,)
        Labels; circles show examples with the larger label, and squares show the other examples.
    decided_by : ndarray of shape (n,) of str
        What decided the prediction for each example: a check, a rule or another reason, as in
        `refsvm.analysis.resampling.LeaveOneOut`.
    wrong : ndarray of shape (n,) of bool
        Whether the prediction is wrong.

    Examples
    --------
    >>> from refsvm import RBF, leave_one_out
    >>> from refsvm.datasets import make_banana
    >>> from refsvm.display import LOODecisionDisplay
    >>> data = make_banana(60, rng=0)
    >>> loo = leave_one_out(data.X, data.y, kernel=RBF(0.25))
    >>> LOODecisionDisplay.from_result(loo, data.X).ax_.get_legend() is None
    False
    """

    X: np.ndarray
    labels: np.ndarray
    decided_by: np.ndarray
    wrong: np.ndarray

    @classmethod
    def from_estimator(cls, model: Any, X: Any, y: Any, *, ax: Axes | None = None, **options: Any) -> Self:
        """Run leave-one-out with the parameters of a model, or of the best model of a search, and draw the result.

        Parameters
        ----------
        model : SVC or SVCCV
            The model or fitted search.
        X, y : array-like of shape (n, 2), (n,)
            Examples and labels.
        ax : matplotlib Axes, optional
            Axes to draw on.
        **options
            Passed to `refsvm.leave_one_out`.
        """
        loo = leave_one_out(X, y, **{**machine_of(model), **options})
        return cls.from_result(loo, X, ax=ax)

    @classmethod
    def from_result(cls, loo: LeaveOneOut, X: Any = None, *, ax: Axes | None = None) -> Self:
        """Draw the result of `refsvm.leave_one_out`.

        Parameters
        ----------
        loo : LeaveOneOut
            The result.
        X : array-like of shape (n, 2), optional
            The examples from which the result was computed; by default, the examples that the result's solution stores.
        ax : matplotlib Axes, optional
            Axes to draw on.

        Raises
        ------
        ValueError
            If the examples do not have two features, or `X` and the result differ in the number of examples.
        """
        require("loo", loo, LeaveOneOut, "give the result of leave_one_out()")
        if X is None and len(loo.full_solutions) == 1:
            X = getattr(loo.full_solutions[0].problem.gram, "X", None)
        if X is None or is_sparse(X):
            raise ValueError(
                "The result does not store its examples; pass X, the examples with two features."
            )
        points = np.asarray(X, dtype=np.float64)
        if points.shape != (len(loo.labels), 2):
            raise ValueError(
                f"X has shape {points.shape}; expected the two features of {len(loo.labels)} examples."
            )
        return cls(points, loo.labels, loo.decided_by, loo.predictions != loo.labels).plot(ax=ax)

    def plot(self, ax: Axes | None = None) -> Self:
        """Draw all examples again."""
        self._draw_on(ax)
        classes = np.unique(self.labels)  # labels may be texts, for which NumPy has no maximum
        positive = self.labels == classes[-1]
        for name, colour in COLOURS.items():
            chosen = self.decided_by == name
            if chosen.any():
                for of_class, marker in ((positive, "o"), (~positive, "s")):
                    x, y = self.X[chosen & of_class].T
                    self.ax_.scatter(x, y, s=18, color=colour, marker=marker)
                self.ax_.scatter([], [], s=18, color=colour, label=f"{name}: {int(chosen.sum())}")
        x, y = self.X[self.wrong & (self.decided_by != "")].T
        self.ax_.scatter(x, y, s=70, facecolors="none", edgecolors="k", lw=0.8, label=f"wrong: {len(x)}")
        for label, marker in ((classes[-1], "o"), (classes[0], "s")):
            self.ax_.scatter(
                [], [], s=18, color="0.45", marker=marker, label=f"class {literal(name_of_class(label))}"
            )
        look = {"frameon": False, "loc": "center left", "bbox_to_anchor": (1.0, 0.5)}
        return self._labelled(
            {"title": "decided by", **look}, xlabel="first feature", ylabel="second feature"
        )
