"""One decision of a rule at a state that a test has put together, by the readable rule and by its twin in the loop.

Both sides may share a mistake, so what is right is worked out by hand or by trying everything. A vector K is the
diagonal of a matrix: qᵢⱼ = kᵢ + kⱼ.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from refsvm import DualProblem, NewtonStep, Precomputed, StepRule, StoppingRule, WorkingSetSelector
from refsvm.core.kernels import Gram
from refsvm.core.solver.rules import Rules, row_store
from refsvm.core.state import SolverState

from .settings import NUMBA


@dataclass(frozen=True)
class Never(StoppingRule):
    """It never stops."""

    def check(self, state):
        return 0

    def twin(self):
        return never if NUMBA else None


@dataclass(frozen=True)
class Given(WorkingSetSelector):
    """Always the same pair."""

    i: int = 0
    j: int = 1

    def select(self, state):
        return self.i, self.j

    def twin(self):
        return given if NUMBA else None


if NUMBA:
    from refsvm.compiled.backend import CompiledBackend
    from refsvm.compiled.interface.layout import CHECK, SELECT
    from refsvm.compiled.interface.twin import twin

    @twin(CHECK)
    def never(parameters, state):
        return 0

    @twin(SELECT)
    def given(parameters, state):
        return int(parameters[0]), int(parameters[1])


def state_of(
    rules: Rules,
    K: Any,
    gradient: Sequence[float],
    alpha: Any = 0.0,
    lower: Any = -1.0,
    upper: Any = 1.0,
    **known: Any,
) -> SolverState:
    """A state with this G at this α, in this box, with these numbers and arrays of `SolverState`."""
    K, G = np.asarray(K, dtype=float), np.asarray(gradient, dtype=float)
    K = np.diag(K) if K.ndim == 1 else K
    alpha, lower, upper = (
        np.array(np.broadcast_to(value, G.shape), dtype=float) for value in (alpha, lower, upper)
    )
    v = G + K @ alpha
    problem = DualProblem(Gram(Precomputed(), K), v, float(alpha.sum()), lower, upper)
    state = rules.begin(problem, alpha, row_store(problem, rules, 200.0), gradient=G)
    for name, value in known.items():
        present = getattr(state, name)
        if isinstance(present, np.ndarray):
            present[: len(value)] = value
        else:
            setattr(state, name, value)
    return state


def pair(engine: str, selector: WorkingSetSelector, *problem: Any, **known: Any) -> tuple[int, int]:
    """The pair that is selected; (−1, −1) if there is none."""
    step = known.pop("step", NewtonStep())
    rules = Rules(selector, step, Never())
    state = state_of(rules, *problem, **known)
    if engine == "numpy":
        i, j = selector.select(state)
        return i, j
    outcome = CompiledBackend().steps(state, rules, 1)
    i, j = state.working_sets[0].tolist()
    return (-1, -1) if outcome == -1 else (i, j)


def length(engine: str, step: StepRule, i: int, j: int, *problem: Any, **known: Any) -> Any:
    """μ, or (μ, κ), and the candidates that the step leaves."""
    rules = Rules(Given(i, j), step, Never())
    state = state_of(rules, *problem, **known)
    if engine == "numpy":
        state.measure(i, j)
        return step.length(state, i, j), state.candidates[: state.n_candidates].tolist()
    CompiledBackend().steps(state, rules, 1)
    mu = (state.last_step, state.last_carry) if step.uses_momentum else state.last_step
    return mu, state.candidates[: state.n_candidates].tolist()
