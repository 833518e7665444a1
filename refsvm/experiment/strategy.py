"""Strategy: base class of computations to measure. Call: base class of strategies that call a function."""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod
from contextlib import AbstractContextManager, nullcontext, suppress
from dataclasses import dataclass, fields, replace
from importlib.util import find_spec
from typing import Any, ClassVar, Final, TypeAlias

import numpy as np

from refsvm.compiled.twins import numba_compiles
from refsvm.compiled.warming import prepare_arithmetic
from refsvm.core.backend import Backend
from refsvm.core.engine.limits import Limits
from refsvm.core.kernels.functions import RBF
from refsvm.core.result import Status, Trace
from refsvm.core.rule import PlainNumbers
from refsvm.core.solver.rules import Rules
from refsvm.core.solver.shrinking import Restriction, all_variables
from refsvm.core.state import SolverState
from refsvm.experiment.problem import Instance
from refsvm.services.identity import described

Record: TypeAlias = dict[str, Any]
"""The measurements of one run: values by name that JSON can represent."""

EIGHT_POINTS: Final = Instance(
    np.arange(8.0)[:, None], np.array([-1.0, 1.0, 1.0, -1.0, 1.0, -1.0, 1.0, -1.0]), RBF(1.0), 1.0
)
"""The small instance that `Call.warm_up` computes before anything is timed."""


@dataclass(frozen=True)
class ShrinksAtOnce(Restriction):
    """Shrinking rule that restricts the problem after one step, so that a short solve loads all code of shrinking."""

    def steps(
        self, backend: Backend, limits: Limits[SolverState], state: SolverState, rules: Rules, budget: int,
        trace: Trace | None,
    ) -> int:  # fmt: skip
        """Take a step on all variables, solve the problem of the first six variables, and continue on all variables."""
        calls, solve_on = state.shrinking or 0, (backend, limits, state, rules)
        state.shrinking = calls + 1
        if calls == 1 and state.parent is None:
            return self.solve_restricted(*solve_on, trace, np.arange(6), budget)
        return all_variables(*solve_on, budget if calls else 1, trace)


@dataclass(frozen=True)
class Strategy(PlainNumbers, ABC):
    """Base class of strategies: a strategy works on an instance and returns measurements.

    The strategy `Solve` solves a problem; other kinds of strategies run leave-one-out, cross-validate or
    follow a path. Each kind of strategy is a frozen dataclass in its own file of this folder. To add a kind:

    1. Derive your strategy from `Strategy`, or from `Call` if the strategy calls one function of this package. The
       fields are the settings: rules (objects), numbers, strings. All fields except the name identify a run, so each
       field needs a `repr` that describes it completely.
    2. Write the method `run`, which does the work once on ``instance.X``, ``.y``, ``.kernel`` and ``.C``, and returns a
       record.
    3. Override `warm_up` if the first run in a process would wait for a compiler.
    4. Export the class in ``refsvm/experiment/__init__.py``.

    Experiments, stores, tables and tests need no change, and one experiment may contain strategies of several kinds.

    Parameters
    ----------
    name : str
        Name in the tables.

    Examples
    --------
    A strategy that trains by another library:

    >>> import time
    >>> from dataclasses import dataclass
    >>> from functools import partial
    >>> from refsvm import RBF
    >>> from refsvm.datasets import load
    >>> from refsvm.experiment import Problem, Strategy
    >>> @dataclass(frozen=True)
    ... class ScikitLearn(Strategy):
    ...     tol: float = 1e-3
    ...
    ...     def run(self, instance):
    ...         from sklearn.svm import SVC
    ...
    ...         began = time.perf_counter()
    ...         model = SVC(C=instance.C, kernel=instance.kernel, tol=self.tol).fit(instance.X, instance.y)
    ...         return {
    ...             "iterations": int(model.n_iter_[0]),
    ...             "seconds": time.perf_counter() - began,
    ...             "support_vectors": len(model.support_),
    ...         }
    >>> heart = Problem("heart", partial(load, "heart"), kernel=RBF(0.005), C=1.0).instance()
    >>> ScikitLearn("LIBSVM").run(heart)["support_vectors"]
    158
    """

    name: str

    @abstractmethod
    def run(self, instance: Instance) -> Record:
        """Compute one run and return its record.

        An experiment calls `run` once for each problem and order of its examples, possibly in a worker process. If
        threadpoolctl is installed, BLAS uses one thread during the call, so that all seconds are measured on one core.

        Parameters
        ----------
        instance : Instance
            The problem with its examples in one order.

        Returns
        -------
        dict
            The measurements by name. Tables can show numbers, including NumPy numbers. A store keeps NaN and infinity
            as null, arrays and tuples as lists, and other objects as their `repr`. Use the names of `Solve` for the
            same quantities: ``iterations``, ``kernel_rows``, ``seconds``, ``objective``. ``status``, the name of a
            `refsvm.Status`, says how the run ended; a run with ``"INTERRUPTED"`` is never stored. An entry with a
            reserved name, such as ``problem``, is renamed to ``record.problem``.

        Raises
        ------
        ValueError
            If the settings do not suit the instance.
        """

    def warm_up(self) -> None:
        """Compile the code that `run` needs; an experiment calls `warm_up` once in each process."""

    def arguments(self) -> dict[str, Any]:
        """Return a dict of all fields except the name."""
        return {field.name: getattr(self, field.name) for field in fields(self) if field.name != "name"}

    def settings(self) -> Record:
        """Return a dict that identifies the strategy: its class, and all fields except the name."""
        own = {name: described(name, value) for name, value in self.arguments().items()}
        return {"strategy": f"{type(self).__module__.partition('.')[0]}: {type(self).__qualname__}", **own}


