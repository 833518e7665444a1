"""Task: the kind of task that leave-one-out and cross-validation solve, and the machines that the task needs.

==============  ==========================  ====================================  ===============================
task            requested by                variables of an example               machines
==============  ==========================  ====================================  ===============================
classification  labels                      one for each pair with its class      one for each pair of classes
regression      ``epsilon=``                two, which are left out together      one
novelty         ``nu=``                     one, whose weight determines z        one for each sum of the weights
==============  ==========================  ====================================  ===============================

If X is a `DualProblem`, its constructor (`classification`, `regression` or `one_class`) determines the kind of task.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from refsvm.analysis.resampling.weights import weights_in
from refsvm.analysis.scheme import OneVsOne, problems_of_pairs
from refsvm.analysis.units import relative_gap, unit_of_targets
from refsvm.core import arithmetic
from refsvm.core._checks import penalties, targets
from refsvm.core.formulations import epsilon_of, nu_of
from refsvm.core.kernels.checked import matrix_given
from refsvm.core.kernels.gram import dense_gram
from refsvm.core.kernels.matrix import KernelMatrix, View
from refsvm.core.kernels.rows import megabytes
from refsvm.core.problem import DualProblem
from refsvm.core.result import Solution
from refsvm.core.rounds.machine import CLASSIFICATION, COPIES, NOVELTY, REGRESSION, Machine
from refsvm.core.stopping.kkt_gap import KKTGap
from refsvm.services.labels import numbered, refuse_contained


class LeftOutMachine(NamedTuple):
    """A machine, and the examples that leave-one-out predicts with it.

    Attributes
    ----------
    machine : Machine
    examples : ndarray of shape (m,), int64
        Examples that the machine trains on, ascending.
    asked : list of int or None
        Positions in `examples` of the examples to predict; None to predict all examples.
    gram : KernelMatrix
        The kernel matrix of all examples.
    """

    machine: Machine
    examples: np.ndarray
    asked: list[int] | None
    gram: KernelMatrix

    @property
    def others(self) -> np.ndarray:
        """The examples whose class is not in the machine's pair, ascending."""
        n = self.gram.n
        return (
            np.delete(np.arange(n), self.examples) if len(self.examples) < n else np.zeros(0, dtype=np.int64)
        )

    def values_of_others(self, full: Solution) -> np.ndarray:
        """Return h at the examples of other classes; `full` is the machine's solution for the data as given."""
        support = np.flatnonzero(full.alpha)
        values = self.gram.block(self.examples[support], self.others)
        return arithmetic.product(full.alpha[None, support], values)[0] + full.intercept


