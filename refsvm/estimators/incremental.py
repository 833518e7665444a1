"""Incremental: `partial_fit` adds examples, and `forget` removes examples; each call ends at the exact optimum.

The estimator keeps the examples and their kernel matrix. A call changes the bounds of α: the bounds of a new example
are 0 before the call, and the bounds of a removed example are 0 after the call. `refsvm.Solution.continue_to` follows
the optimal α while the bounds move from the old problem to the new problem, so that no model is trained from scratch.
"""

from __future__ import annotations

import math
import warnings
from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import replace
from typing import Any, ClassVar, Final, NamedTuple, Self

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from refsvm.analysis.growing import GrowingMatrix
from refsvm.analysis.multiclass.one_vs_one import convergence_message
from refsvm.analysis.paths.continuing import Reached, continued
from refsvm.core._checks import is_sparse, positions, version
from refsvm.core.kernels import Kernel, Precomputed
from refsvm.core.kernels.blocks import called
from refsvm.core.kernels.gram import Gram
from refsvm.core.kernels.origin import around
from refsvm.core.kernels.precision import decision_noise, noisy
from refsvm.core.kernels.rows import megabytes
from refsvm.core.problem import DualProblem
from refsvm.core.result import Solution
from refsvm.estimators.base import KernelMachine
from refsvm.services.names import in_order, is_precomputed, of_features, parameters_named
from refsvm.services.types import ArrayLike

TOGETHER: Final = 256
"""Number of new examples whose kernel values are computed together."""


class MachineChange(NamedTuple):
    """A dual problem of an estimator, before and after examples are added or removed.

    Attributes
    ----------
    rows : ndarray of shape (m,), int64
        Indices of the problem's examples, ascending.
    start, end : DualProblem
        The problem before and after the change; both have the same kernel matrix.
    alpha : ndarray of shape (m,)
        The coefficients of the problem's examples in h before the change.
    """

    rows: np.ndarray
    start: DualProblem
    end: DualProblem
    alpha: np.ndarray


