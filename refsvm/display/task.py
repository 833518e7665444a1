"""StepperTask: holds a stepper's examples, returns tasks with changed examples, and adapts α to a change."""

from __future__ import annotations

from dataclasses import dataclass, fields, is_dataclass, replace
from functools import cached_property
from typing import Any, Final, Self

import numpy as np

from refsvm.core._checks import is_sparse
from refsvm.core.kernels.functions import Precomputed
from refsvm.core.problem import DualProblem
from refsvm.display.strip import nodes, ranges_around
from refsvm.experiment.problem import Instance
from refsvm.services.labels import numbered, refuse_contained, signed

NODES: Final = 57
"""Number of nodes along a side of the grid on which h is drawn, as in picture.js."""

PLANE_UP_TO: Final = 300
"""Largest number of examples that are drawn in the plane."""


@dataclass(frozen=True, eq=False)
class StepperTask:
    """The problem of a stepper: examples that can be changed, or a `DualProblem` that cannot be changed.

    Parameters
    ----------
    instance : refsvm.experiment.problem.Instance or DualProblem
        The problem.
    ranges : ndarray of shape (2, 2), optional
        The square that the picture shows; by default, a square around the examples.
    classes : tuple of two labels
        The label that becomes −1, and the label that becomes +1.
    """

    instance: Instance | DualProblem
    ranges: np.ndarray | None = None
    classes: tuple[Any, Any] = (-1, 1)

    @classmethod
    def of(cls, X: Any, y: Any, pair: tuple[Any, Any] | None, **given: Any) -> Self:
        """Return the task for the arguments of `refsvm.display.Stepper`.

        Raises
        ------
        ValueError
            If a `DualProblem` is given with further arguments, y contains more than two labels and no pair is given, or
            the data are invalid.
        """
        if isinstance(X, DualProblem):
            refuse_contained({"y": y, "pair": pair, **given, "C": None if given["C"] == 1.0 else given["C"]})
            return cls(X)
        if not is_sparse(X):
            X = np.array(X)
        classes: tuple[Any, Any] = (-1, 1)
        if given["nu"] is not None:
            y = np.ones(X.shape[0])
        elif given["epsilon"] is None:
            X, y, classes = two_classes(X, y, pair)
        task = cls(Instance(X, np.array(y), **given), classes=classes)
        task.problem  # noqa: B018  raises errors now, not later
        return replace(task, ranges=ranges_around(X)) if task.in_plane else task

    @cached_property
    def problem(self) -> DualProblem:
        """The dual problem of the task."""
        return self.instance if isinstance(self.instance, DualProblem) else self.instance.dual()

    @property
    def in_plane(self) -> bool:
        """Whether the examples are drawn, as few dense examples with two features are, except in a regression."""
        instance = self.instance
        if isinstance(instance, DualProblem) or instance.epsilon is not None or is_sparse(instance.X):
            return False
        drawable = np.ndim(instance.X) == 2 and instance.X.shape[1] == 2 and len(instance.X) <= PLANE_UP_TO
        return drawable and not isinstance(instance.kernel, Precomputed)

    @property
    def levels(self) -> tuple[int, ...]:
        """Values of h whose contours are drawn: 0 for the boundary, and the values on the margins of the task."""
        is_novelty = isinstance(self.instance, Instance) and self.instance.nu is not None
        return (0,) if is_novelty else (-1, 0, 1)

    @property
    def X(self) -> np.ndarray:  # noqa: N802  the field's name
        """The examples, shape (n, d)."""
        return self._changeable("X").X

    @property
    def signs(self) -> np.ndarray:
        """−1 or +1 for each variable, shape (n,): its label or, in a regression, the sign that its α may have."""
        return np.where(self.problem.upper > -self.problem.lower, 1.0, -1.0)

    @property
    def C(self) -> float | None:  # noqa: N802
        """The common penalty of all examples; None if it cannot be changed."""
        instance = self.instance
        if isinstance(instance, DualProblem) or instance.nu is not None or np.ndim(instance.C):
            return None
        return float(instance.C)

    @property
    def gamma(self) -> float | None:
        """γ of a kernel that has a single γ; otherwise None."""
        kernel = getattr(self.instance, "kernel", None)
        has_one = is_dataclass(kernel) and "gamma" in {each.name for each in fields(kernel)}
        gamma = kernel.gamma if has_one else None  # type: ignore[union-attr]
        return None if gamma is None or np.ndim(gamma) else float(gamma)

    @cached_property
    def columns(self) -> np.ndarray:
        """Kernel values between all nodes of the grid and all examples, shape (g², n)."""
        return self._column(self.X)

    def _column(self, X: np.ndarray) -> np.ndarray:
        kernel, places = self._changeable("X").kernel, nodes(self._square, NODES)
        return np.asarray(places @ X.T if kernel is None else kernel(places, X))

    def decision_values(self, alpha: np.ndarray, intercept: float) -> np.ndarray:
        """Return h at the nodes of the grid, shape (g²,)."""
        return np.asarray(self.columns @ alpha + intercept)

    # -- changed tasks --------------------------------------------------------------------------------------------

    def with_penalty(self, C: float) -> StepperTask:
        """Return the task with another penalty."""
        if self.C is None:
            raise ValueError(
                "C cannot be changed in novelty detection, or if examples differ in C; give one C."
            )
        return self._with(C=float(C))

    def with_gamma(self, gamma: float) -> StepperTask:
        """Return the task with another γ."""
        if self.gamma is None:
            raise ValueError(
                "gamma cannot be changed, as the kernel has no single gamma; use a kernel such as RBF(0.5)."
            )
        kernel: Any = self._changeable("gamma").kernel
        return self._with(kernel=replace(kernel, gamma=float(gamma)))

    def moved(self, t: int, x: Any) -> StepperTask:
        """Return the task with example t moved to x, inside the square that the picture shows."""
        X, t = self.X.copy(), self._example(t)
        X[t] = self._inside(x)
        task, columns = self._with(X=X), self.columns.copy()
        columns[:, t] = task._column(X[t : t + 1])[:, 0]
        task.__dict__["columns"] = columns
        return task

    def relabelled(self, t: int) -> StepperTask:
        """Return the task with the other label for example t."""
        if self.levels == (0,):
            raise ValueError("Examples of novelty detection have no label that can be changed.")
        y = self._changeable("y").y.copy()
        y[self._example(t)] *= -1.0
        return self._with(y=y)

    def sign_of(self, label: Any) -> float:
        """Return −1 or +1 for a label of the task; raise an error for any other label."""
        if self.levels != (0,) and label not in self.classes:
            one, other = self.classes
            raise ValueError(f"label={label!r} is not a class of this stepper; give {one!r} or {other!r}.")
        return -1.0 if label == self.classes[0] else 1.0

    def with_example(self, x: Any, sign: float = 1.0) -> StepperTask:
        """Return the task with the example x added."""
        instance = self._changeable("X")
        if len(instance.X) >= PLANE_UP_TO:
            raise ValueError(
                f"No example can be added, because at most {PLANE_UP_TO} examples are drawn in the plane."
            )
        if np.ndim(instance.C):
            raise ValueError("Examples cannot be added, because each example has its own C; give a single C.")
        sign = 1.0 if instance.nu is not None else sign
        return self._with(X=np.vstack([self.X, self._inside(x)]), y=np.append(instance.y, sign))

    def start(self, alpha: np.ndarray, before: StepperTask) -> np.ndarray:
        """Scale the previous task's α to the C of this task, and return the nearest feasible α.

        Scaling keeps α/C, and moves a variable from its old bound exactly to its new bound. A new or relabelled example
        starts at 0.
        """
        problem, old = self.problem, before.problem
        present, C, old_C = alpha.copy(), self.C, before.C
        if C is not None and old_C is not None and old_C != C and np.isfinite(C / old_C):
            at_bound = (present == old.upper) | (present == old.lower)
            full = np.where(present > 0.0, problem.upper, problem.lower)
            present = np.where(at_bound & (present != 0.0), full, present * (C / old_C))
        present = np.append(present, np.zeros(problem.n - len(present)))
        return problem.feasible(present)

    def _with(self, **changed: Any) -> StepperTask:
        task = replace(self, instance=replace(self._changeable(*changed), **changed))
        task.problem  # noqa: B018  raises errors now, not later
        return task

    def _changeable(self, name: str = "it", *_: str) -> Instance:
        if isinstance(self.instance, DualProblem):
            raise ValueError(
                f"{name} cannot be changed in a Stepper made of a DualProblem; make the Stepper from X and y."
            )
        return self.instance

    @property
    def _square(self) -> np.ndarray:
        if self.ranges is None:
            raise ValueError(
                "The examples of this Stepper cannot be changed in the plane; give examples with two features."
            )
        return self.ranges

    def _inside(self, x: Any) -> np.ndarray:
        return np.clip(np.asarray(x, dtype=np.float64), *self._square)

    def _example(self, t: int) -> int:
        n = len(self.X)
        if not 0 <= t < n:
            raise ValueError(f"t={t!r} is not an example; give a number from 0 to {n - 1}.")
        return int(t)


def two_classes(X: Any, y: Any, pair: tuple[Any, Any] | None) -> tuple[Any, np.ndarray, tuple[Any, Any]]:
    """Return the examples of two classes, −1 or +1 for each example, and both labels; +1 is the pair's second label.

    Without a pair, the larger label is +1.
    """
    labels = np.asarray(y)
    if pair is None:
        classes, _ = numbered(labels, X.shape[0])
        if len(classes) > 2:
            raise ValueError(
                f"y contains {len(classes)} classes; choose two of them, such as pair={tuple(classes[:2].tolist())}."
            )
        return X, signed(labels, X.shape[0])[1], tuple(classes.tolist())
    first, second = pair
    chosen = (labels == first) | (labels == second)
    if not (labels == first).any() or not (labels == second).any() or first == second:
        raise ValueError(f"pair={pair!r} is not a pair of labels; y contains {np.unique(labels).tolist()}.")
    return X[chosen], np.where(labels[chosen] == second, 1.0, -1.0), (first, second)
