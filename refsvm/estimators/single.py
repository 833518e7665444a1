"""Base of `SVR` and `OneClassSVM`, which solve one dual problem and have one decision function."""

from __future__ import annotations

import warnings
from abc import abstractmethod
from collections.abc import Iterator
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from refsvm.analysis.multiclass.one_vs_one import convergence_message
from refsvm.core.kernels.checked import gram_of_rows
from refsvm.core.problem import DualProblem
from refsvm.core.result import Solution, Status
from refsvm.core.solver.run import solved
from refsvm.estimators.incremental import Incremental, MachineChange
from refsvm.estimators.validation import LARGEST_WEIGHT, checked_weights
from refsvm.services.names import is_precomputed, is_user_kernel


class SingleMachine(Incremental):
    """Base of the estimators with a single decision function h(x) = Σ βᵢ k(x, xᵢ) + b."""

    _largest_weight: ClassVar[float] = LARGEST_WEIGHT

    @abstractmethod
    def _checked_examples(self, X: Any, y: Any, kernel: Any, *, reset: bool) -> tuple[Any, np.ndarray]:
        """Return checked examples and targets; return zeros as targets if the estimator takes no targets."""

    @abstractmethod
    def _problem(
        self, gram: Any, y: np.ndarray, weights: np.ndarray, settings: dict[str, Any]
    ) -> DualProblem:
        """Return the dual problem for examples with the targets y and the weights."""

    def _train(self, X: Any, y: Any, sample_weight: Any) -> Self:
        """Train on the examples with positive weight."""
        self._validate_params()
        X, y = self._checked_examples(X, y, self.kernel, reset=True)
        weights = checked_weights(sample_weight, X, most=self._largest_weight)
        rows, every = np.arange(len(y)) if weights is None else np.flatnonzero(weights > 0.0), weights
        weights = None if weights is None else weights[rows]
        kernel = self._kernel(X[rows] if len(rows) < len(y) else X, self.gamma, weights)
        known, data, computed = self._by_number(kernel, X) if is_user_kernel(kernel) else (kernel, X, 0)
        with self._line() as shown, self._interruptible():
            factors = np.ones(len(rows)) if weights is None else weights
            problem = self._problem(gram_of_rows(known, data, rows), y[rows], factors, self._values())
            start = self._start(problem, len(y), rows) if self.warm_start else None
            solution = solved(problem, self._run_options(shown), start)
            if shown:
                shown.end(solution.status.value, solution.kkt_gap, solution.iterations)
            self.kernel_ = kernel
            self._store(solution, X.copy() if is_user_kernel(kernel) else X, rows, computed)
            self._keep(X, y, np.ones(len(y)) if every is None else every)
        if self.fit_status_:
            warnings.warn(
                convergence_message([solution], self._stopping_rule), ConvergenceWarning, stacklevel=3
            )
        return self

    def _keep(self, X: Any, y: np.ndarray, weights: np.ndarray) -> None:
        """Keep the examples of a fit for methods that need them later, such as `predict_interval` of `SVR`."""

    def _machines(self, before: np.ndarray, after: np.ndarray) -> Iterator[MachineChange]:
        """Yield the `MachineChange` of the estimator's only dual problem."""
        rows = np.arange(len(after))
        gram, alpha = self._gram(rows), np.zeros(len(rows))
        alpha[: len(self.alpha_)] = self.alpha_
        turns = (before, self.held_["settings"]), (after, self._values())
        start, end = (self._problem(gram, self.held_["y"], *each) for each in turns)
        yield MachineChange(rows, start, end, alpha)

    def _take(self, solutions: list[Solution], places: list[np.ndarray], remaining: np.ndarray) -> None:
        """Set the fitted attributes for the remaining examples."""
        alpha = solutions[0].alpha.reshape(-1, len(places[0]))[:, remaining].ravel()
        self._store(solutions[0], self.held_["X"], np.arange(len(remaining)), len(remaining), alpha)

    def _refuse_empty(self, weights: np.ndarray) -> None:
        """Raise an error unless an example with positive weight remains."""
        if not (weights > 0.0).any():
            raise ValueError("forget would remove all examples with a positive weight; keep at least one.")

    def _partial(self, X: Any, y: Any, sample_weight: Any, *, begins: bool) -> Self:
        """In the first call, train with `fit` and store the examples; in later calls, follow the optimum."""
        if begins:
            self.fit(X, y, sample_weight)
        X, y = self._checked_examples(X, y, self.kernel_, reset=False)
        weights = checked_weights(sample_weight, X, all_zero=True, most=self._largest_weight)
        self._add(X, y, np.ones(len(y)) if weights is None else weights)
        return self

    def _start(self, problem: DualProblem, n: int, rows: np.ndarray) -> np.ndarray | None:
        """Return a feasible α close to the α of the last fit; None before the first fit, or if n has changed."""
        if not hasattr(self, "alpha_"):
            return None
        if len(self.alpha_) != n:
            warnings.warn(
                f"warm_start=True, but the last fit had {len(self.alpha_)} examples and this fit has {n}, "
                "so this fit starts from zero.",
                stacklevel=4,
            )
            return None
        # start both variables of an example at its coefficient; `feasible` moves the infeasible variable to 0
        return problem.feasible(np.tile(self.alpha_[rows], problem.n // len(rows)))

    def _store(
        self, solution: Solution, X: Any, rows: np.ndarray, computed: int, chosen: np.ndarray | None = None
    ) -> None:
        """Set the fitted attributes; the examples `rows` get α from `chosen` or, by default, from the solution."""
        alpha = np.zeros(X.shape[0])
        variables = solution.alpha if chosen is None else chosen
        alpha[rows] = variables.reshape(-1, len(rows)).sum(axis=0)
        self.alpha_, self.shape_fit_ = alpha, X.shape
        self.support_ = np.flatnonzero(alpha).astype(np.int32)
        self.n_support_ = np.array([len(self.support_)], dtype=np.int32)
        self.support_vectors_ = np.empty((0, 0)) if is_precomputed(self.kernel_) else X[self.support_]
        self._examples = X if is_user_kernel(self.kernel_) else None  # keep X, which is already a copy
        self.dual_coef_ = alpha[self.support_][None]
        there = solution.in_solver_coordinates()
        origin = there.problem.gram.origin if chosen is None else self.held_.get("origin")
        self._set_intercepts([self._intercept(there)], origin)
        self.n_iter_ = max(1, solution.iterations)
        self.n_kernel_rows_ = computed + solution.kernel_rows
        self.dual_objective_, self.primal_objective_ = solution.objective, solution.primal_objective
        self.duality_gap_, self.kkt_gap_ = solution.duality_gap, solution.kkt_gap
        self.status_ = solution.status
        self.fit_status_ = int(self.status_ is not Status.CONVERGED)

    def _intercept(self, solution: Solution) -> float:
        """Return b for this solution."""
        return solution.intercept