@dataclass(frozen=True)
class Call(Strategy):
    """Base class of strategies that call one function of this package; all fields except the name are its arguments.

    A subclass defines the fields (`engine` among them) and two methods: `call` calls the function, and `measured`
    computes the metrics that are not attributes of the result.

    Attributes
    ----------
    copied : tuple of str
        Attributes of the result that are stored unchanged.

    Raises
    ------
    ValueError
        If a field cannot be identified by value.
    """

    copied: ClassVar[tuple[str, ...]] = ()

    def __post_init__(self) -> None:
        self.settings()

    @abstractmethod
    def call(self, instance: Instance, **arguments: Any) -> Any:
        """Call the function with an instance and the fields; return its result, which must have a `refsvm.Status`."""

    def measured(self, result: Any) -> Record:
        """Return the metrics computed from a result."""
        return {name: getattr(result, name) for name in self.copied}

    def computed(self, instance: Instance, **more: Any) -> Any:
        """Return the result of `call`; `more` are arguments that do not define the strategy, such as a time limit.

        Raises
        ------
        KeyboardInterrupt
            If Ctrl-C ended the call; an incomplete run is never stored.
        """
        with one_thread():
            result = self.call(instance, **self.arguments(), **more)
        if result.status is Status.INTERRUPTED:
            raise KeyboardInterrupt
        return result

    def run(self, instance: Instance, **more: Any) -> Record:
        """Call the function with an instance, and return the metrics."""
        return self.measured(self.computed(instance, **more))

    def warm_up(self) -> None:
        """Call the function with `EIGHT_POINTS`, to load the compiled loop for the engine "auto".

        Without `warm_up`, the first runs of a process would use the readable loop, and their seconds would not be
        comparable.
        """
        # hide warnings about the rules, because the following run issues these warnings again
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            self._warm_up()

    def _warm_up(self) -> None:
        if self.arguments()["engine"] != "numpy" and numba_compiles():
            prepare_arithmetic()
        if self.arguments()["engine"] == "auto" and numba_compiles():
            compiled: dict[str, Any] = {"engine": "numba"}
            with suppress(ValueError):  # rules without compiled code use the readable loop
                replace(self, **compiled).computed(EIGHT_POINTS)
                return
        self.computed(EIGHT_POINTS)


def one_thread() -> AbstractContextManager[Any]:
    """Return a context manager that limits BLAS to one thread, if threadpoolctl is installed."""
    if find_spec("threadpoolctl") is None:
        return nullcontext()
    from threadpoolctl import threadpool_limits

    return threadpool_limits(limits=1)