@dataclass(frozen=True, eq=False)
class Task:
    """A learning task on n examples.

    Parameters
    ----------
    kind : {"classification", "regression", "novelty"}
        The kind of task.
    gram : KernelMatrix
        The kernel matrix of the examples.
    labels : ndarray of shape (n,)
        Labels or targets; 1 for each example of novelty detection.
    C : ndarray of shape (n,), float64
        Penalty of each example, which is proportional to its weight in the scores.
    problem : DualProblem or None
        The problem of a regression or of novelty detection.
    classes, codes : ndarrays of shape (k,) and (n,)
        Names of the classes, and class number of each example; without classes, `classes` is empty and `codes` are 0.
    rows_computed : int
        Number of kernel rows computed for all machines.
    name : str
        Name of the kernel, if `gram` contains only kernel values.
    """

    kind: str
    gram: KernelMatrix
    labels: np.ndarray
    C: np.ndarray
    problem: DualProblem | None
    classes: np.ndarray
    codes: np.ndarray
    rows_computed: int = 0
    name: str = ""

    @property
    def scheme(self) -> OneVsOne:
        """The pairs of classes and their votes; for tasks without classes, an empty scheme."""
        return OneVsOne(len(self.classes))

    @property
    def pairs(self) -> list[tuple[int, int]]:
        """The two class numbers of each machine; (0, 0) without classes."""
        return self.scheme.pairs or [(0, 0)]

    @property
    def weights(self) -> np.ndarray | None:
        """Weight of each example in a score, shape (n,); None if all weights are equal."""
        return weights_in(self.C)

    def gap(self, tol: float = 1e-3) -> KKTGap:
        """Return the rule that stops at the KKT gap `tol`, in units of the targets (`refsvm.analysis.units`)."""
        return relative_gap(tol, self.unit)

    @property
    def unit(self) -> float | None:
        """The unit of a regression's targets, `unit_of_targets`; None for other tasks."""
        return unit_of_targets(self.labels, self.weights) if self.kind == REGRESSION else None

    @property
    def machine(self) -> str:
        """The text that results show for the machine: the kernel with C, with C and ε, or with ν."""
        low, high = float(self.C.min()), float(self.C.max())
        C = f"{high:.6g}" if low == high else f"{low:.6g} to {high:.6g}"
        name = self.name or self.gram.kernel_name
        if self.problem is None:
            return f"{name}, C={C}"
        if self.kind == NOVELTY:
            return f"{name}, nu={nu_of(self.problem):.6g}"
        return f"{name}, C={C}, epsilon={epsilon_of(self.problem, len(self.labels)):.6g}"

    def on(self, gram: KernelMatrix) -> Task:
        """Return the task with another kernel matrix of its examples."""
        if gram is self.gram:
            return self
        problem = self.problem
        if problem is not None:
            problem = problem.with_gram(gram if self.kind == NOVELTY else View(gram, problem.gram.indices))
        return replace(self, gram=gram, problem=problem, name=self.name or self.gram.kernel_name)

    @property
    def has_one_machine(self) -> bool:
        """Whether a single machine predicts all examples."""
        return len(self.classes) == 2 or self.kind == REGRESSION

    def with_shared_matrix(self, cache_mb: float, single: bool = False) -> Task:
        """Return the task with the kernel matrix from `shared_gram`, which several machines share."""
        gram = shared_gram(self.gram, cache_mb, single, self.kind != NOVELTY)
        computed = self.gram.n if self.gram.dense is None and gram.dense is not None else 0
        return replace(self.on(gram), rows_computed=computed)

    def parts(self) -> Iterator[LeftOutMachine]:
        """Yield the machines that leave-one-out trains; in novelty detection, first a machine on all examples."""
        n, every = self.gram.n, np.arange(self.gram.n)
        if len(self.classes) > 2:
            for pair in self.pairs:
                examples = np.flatnonzero(np.isin(self.codes, pair))
                labels = self.scheme.labels(self.codes[examples], pair)
                problem = DualProblem._of_labels(self.gram.restrict(examples), labels, self.C[examples])
                yield LeftOutMachine(Machine(problem, pair, 1), examples, None, self.gram)
            return
        machine = next(self.machines())
        if self.kind != NOVELTY:
            yield LeftOutMachine(machine, every, None, self.gram)
            return
        yield LeftOutMachine(machine, every, [], self.gram)
        for family, places in self.families(machine, [*every.reshape(n, 1)]):
            yield LeftOutMachine(family, every, places, self.gram)

    def machines(self) -> Iterator[Machine]:
        """Yield the machines over all n examples; examples of other classes have L = U = 0."""
        problems: Any = [self.problem]
        if self.problem is None:
            problems = problems_of_pairs(self.gram, self.codes, self.C)
        for problem, pair in zip(problems, self.pairs, strict=True):
            yield Machine(problem, pair, COPIES[self.kind])

    def families(
        self, machine: Machine, held_out: Sequence[np.ndarray]
    ) -> Iterator[tuple[Machine, list[int]]]:
        """Yield a machine for each value of z = Σα, and the positions in `held_out` of the rounds with this z.

        In novelty detection z = ν Σ wᵢ over the examples that are not held out, so each sum of weights needs its own
        machine.
        """
        if self.kind != NOVELTY:
            yield machine, [*range(len(held_out))]
            return
        whole, places = math.fsum(self.C), dict[float, list[int]]()
        for place, examples in enumerate(held_out):
            places.setdefault(whole - math.fsum(self.C[examples]), []).append(place)
        problem = machine.problem
        share = min(problem.z / float(problem.upper.sum()), 1.0)
        for rest, some in places.items():
            # limit z to the sum of the upper bounds, which z may exceed by a rounding error
            z = share * min(rest, *(float(np.delete(self.C, held_out[place]).sum()) for place in some))
            family = DualProblem(problem.gram, problem.v, z, problem.lower, problem.upper)
            yield machine._replace(problem=family), some

    def predicted(self, values: np.ndarray, known: np.ndarray) -> np.ndarray:
        """Return the predictions from `values`, the decision values of all machines, shape (n, machines).

        An example outside the mask `known` gets its own label; in regression, it gets NaN.
        """
        if self.kind == CLASSIFICATION:
            # an example with h = 0 gets the same class as in `refsvm.SVC`
            return np.asarray(self.classes[np.where(known, self.scheme.votes(values), self.codes)])
        values = np.where(known, values[:, 0], np.nan)
        return values if self.kind == REGRESSION else np.where(values >= 0.0, 1, -1)


def shared_gram(
    gram: KernelMatrix, cache_mb: float, single: bool = False, is_balanced: bool = True
) -> KernelMatrix:
    """Return the kernel matrix as an array, computed in one product; return `gram` if the budget is too small.

    All rounds and threads can read the array. If Σα = 0 (`is_balanced`), the data are first shifted by their mean when
    this shift makes the kernel values more precise. For a regression the matrix has one row for each example, not for
    each variable.
    """
    if gram.repeats:
        examples = shared_gram(gram.source, cache_mb, single, is_balanced)
        return gram if examples is gram.source else View(examples, gram.indices)
    dtype = np.float32 if single else np.float64
    if gram.dense is not None or megabytes(gram.n, gram.n, dtype) > cache_mb:
        return gram
    return dense_gram(gram.centred if is_balanced else gram, dtype)