class Incremental(KernelMachine):
    """Base of the estimators that can add and remove examples after training."""

    held_: dict[str, Any]
    """Copies of examples, weights and kernel matrix, and the solutions and settings of the last call."""

    _settings: ClassVar[tuple[str, ...]]
    """Parameters that the user may change between two calls; the next call applies the new values."""

    def _add(self, X: Any, y: np.ndarray, weights: np.ndarray) -> None:
        """Add X, y to the stored examples and find the new optimum; in the first call, store the examples of `fit`."""
        if hasattr(self, "held_"):
            self._go_on()
            before = self.held_
            try:
                self.held_ = self._held_with(before, X, y, weights)
                after = self.held_["weights"]
                self._walk(np.where(np.arange(len(after)) < len(before["y"]), after, 0.0), after)
            except Exception:  # leave the model unchanged
                self.held_ = before
                raise
        elif is_precomputed(self.kernel_):
            self.held_ = {}  # store no examples, so that the next `partial_fit` raises an error
        else:
            self.__dict__.pop("_kept", None)  # delete copies that `fit` made
            self.held_ = self._held_of(X, y, weights, self._fitted_with())

    def _fitted_with(self) -> dict[str, Any]:
        """Return the settings with which the model was trained; the user may have set other parameters since."""
        return {"named": self._named(), "settings": self._values(), "tol": self.tol}

    def _held_of(
        self,
        X: Any,
        y: np.ndarray,
        weights: np.ndarray,
        settings: dict[str, Any],
        caller: str = "partial_fit",
    ) -> dict[str, Any]:
        """Return the dict `held_`: the examples of a fit, their kernel matrix, and the settings of the fit."""
        nothing = {
            "X": X[:0], "y": y[:0], "weights": weights[:0], "K": GrowingMatrix(np.empty((0, 0)), 0),
            "reached": {}, "origin": self._origin,
        }  # fmt: skip
        return self._held_with(nothing | settings, X, y, weights, caller)

    def _held_with(
        self, held: dict[str, Any], X: Any, y: np.ndarray, weights: np.ndarray, caller: str = "partial_fit"
    ) -> dict[str, Any]:
        """Return a copy of `held` to which new examples and their kernel values are appended."""
        n, m = len(held["y"]), len(y)
        # require the whole matrix in memory, because `continued` may read any kernel row at any event
        if (needed := megabytes(n + m, n + m)) > self.cache_size:
            raise ValueError(
                f"{caller} needs the kernel matrix of all {n + m} examples, {needed:.0f} MiB, which is more than "
                f"cache_size={self.cache_size!r}; raise cache_size{', or use fit' * (caller == 'partial_fit')}."
            )
        every = stacked(held["X"], X)
        kernel, most = self.kernel_, math.sqrt(self.cache_size / megabytes(1, 1))
        together = TOGETHER if isinstance(kernel, Kernel) else m  # a user's kernel is slow: call it rarely
        here, there = (around(held.get("origin"), each) for each in (X, every))
        return {
            **held, "X": every, "y": np.append(held["y"], y), "weights": np.append(held["weights"], weights),
            "K": held["K"].grown(m, lambda some: called(kernel, here[some], there), most, together),
        }  # fmt: skip

    def _gram(self, rows: np.ndarray, held: dict[str, Any] | None = None) -> Gram:
        """Return the part of the stored kernel matrix that belongs to the examples `rows`."""
        K = (self.held_ if held is None else held)["K"].K
        gram = Gram(Precomputed(), K if len(rows) == len(K) else K[np.ix_(rows, rows)], is_checked=True)
        gram.facts = replace(gram.facts, is_psd=bool(getattr(self.kernel_, "is_psd", False)))
        return gram

    def _walk(self, before: np.ndarray, after: np.ndarray) -> None:
        """Follow the optimum while the examples' weights change to `after`; then drop examples of negative weight.

        Settings that the user has changed since the last call move to their new values along the same path.
        """
        remaining = np.flatnonzero(after >= 0.0)
        solutions, places = [], []
        reached: dict[int, tuple[np.ndarray, Reached]] = {}
        with self._line("percent") as shown, self._interruptible():
            for number, machine in enumerate(self._machines(before, after.clip(0.0))):
                alpha, known = variables_of(machine.alpha, machine.start), None
                if number in self.held_["reached"]:
                    rows, known = self.held_["reached"][number]
                    known = renumbered(rows, known, machine.rows)
                solution, end = continued(
                    machine.start, alpha, machine.end, engine=self.engine, cache_mb=np.inf,
                    time_limit=self.time_limit, reached=known, progress=shown, part=(number, self._count()),
                )  # fmt: skip
                solutions.append(solution)
                places.append(machine.rows)
                here = machine.rows[np.isin(machine.rows, remaining)]
                reached[number] = remaining.searchsorted(here), renumbered(machine.rows, end, here)
            # change attributes only now, so that the estimator keeps its examples if `continued` raises an error
            held = {**self.held_, "weights": after, "reached": reached}
            held |= {"settings": self._values(), "tol": self.tol}
            if len(remaining) < len(after):
                held |= {name: held[name][remaining] for name in ("X", "y", "weights")} | {
                    "K": held["K"].without(remaining)
                }
            self.held_ = held
            self._take(solutions, places, remaining)
        self._warn_of_noise(solutions)
        if self.fit_status_:
            warnings.warn(
                convergence_message(solutions, self._stopping_rule), ConvergenceWarning, stacklevel=4
            )

    def _values(self) -> dict[str, Any]:
        """Return the values of the parameters that `_settings` names."""
        return {name: getattr(self, name) for name in self._settings}

    def _named(self) -> dict[str, Any]:
        """Return the parameters of the kernel, and the class weights, in plain types."""
        kernel, weights = self.kernel, {"class_weight": getattr(self, "class_weight", None)}
        if not isinstance(kernel, str):
            return {"kernel": None, **weights}
        named = {name: getattr(self, name) for name in ("kernel", *parameters_named(kernel))}
        if "gamma" in named:
            gamma = in_order(named["gamma"], getattr(self, "feature_names_in_", ()))
            named["gamma"] = of_features(gamma, kernel)
        return named | weights

    def _go_on(self) -> None:
        """Raise an error if training cannot continue: the kernel has changed since the last call, or is precomputed."""
        self._validate_params()
        if is_precomputed(self.kernel_):
            raise ValueError(
                "kernel='precomputed' gives no kernel function for new examples; pass a kernel, or use "
                "DualProblem.extended and Solution.continue_to."
            )
        if self.held_ and "named" not in self.held_:
            raise ValueError(
                f"The estimator was stored by refsvm 0.2.0, and refsvm {version()} cannot continue training from the "
                "examples stored in it; train a new estimator on all examples."
            )
        before, now = self.held_["named"], self._named()
        changed = [name for name in now if before.get(name) != now[name]]
        if "class_weight" not in changed and self._is_same_kernel(changed):
            return
        name = changed[0] if changed else "kernel"
        was = self.kernel_ if name == "kernel" else before.get(name)
        raise ValueError(
            f"{name}={getattr(self, name)!r}, but the stored examples were trained with {name}={was!r}; set it "
            "back, or train a new estimator on all examples."
        )

    def _is_same_kernel(self, changed: list[str]) -> bool:
        """Return whether the parameters still describe the model's kernel; `changed` lists the changed parameters."""
        # for "scale" and "auto", keep the γ that was computed from the first examples
        if isinstance(self._named().get("gamma"), str):
            return not changed
        kernel = self._kernel(None, self.gamma)
        return kernel is self.kernel_ or bool(kernel == self.kernel_)

    def forget(self, indices: ArrayLike) -> Self:
        """Remove examples; afterwards the model is the optimum for the remaining examples.

        After the call, the dictionary ``receipt_`` holds the numbers of examples that were "forgotten" and are "left",
        and the "kkt_gap" of the model, computed from the remaining examples.

        Parameters
        ----------
        indices : int or array-like of int, or array-like of bool of shape (n,)
            Positions of the examples to remove, in the order in which the examples were added; or a mask that is true
            for the examples to remove. Examples after a removed example move to lower positions.

        Returns
        -------
        object
            The estimator itself.

        Raises
        ------
        ValueError
            If the estimator does not store its examples (only `partial_fit`, and `fit` of `SVR`, store them), a
            position is out of range, a class would lose all examples, or the kernel has changed since the training.

        Notes
        -----
        The features, target, weight, kernel values and α of a removed example are deleted from the model. For
        ``gamma="scale"`` and ``class_weight="balanced"``, the model keeps the values computed from the first examples,
        which may include removed examples; give numbers to avoid this.
        """
        self._hold_kept()
        if not hasattr(self, "held_"):
            raise ValueError(
                "forget needs the training examples, but fit does not keep them; train with partial_fit from the "
                "start."
            )
        self._go_on()
        before = self.held_["weights"]
        after = before.copy()
        gone = np.atleast_1d(np.asarray(indices))
        if gone.dtype.kind == "b" and len(gone) == len(before):
            gone = np.flatnonzero(gone)
        after[positions("indices", gone, len(before))] = -1.0
        self._refuse_empty(after)
        self._walk(before, after)
        left = len(self.held_["weights"])
        self.receipt_ = {"forgotten": len(before) - left, "left": left, "kkt_gap": self._gap_anew()}
        return self

    def _gap_anew(self) -> float:
        """Return the largest KKT gap of all dual problems, with gradients computed again."""
        weights, gaps = self.held_["weights"], [0.0]
        for machine in self._machines(weights, weights):
            alpha, problem = variables_of(machine.alpha, machine.end), machine.end
            gaps.append(problem.kkt_gap(alpha, problem.gradient(alpha)))
        return max(gaps)

    def _hold_kept(self) -> None:
        """Put the examples of the last `fit` into `held_`, if the estimator kept them."""

    def _begins(self) -> bool:
        """Return whether this is the first call of `partial_fit`."""
        if hasattr(self, "held_"):
            return False
        if hasattr(self, "dual_coef_"):
            why = "cannot be continued" if hasattr(self, "_kept") else "keeps support vectors only"
            warnings.warn(
                f"partial_fit drops the fitted model, because fit {why}; pass all examples to partial_fit.",
                stacklevel=3,
            )
        return True

    def _warn_of_noise(self, solutions: list[Solution]) -> None:
        """Warn if rounding errors of the stored kernel matrix move decision values by more than the tolerance."""
        gram = Gram(self.kernel_, self.held_["X"], origin=self.held_.get("origin"), may_move=False)
        for solution in solutions:
            tolerance = self._stopping_rule.tolerance * min(1.0, solution.decision_range)
            noise = decision_noise(gram, solution.alpha, solution.problem.gram.diagonal(), tolerance)
            if noise > 0.0:
                warnings.warn(noisy(noise, tolerance), stacklevel=5)
                break

    def _count(self) -> int:
        """Return the number of dual problems."""
        return 1

    @abstractmethod
    def _machines(self, before: np.ndarray, after: np.ndarray) -> Iterator[MachineChange]:
        """Yield each dual problem before and after the change of weights.

        The problems before the change have the settings of the last call.
        """

    @abstractmethod
    def _take(self, solutions: list[Solution], places: list[np.ndarray], remaining: np.ndarray) -> None:
        """Set the fitted attributes; `places` lists the examples of each solution, `remaining` the examples to keep."""

    @abstractmethod
    def _refuse_empty(self, weights: np.ndarray) -> None:
        """Raise an error if too few examples have positive weight; a negative weight marks an example to remove."""


def variables_of(alpha: np.ndarray, problem: DualProblem) -> np.ndarray:
    """Return α of a problem's variables from the coefficients of its examples."""
    is_regression = problem.n == 2 * len(alpha)  # an example of a regression has two variables
    return np.concatenate([alpha.clip(0.0), -(-alpha).clip(0.0)]) if is_regression else alpha


def renumbered(rows: np.ndarray, reached: Reached, others: np.ndarray) -> Reached:
    """Convert a solution that was found on the examples `rows` to a start for training on the examples `others`.

    `rows` and `others` are example numbers in ascending order.
    """
    place = others.searchsorted(rows)
    place[~np.isin(rows, others)] = -1
    copies = len(reached.gradient) // len(rows)
    places = [np.where(place >= 0, place + k * len(others), -1) for k in range(copies)]
    return reached.placed(np.concatenate(places), copies * len(others))


def stacked(X: Any, Z: Any) -> Any:
    """Return a copy of X with the rows of Z appended."""
    if is_sparse(X) or is_sparse(Z):
        from scipy.sparse import csr_array, vstack

        return csr_array(vstack([X, Z]))
    return np.concatenate([X, Z])
