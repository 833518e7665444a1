"""Makes cards, which show the results of `refsvm.core` as tables of numbers."""

from __future__ import annotations

import numpy as np

from refsvm.core.kernels.matrix import KernelMatrix
from refsvm.core.paths.tracked import TrackedPath
from refsvm.core.problem import DualProblem
from refsvm.core.result import Solution, Status, Trace
from refsvm.core.rounds.rounds import Rounds
from refsvm.core.state import SolverState
from refsvm.services.summary import CARDS, Card, Parts, Table, counted, ended


def of_matrix(matrix: KernelMatrix) -> Card:
    """Summarise a kernel matrix on a card."""
    pairs = {"rows and columns": f"{matrix.n:,}", "values": matrix.kernel_name}
    held = "held in memory" if matrix.dense is not None else "evaluated in blocks"
    return Card(matrix._line(), sentence=held, pairs=pairs)


def of_problem(problem: DualProblem) -> Card:
    """Summarise a problem on a card."""
    kind, what, kernel, C = problem._description()
    n = problem.n // 2 if kind == "regression" else problem.n
    pairs = {
        "examples": f"{n:,}", "kernel": kernel, "C": C, "Σα": f"{problem.z:.6g}", "next": "solve(problem)",
    }  # fmt: skip
    sentence = what if what.startswith(kind.split()[0]) else f"{kind}: {what}"
    return Card(problem._line(), sentence=sentence, pairs=pairs)


def of_state(state: SolverState) -> Card:
    """Summarise a solver's state on a card."""
    pairs = {
        "steps": f"{state.iteration:,}", "objective": f"{state.objective:.6f}", "KKT gap": f"{state.gap:.2e}",
        "variables": f"{len(state.alpha):,}", "nonzero variables": f"{np.count_nonzero(state.alpha):,}",
    }  # fmt: skip
    return Card(state._line(), pairs=pairs)


def of_trace(trace: Trace) -> Card:
    """Show the first steps of a trace on a card."""
    rows = trace.rows
    columns = ("iteration", "i", "j", "step", "objective", "gap")
    first = [tuple(f"{row[name]:.6g}" for name in columns) for row in rows[:5]]
    more = "the first five; to_frame() returns all" if len(rows) > 5 else "to_frame() returns all columns"
    return Card(
        trace._line(), sentence=f"{counted(len(rows), 'step')}, {more}", tables=(Table(columns, first),)
    )


def of_solution(solution: Solution) -> Card:
    """Summarise a solution on a card."""
    a, problem = np.abs(solution.alpha), solution.problem
    support = int(np.count_nonzero(a))
    is_at_bound = (solution.alpha <= problem.lower) | (solution.alpha >= problem.upper)
    at_bound = int(is_at_bound[a > 0.0].sum())
    pairs = {
        "dual objective": f"{solution.objective:.6f}", "primal objective": f"{solution.primal_objective:.6f}",
        "duality gap": f"{solution.duality_gap:.2e}", "KKT gap": f"{solution.kkt_gap:.2e}",
        "intercept": f"{solution.intercept:.6f}", "steps": f"{solution.iterations:,}",
        "kernel rows": f"{solution.kernel_rows:,}", "support vectors": f"{support:,}",
        "seconds": f"{solution.seconds:.3f}", "engine": solution.engine,
    }  # fmt: skip
    parts = {"at 0": problem.n - support, "free": support - at_bound, "at its bound": at_bound}
    return Card(
        solution._line(), sentence=solution.reason, is_partial=solution.status is not Status.CONVERGED,
        pairs=pairs, parts=Parts("α", "variables", parts, problem.n),
    )  # fmt: skip


def of_rounds(rounds: Rounds) -> Card:
    """Summarise a `Rounds` object, which solves many related problems, on a card."""
    pairs = {
        "variables": f"{rounds.problem.n:,}", "kernel": rounds.problem.gram.kernel_name,
        "solutions kept": f"{len(rounds.solutions)}", "kernel rows": f"{rounds.rows.computed:,}",
        "status": rounds.status.name,
    }  # fmt: skip
    return Card(rounds._line(), pairs=pairs)


def of_path(path: TrackedPath) -> Card:
    """Summarise a path of solutions on a card."""
    elbow = path.record.elbow
    pairs = {
        "breakpoints": f"{len(path.record.t):,}", "events": f"{len(path.events):,}",
        "most free variables": f"{elbow.max() if len(elbow) else 0}", "variables": f"{path.along.start.n:,}",
        "seconds": f"{path.seconds:.3f}", "tracker": path.tracker.partition("(")[0],
    }  # fmt: skip
    is_partial = path.status is not Status.CONVERGED
    return Card(path._line(), sentence=ended(path._span(), path.status), is_partial=is_partial, pairs=pairs)


CARDS.update({
    KernelMatrix: of_matrix, DualProblem: of_problem, SolverState: of_state, Trace: of_trace,
    Solution: of_solution, Rounds: of_rounds, TrackedPath: of_path,
})  # fmt: skip