def task_given(
    X: Any, y: Any, kernel: Any, gram: Any, C: Any = 1.0, *, epsilon: Any = None, nu: Any = None
) -> Task:
    """Return the task that the arguments of a public function describe; X may be a `DualProblem`.

    Raises
    ------
    ValueError
        If a `refsvm.DualProblem` constructor refuses the arguments, the arguments contradict each other, or a given
        problem is of an unknown kind.

    Examples
    --------
    >>> import numpy as np
    >>> from refsvm.analysis.resampling.task import task_given
    >>> X = np.array([[0.0], [1.0], [2.0]])
    >>> task_given(X, [0.5, 1.0, 2.5], None, None, epsilon=0.1).kind, task_given(X, None, None, None, nu=0.5).kind
    ('regression', 'novelty')
    """
    if isinstance(X, DualProblem):
        return _task_of(X, {"y": y, "kernel": kernel, "gram": gram, "epsilon": epsilon, "nu": nu}, C)
    if epsilon is not None and nu is not None:
        raise ValueError("epsilon is for regression and nu is for novelty detection; give one of them.")
    K = matrix_given(X, kernel, gram)
    if epsilon is not None:
        problem = DualProblem.regression(y=y, gram=K, C=C, epsilon=epsilon)
        return replace(_of_one(problem, REGRESSION), labels=targets(y, K.n))
    if nu is not None:
        return _novelty(K, y, nu, penalties(C, K.n))
    classes, codes = numbered(y, K.n)
    return Task(CLASSIFICATION, K, classes[codes], penalties(C, K.n), None, classes, codes)


def _novelty(K: KernelMatrix, y: Any, nu: Any, weights: np.ndarray) -> Task:
    """Return the task of novelty detection for the arguments; raise an error if y was given."""
    if y is not None:
        raise ValueError("nu makes the task novelty detection, which has no labels; omit y or nu.")
    return _of_one(DualProblem.one_class(gram=K, nu=nu, weights=weights), NOVELTY)


def unit_of_problem(problem: DualProblem) -> float | None:
    """Return the unit of a regression's targets; None for other problems."""
    return _of_one(problem, REGRESSION).unit if _is_regression(problem) else None


def _of_one(problem: DualProblem, kind: str) -> Task:
    """Return the task of a `DualProblem` of regression or novelty detection."""
    n = problem.n // COPIES[kind]
    gram = problem.gram.source if kind == REGRESSION else problem.gram
    labels = 0.5 * (problem.v[:n] + problem.v[n:]) if kind == REGRESSION else np.ones(n, dtype=np.int64)
    C, nothing = problem.upper[:n], np.zeros(n, dtype=np.int64)
    return Task(kind, gram, labels, C, problem, nothing[:0], nothing)


def _task_of(problem: DualProblem, others: dict[str, Any], C: Any) -> Task:
    """Return the task for a problem given as X; raise an error if an argument repeats what the problem contains."""
    refuse_contained({**others, "C": None if np.all(C == 1.0) else C})
    if problem.has_labels:
        classes, codes = np.array([-1, 1]), (problem.v > 0.0).astype(np.int64)
        C = problem.upper - problem.lower
        return Task(CLASSIFICATION, problem.gram, problem.v.astype(np.int64), C, None, classes, codes)
    for kind, is_so in ((REGRESSION, _is_regression), (NOVELTY, is_novelty)):
        if is_so(problem):
            return _of_one(problem, kind)
    raise ValueError(
        "X is a DualProblem of an unknown kind, so the variables of an example are unknown; make it "
        "with DualProblem.classification, regression or one_class."
    )


def _is_regression(problem: DualProblem) -> bool:
    """Return whether a problem has two variables for each example, in order, with vᵢ ≤ vₙ₊ᵢ and equal penalties."""
    n, v = problem.n // 2, problem.v
    return (
        has_two_variables(problem)
        and np.array_equal(problem.gram.indices[:n], np.arange(n))
        and bool((v[:n] <= v[n:]).all())
        and np.array_equal(problem.upper[:n], -problem.lower[n:])
    )


def has_two_variables(problem: DualProblem) -> bool:
    """Return whether each example has two variables as in a regression: 0 ≤ αᵢ ≤ C, −C ≤ αₙ₊ᵢ ≤ 0, and z = 0."""
    n, gram = problem.n // 2, problem.gram
    return bool(
        problem.z == 0.0
        and problem.n == 2 * n
        and gram.repeats
        and (gram.indices[:n] == gram.indices[n:]).all()
        and not (problem.lower[:n].any() or problem.upper[n:].any())
    )


def is_novelty(problem: DualProblem) -> bool:
    """Return whether v = 0, L = 0 and z > 0, as in novelty detection."""
    return not (problem.v.any() or problem.lower.any()) and problem.z > 0.0
