"""The same bits on every machine: results of some 300 computations, as hashes, compared with those in same_bits.json.

    python benchmarks/same_bits.py              both engines, on this machine as it is
    python benchmarks/same_bits.py --settings   the same under other kernels of BLAS, without NumPy's loops for this
                                                processor, with code of Numba for a generic one, and without Numba
    python benchmarks/same_bits.py --write      new hashes

The data are sums and products of uniform numbers, which are the same everywhere. A hash is taken of α, G, decision
values, the steps and the kernel rows. It ends with code 1 if any differs.
"""

from __future__ import annotations

import argparse
import hashlib
import importlib.util
import json
import os
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

HASHES = Path(__file__).with_suffix(".json")
WITHOUT = "--without-numba"

if WITHOUT in sys.argv:  # as where it is not installed

    class Nothing:
        """Refuses to find Numba."""

        def find_spec(self, name: str, path: Any = None, target: Any = None) -> None:
            """Raise for Numba, and leave all else to others."""
            if name.partition(".")[0] in ("numba", "llvmlite"):
                raise ModuleNotFoundError(name)

    sys.meta_path.insert(0, Nothing())  # type: ignore[arg-type]
    found = importlib.util.find_spec
    importlib.util.find_spec = lambda name, *more: None if name == "numba" else found(name, *more)

import numpy as np  # noqa: E402  after Numba was hidden

from refsvm import (  # noqa: E402
    AVG,
    MIR,
    RBF,
    SIR,
    SVC,
    SVCCV,
    SVR,
    SVRCV,
    TOP,
    BallRule,
    Cold,
    ConjugateSecondOrder,
    ConjugateStep,
    Decomposition,
    DualProblem,
    Greedy,
    HybridMaximumGain,
    KKTGap,
    LIBSVMShrinking,
    Linear,
    LOODualityGap,
    MaximumGain,
    MostViolatingPair,
    NewtonStep,
    OneClassSVM,
    OverrelaxedNewtonStep,
    PlanningAheadStep,
    Polynomial,
    SecondOrder,
    Sigmoid,
    cross_validate,
    leave_one_out,
    regularization_path,
    solve,
)  # fmt: skip
from refsvm.core import arithmetic  # noqa: E402
from refsvm.datasets import make_banana, make_ringnorm, make_waveform  # noqa: E402

Case = Callable[[str], list[Any]]
"""Runs with the engine of this name, and returns what is hashed."""


