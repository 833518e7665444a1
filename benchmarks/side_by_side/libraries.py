"""The libraries: how the estimator of each is made, and what it has to be handed to do its best."""

from __future__ import annotations

import os
import platform
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

import refsvm
from refsvm import NewtonStep

__all__ = ["DEFAULTS", "LIBRARIES", "Library", "installed", "machine", "measured_on", "versions"]


def as_it_is(X: Any, y: np.ndarray) -> tuple[Any, np.ndarray]:
    """Return what `fit` is called with: the data."""
    return X, y


def for_thundersvm(X: Any, y: np.ndarray) -> tuple[Any, np.ndarray]:
    """Return sparse data as ThunderSVM 0.3.3 takes them; dense data as they are.

    Its wrapper narrows ``X.data`` of the caller to float32, so it gets a copy. It also hands 32-bit integers to a C
    function that reads floats: the labels −1 and 1 arrive there as NaN and as 1.4e-45, and training goes astray. The
    integers that have the bits of −1.0 and 1.0 arrive as what they should be.
    """
    if not hasattr(X, "indptr"):
        return X, y
    from scipy.sparse import csr_matrix

    bits = np.sign(y).astype(np.float32).view(np.int32)
    return csr_matrix(X, copy=True), bits.astype(np.float64)


def one() -> int:
    """Return the number of threads of a library that has no parallel part."""
    return 1


def pool(kind: str) -> int:
    """Return the number of threads of the loaded libraries of this kind, "blas" or "openmp"."""
    from threadpoolctl import threadpool_info

    return max((found["num_threads"] for found in threadpool_info() if found["user_api"] == kind), default=1)


def ours() -> int:
    """Return the number of threads for kernel rows: of BLAS for dense data, as Numba counts them for sparse data."""
    import numba

    return max(pool("blas"), int(numba.config.NUMBA_NUM_THREADS))


def openmp() -> int:
    """Return the number of threads of OpenMP."""
    return pool("openmp")


def tbb() -> int:
    """Return the number of threads of oneDAL."""
    return int(import_module("daal4py").num_threads())


QUIET = 3.0
"""Load above which a table says that the machine was busy."""


@dataclass(frozen=True)
class Library:
    """A library, or one way to use it.

    Parameters
    ----------
    name : str
        Name in the tables.
    estimator : str
        ``"module:class"`` of its scikit-learn estimator, imported in the process of its own where it is measured: so
        no two OpenMP runtimes meet, and nothing depends on which was imported first.
    package : str
        Distribution whose version the tables name.
    options : dict
        Arguments of the estimator beside those of the problem, which they override.
    threads : callable
        How many threads it may use; called in its process.
    adapted : callable
        Makes of (X, y) what `fit` is called with.
    warm_up : tuple of dict
        Arguments of the estimators that warm up. refsvm begins in NumPy and loads its compiled loops once that pays.
        Here they are loaded before anything is timed, as the other libraries have been compiled before.
    """

    name: str
    estimator: str
    package: str
    options: dict[str, Any] = field(default_factory=dict)
    threads: Callable[[], int] = one
    adapted: Callable[[Any, np.ndarray], tuple[Any, np.ndarray]] = as_it_is
    warm_up: tuple[dict[str, Any], ...] = ({},)

    def make(self, **parameters: Any) -> Any:
        """Return a new estimator."""
        module, name = self.estimator.split(":")
        return getattr(import_module(module), name)(**{**parameters, **self.options})


COMPILED = tuple({"engine": "numba", "cache_dtype": dtype} for dtype in ("float64", "float32"))


def refsvm_with(name: str, **options: Any) -> Library:
    """Return refsvm under a name, with these arguments."""
    return Library(name, "refsvm:SVC", "refsvm", options, threads=ours, warm_up=COMPILED)


LIBRARIES = (
    refsvm_with("refsvm"),
    Library("LIBSVM", "sklearn.svm:SVC", "scikit-learn"),
    Library("oneDAL", "sklearnex.svm:SVC", "scikit-learn-intelex", threads=tbb),
    Library("ThunderSVM", "thundersvm:SVC", "thundersvm-cpu", threads=openmp, adapted=for_thundersvm),
)
DEFAULTS = (
    refsvm_with("refsvm"),
    refsvm_with("shrinking=False", shrinking=False),
    refsvm_with("step=NewtonStep()", step=NewtonStep()),
    refsvm_with("cache_size=10", cache_size=10),
)
"""refsvm with one default changed at a time."""


def installed(libraries: Sequence[Library] = LIBRARIES) -> list[Library]:
    """Return those of the libraries that are installed here."""
    return [library for library in libraries if find_spec(library.estimator.split(":")[0].split(".")[0])]


def versions(libraries: Sequence[Library]) -> str:
    """Return the versions of the libraries and of what they are built on, as one phrase."""
    packages = dict.fromkeys([*(library.package for library in libraries), "numpy", "scipy", "numba"])
    packages.pop("refsvm", None)
    others = ", ".join(f"{name} {version(name)}" for name in packages)
    return f"refsvm {refsvm.__version__}, Python {platform.python_version()}, {others}"


def measured_on() -> str:
    """Return the sentence on machine and versions of a table of refsvm beside scikit-learn."""
    with_learn = [library for library in LIBRARIES if library.package == "scikit-learn"]
    return f"The times were measured on {machine()}, with {versions(with_learn)}."


def machine() -> str:
    """Return the model of the processor, the number of its cores, and whether they had other work to do."""
    model = platform.processor() or platform.machine()
    description = Path("/proc/cpuinfo")
    if description.is_file():
        lines = description.read_text(encoding="utf-8").splitlines()
        model = next(
            (line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")), model
        )
    load = os.getloadavg()[1]  # the mean of five minutes; the measurements themselves are one or two
    busy = f", while other work was running (load {load:.0f}: rough figures)" if load > QUIET else ""
    return f"{model}, {os.cpu_count()} cores{busy}"
