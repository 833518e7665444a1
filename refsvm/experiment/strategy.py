"""Strategy: a measured call on an instance. Call: the strategies that call one function of this package."""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod
from contextlib import AbstractContextManager, nullcontext, suppress
from dataclasses import dataclass, fields, replace
from importlib.util import find_spec
from typing import Any, ClassVar, Final, TypeAlias

import numpy as np

from refsvm.compiled.twins import numba_compiles
from refsvm.core.kernels.functions import RBF
from refsvm.core.result import Status
from refsvm.core.rule import PlainNumbers
from refsvm.experiment.problem import Instance
from refsvm.services.identity import described

Record: TypeAlias = dict[str, Any]
"""The measurements of one run: values by name, as JSON can hold them."""

EIGHT_POINTS: Final = Instance(
    np.arange(8.0)[:, None], np.array([-1.0, 1.0, 1.0, -1.0, 1.0, -1.0, 1.0, -1.0]), RBF(1.0), 1.0
)
"""The instance that is computed before anything is timed."""


@dataclass(frozen=True)
class Strategy(PlainNumbers, ABC):
    """A way to work on an instance, with its measurements.

    A kind of strategy is one file of this folder with one frozen dataclass. `Solve` is the first kind. Others compute
    leave-one-out errors, cross-validate or follow a path. To add one:

    1. Derive from this class, or from `Call` if it calls one function of this package. The fields are the settings:
       rules as objects, numbers, strings. All but the name belong to the identity of a run, so each needs a repr that
       says all that matters.
    2. Write `run`: do the work once on ``instance.X``, ``.y``, ``.kernel`` and ``.C``, and return a record.
    3. Override `warm_up` if the first run in a process would wait for a compiler.
    4. Export the class in ``refsvm/experiment/__init__.py``.

    Experiments, stores, tables and tests take the new kind as they are; strategies of several kinds may stand side by
    side in one experiment.

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
        """Carry out one run and return its record.

        Called once for each problem and order of its examples, also in worker processes. BLAS has one thread meanwhile,
        where threadpoolctl is installed. That makes the seconds of paths and of other libraries those of one core.

        Parameters
        ----------
        instance : Instance

        Returns
        -------
        dict
            Numbers can be tabulated, those of NumPy too; NaN and infinity are stored as null, arrays and tuples as
            lists, and what JSON cannot hold as its representation. An entry by a name that records have for what a run
            is, such as ``problem``, is called ``record.problem`` there. Use the names of `Solve` where the same is
            measured: ``iterations``, ``kernel_rows``, ``seconds``, ``objective``. ``status``, the name of a
            `refsvm.Status`, says how the run ended: ``"INTERRUPTED"`` is never stored, because half the work was done.

        Raises
        ------
        ValueError
            If the settings do not suit the instance.
        """

    def warm_up(self) -> None:
        """Compile the code that `run` needs; called once in each process, before anything is timed."""

    def arguments(self) -> dict[str, Any]:
        """Return the fields but the name."""
        return {field.name: getattr(self, field.name) for field in fields(self) if field.name != "name"}

    def settings(self) -> Record:
        """Return the identity of this strategy: its class, and its fields but the name."""
        own = {name: described(name, value) for name, value in self.arguments().items()}
        return {"strategy": f"{type(self).__module__.partition('.')[0]}: {type(self).__qualname__}", **own}


@dataclass(frozen=True)
class Call(Strategy):
    """One call of a function of this package: the fields but the name are its arguments, by the same names.

    A concrete class has the fields, `engine` among them, and two methods: `call`, and `measured` for what is not stored
    as it is.

    Attributes
    ----------
    copied : tuple of str
        Attributes of the result that are stored unchanged.

    Raises
    ------
    ValueError
        If a field has no lasting description.
    """

    copied: ClassVar[tuple[str, ...]] = ()

    def __post_init__(self) -> None:
        self.settings()

    @abstractmethod
    def call(self, instance: Instance, **arguments: Any) -> Any:
        """Call the function with an instance and the fields; the result has a `refsvm.Status`."""

    def measured(self, result: Any) -> Record:
        """Return the stored numbers of a result."""
        return {name: getattr(result, name) for name in self.copied}

    def computed(self, instance: Instance, **more: Any) -> Any:
        """Return the result of the function; `more` are arguments that make no other strategy, such as a time limit.

        Raises
        ------
        KeyboardInterrupt
            If Ctrl-C ended it, so that half a run is never stored.
        """
        with one_thread():
            result = self.call(instance, **self.arguments(), **more)
        if result.status is Status.INTERRUPTED:
            raise KeyboardInterrupt
        return result

    def run(self, instance: Instance, **more: Any) -> Record:
        """Call the function, and return the metrics."""
        return self.measured(self.computed(instance, **more))

    def warm_up(self) -> None:
        """Call the function with eight points. With engine "auto" that loads the compiled loop, so that `run` has it.

        Otherwise the first runs of a process would be those of the readable loop, and their seconds not comparable.
        """
        # the run that follows gives the same warnings of a rule, and of the problem that is asked for
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            self._warm_up()

    def _warm_up(self) -> None:
        if self.arguments()["engine"] == "auto" and numba_compiles():
            compiled: dict[str, Any] = {"engine": "numba"}
            with suppress(ValueError):  # a rule without a twin is run by the readable loop
                replace(self, **compiled).computed(EIGHT_POINTS)
                return
        self.computed(EIGHT_POINTS)


def one_thread() -> AbstractContextManager[Any]:
    """Hold BLAS to one thread, where threadpoolctl is installed."""
    if find_spec("threadpoolctl") is None:
        return nullcontext()
    from threadpoolctl import threadpool_limits

    return threadpool_limits(limits=1)