def data(n: int, d: int, seed: int = 0, density: float = 1.0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return X, labels ±1 of two overlapping classes, and targets."""
    rng = np.random.default_rng([n, d, seed])
    X = 2.0 * rng.random((n, d)) - 1.0
    if density < 1.0:
        X *= rng.random((n, d)) < density
    target = X[:, 0] - X[:, -1] * X[:, d // 2] + 0.4 * (rng.random(n) + rng.random(n) - 1.0)
    y = np.where(target > np.sort(target)[n // 2], 1, -1)
    y[:2] = -1, 1
    return X, y, target


def kernels(d: int) -> dict[str, Any]:
    """Return one kernel of each kind."""
    return {
        "rbf": RBF(2.0 / d), "linear": Linear(), "poly": Polynomial(3, 1.0 / d, 1.0), "sigmoid": Sigmoid(0.5 / d, -0.1),
    }  # fmt: skip


def solved(problem: Any, engine: str, **options: Any) -> list[Any]:
    """Solve, and return all that is hashed of a solution."""
    s = solve(problem, engine=engine, **options)
    return [s.alpha, s.gradient, s.intercept, s.objective, s.iterations, s.kernel_rows]


def classification(
    n: int, d: int, kernel: str, C: float, density: float, engine: str, **options: Any
) -> list[Any]:
    """Solve one problem of two classes."""
    X, y, _ = data(n, d, density=density)
    if density < 1.0:
        from scipy.sparse import csr_array

        X = csr_array(X)
    return solved(DualProblem.classification(X, y, kernel=kernels(d)[kernel], C=C), engine, **options)


def of_sizes() -> Iterator[tuple[str, Case]]:
    """Yield solves of all sizes, kernels and types, with shrinking and without; dense ones, and sparse ones."""
    sizes = [
        (2, 1), (3, 2), (5, 800), (8, 7), (17, 8), (40, 9), (60, 60), (100, 3), (150, 21), (200, 200), (300, 16),
        (400, 64), (700, 5), (1200, 130), (3000, 21),
    ]  # fmt: skip
    for n, d in sizes:
        for number, kernel in enumerate(kernels(d)):
            for dtype in ("float64", "float32"):
                for shrinking in (True, False) if n > 20 else (True,):
                    if n > 1000 and kernel in ("poly", "sigmoid"):
                        continue
                    C = (10.0, 0.5)[number % 2]
                    how = {
                        "cache_dtype": dtype,
                        "shrinking": shrinking,
                        "max_iter": 1500 if n > 1000 else 4000,
                    }
                    name = f"{kernel} {n} x {d} {dtype} {'shrunk' if shrinking else 'whole'}"
                    yield name, partial(classification, n, d, kernel, C, 1.0, **how)
    for n, d, density in ((50, 30, 0.2), (300, 100, 0.1), (900, 400, 0.02), (1500, 300, 0.8)):
        for kernel in kernels(d) if n < 1000 else ("rbf", "linear"):
            for dtype in ("float64", "float32"):
                how = {"cache_dtype": dtype, "max_iter": 1500}
                yield (
                    f"sparse {kernel} {n} x {d} {dtype}",
                    partial(classification, n, d, kernel, 2.0, density, **how),
                )


def of_rules() -> Iterator[tuple[str, Case]]:
    """Yield solves with each rule, small budgets, hard margins, polishing, regression and novelty detection."""
    selectors = (MostViolatingPair(), Greedy(), MaximumGain(), HybridMaximumGain(), ConjugateSecondOrder())
    steps = NewtonStep(), OverrelaxedNewtonStep(), PlanningAheadStep(), ConjugateStep()
    pairs = [(each, NewtonStep()) for each in selectors] + [(SecondOrder(), each) for each in steps]
    for selector, step in pairs:
        name = f"{type(selector).__name__} {type(step).__name__}"
        rules = {"selector": selector, "step": step, "max_iter": 3000}
        yield name, partial(classification, 180, 6, "rbf", 5.0, 1.0, shrinking=False, **rules)
    for name, how in {
        "libsvm's shrinking": {"shrinking": LIBSVMShrinking()}, "decomposition": {"shrinking": Decomposition()},
        "two rows": {"cache_mb": 0.02, "max_iter": 800}, "tight": {"stop": KKTGap(1e-9), "max_iter": 6000},
        "polished": {"polish": True},
    }.items():  # fmt: skip
        for kernel in ("rbf", "linear"):
            yield f"{kernel} {name}", partial(classification, 400, 12, kernel, 3.0, 1.0, **how)

    def hard(engine: str) -> list[Any]:
        X, y, _ = data(90, 4)
        return solved(DualProblem.classification(X + 2.0 * y[:, None], y, kernel=Linear(), C=np.inf), engine)

    def regression(n: int, kernel: Any, engine: str, **how: Any) -> list[Any]:
        X, _, target = data(n, 5)
        return solved(DualProblem.regression(X, target, kernel=kernel, C=3.0, epsilon=0.05), engine, **how)

    yield "hard margin", hard
    for n in (30, 250, 800):
        for kernel in (RBF(0.7), Linear()):
            for dtype in ("float64", "float32"):
                how = {"cache_dtype": dtype, "max_iter": 3000}
                yield f"regression {n} {kernel} {dtype}", partial(regression, n, kernel, **how)


def of_rounds() -> Iterator[tuple[str, Case]]:
    """Yield leave-one-out and folds, of one worker and two."""

    def left_out(kind: str, n: int, engine: str, **how: Any) -> list[Any]:
        X, y, target = data(n, 6)
        labels = y if kind == "classes" else target if kind == "targets" else np.digitize(target, [-0.3, 0.3])
        more = {"epsilon": 0.05} if kind == "targets" else {}
        found = leave_one_out(X, labels, kernel=RBF(0.5), C=2.0, engine=engine, **more, **how)
        return [found.decision_values, found.predictions, found.iterations]

    def folds(kind: str, n: int, engine: str, **how: Any) -> list[Any]:
        X, y, target = data(n, 6)
        labels, more = (y, {}) if kind == "classes" else (target, {"epsilon": 0.05})
        found = cross_validate(X, labels, kernel=RBF(0.5), C=2.0, engine=engine, rng=0, **more, **how)
        return [found.predictions, found.iterations]

    for jobs in (1, 2):
        for kind in ("classes", "targets", "three classes"):
            yield f"leave-one-out {kind} {jobs}", partial(left_out, kind, 70, n_jobs=jobs)
        for kind in ("classes", "targets"):
            yield f"folds {kind} {jobs}", partial(folds, kind, 150, n_jobs=jobs)
    for stop in (BallRule(1e-3), LOODualityGap(1e-3), KKTGap(1e-3)):
        for seeder in (Cold(), TOP(), AVG()):
            name = f"leave-one-out {type(stop).__name__} {type(seeder).__name__}"
            yield name, partial(left_out, "classes", 50, stop=stop, seeder=seeder)
    for seeder in (Cold(), SIR(), MIR(), AVG()):
        yield f"folds {type(seeder).__name__}", partial(folds, "classes", 160, seeder=seeder)


def of_estimators() -> Iterator[tuple[str, Case]]:
    """Yield fits, decision values and searches of the estimators, where scikit-learn is installed."""

    def fitted(model: Any, kind: str, predicts: bool, engine: str) -> list[Any]:
        X, y, target = data(180, 9)
        labels = {"two": y, "four": np.digitize(target, [-0.5, 0.0, 0.5]), "targets": target, "none": None}[
            kind
        ]
        model = model.set_params(engine=engine).fit(X, labels)
        values = model.predict if kind == "targets" else model.decision_function
        return (
            [values(part) for part in (data(60, 9, seed=1)[0], X)]
            if predicts
            else [model.dual_coef_, model.intercept_]
        )

    for kernel in ("rbf", "linear", "poly", "sigmoid"):
        machines = [
            (SVC, "two", {}),
            (SVC, "four", {}),
            (SVR, "targets", {}),
            (OneClassSVM, "none", {"nu": 0.2}),
        ]
        for machine, kind, more in machines:
            model = machine(kernel=kernel, degree=2, **more)
            yield f"{machine.__name__} {kernel} {kind}", partial(fitted, model, kind, False)
            if arithmetic.can_be_fast():  # BLAS predicts where Numba is not installed
                yield f"{machine.__name__} {kernel} {kind}, values", partial(fitted, model, kind, True)

    def searched(model: Any, kind: str, engine: str) -> list[Any]:
        X, y, target = data(90, 5)
        labels = {"two": y, "four": np.digitize(target, [-0.5, 0.0, 0.5]), "targets": target}[kind]
        model = model.set_params(engine=engine).fit(X, labels)
        return [model.cv_results_["mean_test_score"], str(model.best_params_)]

    for jobs in (1, 2):
        for kind in ("two", "four"):
            for cv in ("loo", 4):
                model = SVCCV(Cs=[0.3, 1.0, 3.0], gammas=3, cv=cv, n_jobs=jobs)
                yield f"SVCCV {kind} {cv} {jobs}", partial(searched, model, kind)
        yield f"SVRCV {jobs}", partial(searched, SVRCV(Cs=[0.3, 3.0], gammas=2, cv=3, n_jobs=jobs), "targets")

    def drawn(make: Any, engine: str) -> list[Any]:
        return [make(500, rng=3).X]

    for make in (make_banana, make_ringnorm, make_waveform):
        yield make.__name__, partial(drawn, make)


def cases() -> dict[str, Case]:
    """Return all computations by name."""
    return {name: case for part in (of_sizes, of_rules, of_rounds, of_estimators) for name, case in part()}


def digest(parts: list[Any]) -> str:
    """Return the first digits of the SHA-256 of arrays and numbers."""
    whole = hashlib.sha256()
    for part in parts:
        array = np.asarray(part)
        whole.update(
            str(part).encode() if array.dtype.kind in "UO" else np.ascontiguousarray(array).tobytes()
        )
    return whole.hexdigest()[:16]


def run(engines: list[str], some: int = 1) -> dict[str, dict[str, str]]:
    """Return the hashes of each case in each engine; of every `some`-th case."""
    hashes: dict[str, dict[str, str]] = {}
    for name, case in list(cases().items())[::some]:
        hashes[name] = {}
        for engine in engines:
            try:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    hashes[name][engine] = digest(case(engine))
            except ModuleNotFoundError as error:  # SciPy
                if error.name not in ("scipy", "scipy.sparse"):
                    raise
    return hashes


def settings(folder: str) -> dict[str, dict[str, str]]:
    """Return the environment of each setting that this processor knows."""
    from numpy._core._multiarray_umath import __cpu_dispatch__, __cpu_features__

    off = " ".join(name for name in __cpu_dispatch__ if __cpu_features__[name])
    generic = {"NUMBA_CPU_NAME": "generic", "NUMBA_CPU_FEATURES": "", "NUMBA_CACHE_DIR": folder}
    needs = {"Haswell": "AVX2", "SkylakeX": "AVX512F", "Nehalem": "SSE42"}
    known = [name for name, feature in needs.items() if __cpu_features__.get(feature, False)]
    last = {"OPENBLAS_CORETYPE": known[-1]} if known else {}
    return {
        "as it is": {},
        **{f"BLAS of {name}": {"OPENBLAS_CORETYPE": name} for name in known},
        "NumPy without later loops": {"NPY_DISABLE_CPU_FEATURES": off},
        "Numba generic": generic,
        "all of it": {**generic, **last, "NPY_DISABLE_CPU_FEATURES": off},
        "without Numba": {},
    }


def along_paths() -> list[list[float]]:
    """Return α at nine values of C along three paths, whose systems LAPACK solves."""
    found: list[list[float]] = []
    for n, d, kernel in ((60, 5, RBF(0.4)), (80, 3, Linear()), (120, 8, RBF(0.1))):
        X, y, _ = data(n, d)
        path = regularization_path(X, y, kernel=kernel, C_min=1e-2, C_max=1e2)
        found.append(np.concatenate([path.alpha(C) for C in 10.0 ** np.arange(-2.0, 2.1, 0.5)]).tolist())
    return found


def farthest(one: list[list[float]], other: list[list[float]]) -> float:
    """Return the largest difference of two lists of vectors, as a share of the largest entry of each vector."""
    pairs = [(np.array(a), np.array(b)) for a, b in zip(one, other, strict=True)]
    return max(float(np.abs(a - b).max() / np.abs(a).max()) for a, b in pairs)


def in_setting(
    name: str, more: dict[str, str], some: int, folder: str
) -> tuple[str, bool, list[list[float]]]:
    """Run in a process with this environment; return what it prints, whether all bits are known, and α along paths."""
    command = [sys.executable, __file__, *[WITHOUT] * (name == "without Numba")]
    run_it = partial(subprocess.run, env={**os.environ, **more}, check=False, capture_output=True, text=True)
    ended = run_it([*command, "--every", str(some)])
    where = Path(folder, f"{name}.json")
    run_it([*command, "--paths", str(where)])
    return ended.stdout + ended.stderr, ended.returncode == 0, json.loads(where.read_text())


def in_all_settings(some: int) -> int:
    """Run in every setting, one on each core, and return how many have other bits.

    Print also how far α of a path is from that of the machine as it is. Numba's code for a generic processor takes
    longest, as it is compiled first, so it begins; the setting that has all of it finds that code.
    """
    bad, paths = 0, {}
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(os.cpu_count()) as pool:
        asked = settings(folder)
        first = sorted(asked, key=lambda name: name != "Numba generic")
        running = {name: pool.submit(in_setting, name, asked[name], some, folder) for name in first}
        for name in asked:
            said, known, paths[name] = running[name].result()
            bad += not known
            print(f"{name}: {said}", end="", flush=True)
            far = farthest(paths["as it is"], paths[name])
            print(f"  α along a path differs by up to {far:.0e} of the largest", flush=True)
    return bad


def main() -> int:
    """Run as the command line says; return the exit code."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--write", action="store_true", help="write the hashes")
    parser.add_argument("--settings", action="store_true", help="run in every setting")
    parser.add_argument("--every", type=int, default=1, metavar="K", help="take every K-th computation")
    parser.add_argument("--paths", metavar="FILE", help="write α along some paths, and end")
    parser.add_argument(WITHOUT, action="store_true", help="as where Numba is not installed")
    told = parser.parse_args()
    if told.paths:
        Path(told.paths).write_text(json.dumps(along_paths()))
        return 0
    if told.settings:
        return int(in_all_settings(told.every) > 0)
    began = time.perf_counter()
    engines = ["numpy"] if told.without_numba else ["numba", "numpy"]
    hashes = run(engines, told.every)
    if told.write:
        HASHES.write_text(json.dumps({name: each["numpy"] for name, each in hashes.items()}, indent=0) + "\n")
    known, bad, compared = json.loads(HASHES.read_text()), 0, 0
    for name, each in hashes.items():
        compared += bool(each)
        for engine, found in each.items():
            if found != known.get(name):
                bad += 1
                print(f"  other bits: {name}, {engine}")
    seconds = time.perf_counter() - began
    print(f"{compared} computations, {len(engines)} engines, {bad} with other bits ({seconds:.0f} s)")
    return int(bad > 0 or compared == 0)


if __name__ == "__main__":
    sys.exit(main())
