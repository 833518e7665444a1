"""When to leave kernels: seconds and errors of a kernel machine and three other classifiers, over n and over d.

    python benchmarks/rivals.py            # measure what is missing, store it in rivals.json, draw the figure, print
    python benchmarks/rivals.py --print    # print the table and draw the figure from the stored runs

All classifiers have fixed settings: C = 1, γ by "scale", 300 random features, and scikit-learn's defaults for boosting.
Seconds are processor time on one core, the least of two fits if a fit is short. Errors are measured on 10,000 new
points. A classifier leaves the race at the size at which it would need more than `LIMIT` seconds.
`docs/_ext/closing.py` shows the table and the figure in chapter 9.
"""

from __future__ import annotations

import argparse
import json
import os
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.kernel_approximation import RBFSampler
from sklearn.pipeline import make_pipeline
from sklearn.svm import LinearSVC
from threadpoolctl import threadpool_limits

from refsvm import SVC
from refsvm.datasets import make_banana, make_waveform

STORE = Path(__file__).with_suffix(".json")
FIGURE = Path(__file__).parents[1] / "docs" / "_static" / "how_fast" / "rivals.svg"
MACHINE = "AMD EPYC (Zen 4, AVX-512), one of two virtual cores"
SIZES = (300, 1000, 3000, 10_000, 30_000, 100_000)
DIMENSIONS = (21, 100, 300, 1000)
WIDE = 3000
"""Examples of the sets of many features: waveform's 21 features and features of noise."""

NAMES = "kernel machine", "line", "random features", "boosting"
LIMIT = 120.0
COLOURS = "#0072B2", "#222222", "#D55E00", "#009E73"


def model(name: str, X: np.ndarray) -> Any:
    """Return an untrained classifier."""
    gamma = 1.0 / (X.shape[1] * X.var())  # "scale"
    return {
        "kernel machine": lambda: SVC(gamma=gamma, C=1.0, engine="numba", cache_size=1000),
        "line": LinearSVC,
        "random features": lambda: make_pipeline(
            RBFSampler(gamma=gamma, n_components=300, random_state=0), LinearSVC()
        ),
        "boosting": lambda: HistGradientBoostingClassifier(random_state=0),
    }[name]()


def points(name: str, n: int, d: int) -> tuple[np.ndarray, np.ndarray]:
    """Return n examples to train on and 10,000 to judge by, as one array, with their labels."""
    sample = {"waveform": make_waveform, "banana": make_banana}[name](n + 10_000, rng=0)
    noise = np.random.default_rng(1).normal(size=(sample.n, max(d - sample.d, 0)))
    return np.hstack([sample.X, noise]), sample.y


def measured(name: str, X: np.ndarray, y: np.ndarray, n: int) -> dict[str, float]:
    """Return the seconds of a fit, the microseconds of a prediction, and the error on the new points."""
    clock: list[float] = []
    while not clock or (len(clock) < 2 and clock[0] < 20.0):
        began = time.process_time()
        fitted = model(name, X[:n]).fit(X[:n], y[:n])
        clock.append(time.process_time() - began)
    began = time.process_time()
    predicted = fitted.predict(X[n:])
    each = (time.process_time() - began) / len(predicted)
    wrong = float(np.mean(predicted != y[n:]))
    return {
        "seconds": float(f"{min(clock):.3g}"),
        "microseconds": float(f"{1e6 * each:.3g}"),
        "error": round(wrong, 4),
    }


def problems() -> list[tuple[str, int, int]]:
    """Return the name, n and d of each problem."""
    over_n = [(name, n, d) for name, d in (("waveform", 21), ("banana", 2)) for n in SIZES]
    return over_n + [("waveform", WIDE, d) for d in DIMENSIONS[1:]]


def runs_of(runs: list[dict[str, Any]], name: str, n: int, d: int) -> dict[str, dict[str, Any]]:
    """Return the runs of a problem by the names of their classifiers."""
    return {run["model"]: run for run in runs if (run["set"], run["n"], run["d"]) == (name, n, d)}


def stored_runs() -> list[dict[str, Any]]:
    """Return the runs that are stored."""
    return json.loads(STORE.read_text(encoding="utf-8")) if STORE.is_file() else []


def printed(runs: list[dict[str, Any]]) -> str:
    """Return the table."""
    lines = [f"{'':24}" + "".join(f"{name:>20}" for name in NAMES)]
    for name, n, d in problems():
        found = runs_of(runs, name, n, d)
        cells = (
            f"{found[m]['seconds']:.3g} s, {found[m]['error']:.1%}" if m in found else "–" for m in NAMES
        )
        lines.append(f"{name:9}{n:>8,}{d:>5}  " + "".join(f"{cell:>20}" for cell in cells))
    lines += ["", f"{'µs of a prediction':24}" + lines[0][24:]]
    for n in SIZES:
        found = runs_of(runs, "waveform", n, DIMENSIONS[0])
        cells = (f"{found[m]['microseconds']:.3g}" for m in NAMES)
        lines.append(f"{'waveform':9}{n:>8,}{DIMENSIONS[0]:>5}  " + "".join(f"{cell:>20}" for cell in cells))
    return "\n".join([f"{'set':9}{'n':>8}{'d':>5}  " + lines[0][24:], *lines[1:]])


def verdict(runs: list[dict[str, Any]]) -> str:
    """Return two sentences: from which n on a rival is faster on both sets, and at which d it errs less."""
    plain = [(n, runs_of(runs, name, n, d)) for name, n, d in problems() if d in (2, 21)]
    faster = []
    for each in NAMES[1:]:
        slower = [n for n, of in plain if of[each]["seconds"] >= of[NAMES[0]]["seconds"]]
        left = [n for n in SIZES if n > max(slower, default=0)]
        where = f"from {left[0]:,} examples on" if left else "at no size"
        faster.append(f"On both sets *{each}* is faster than the kernel machine {where}.")
    less: dict[str, list[str]] = {}
    for d in DIMENSIONS:
        of = runs_of(runs, "waveform", WIDE, d)
        for each in NAMES[1:]:
            if of[each]["error"] < of[NAMES[0]]["error"]:
                less.setdefault(each, []).append(f"{d:,}")
    wide = [
        f"With {' and '.join(ds)} features, *{each}* has a smaller error than the kernel machine."
        for each, ds in less.items()
    ]
    return " ".join([*faster, *wide])


def draw(runs: list[dict[str, Any]]) -> None:
    """Draw seconds over n, errors over n, and seconds over d."""
    import matplotlib as mpl
    import matplotlib.pyplot as plt

    mpl.use("agg")
    mpl.rcParams.update({"svg.hashsalt": "refsvm", "axes.spines.top": False, "axes.spines.right": False})
    figure, row = plt.subplots(1, 3, figsize=(11, 3.8), layout="constrained")
    panels = (
        (row[0], "waveform", "n", [(n, n, 21) for n in SIZES], "seconds"),
        (row[1], "waveform", "n", [(n, n, 21) for n in SIZES], "error"),
        (row[2], "waveform", "d", [(d, WIDE, d) for d in DIMENSIONS], "error"),
    )
    for axes, name, along, places, what in panels:
        for each, colour in zip(NAMES, COLOURS, strict=True):
            found = [(x, runs_of(runs, name, n, d)) for x, n, d in places]
            line = [(x, one[each][what]) for x, one in found if each in one]
            axes.plot(*np.transpose(line), "o-", color=colour, label=each)
        axes.set(xscale="log", xlabel=f"{along}, the number of {'examples' if along == 'n' else 'features'}")
        axes.set(ylabel="seconds of a fit" if what == "seconds" else "error on new points")
    row[0].set_yscale("log")
    figure.legend(*row[0].get_legend_handles_labels(), loc="outside upper center", ncols=4, frameon=False)
    figure.savefig(FIGURE, metadata={"Date": None})


def main() -> None:
    """Measure, store, draw and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--print", action="store_true", dest="prints")
    runs = stored_runs()
    if not parser.parse_args().prints:
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
        warnings.simplefilter("ignore")  # LinearSVC reports that it stops at its limit of iterations
        model("kernel machine", np.eye(4)).fit(np.eye(4), [1, -1, 1, -1])  # loads compiled code
        for name, n, d in problems():
            X, y = points(name, n, d)
            for each in NAMES:
                before = [run for run in runs if (run["set"], run["model"], run["d"]) == (name, each, d)]
                late = any(run["seconds"] * (n / run["n"]) > LIMIT for run in before if run["n"] < n)
                if late or any(run["n"] == n for run in before):
                    continue
                with threadpool_limits(1):
                    runs.append({"set": name, "n": n, "d": d, "model": each} | measured(each, X, y, n))
                print(runs[-1], flush=True)
                lines = ",\n".join(f" {json.dumps(run)}" for run in runs)
                STORE.write_text(f"[\n{lines}\n]\n", encoding="utf-8")
    print(printed(runs), verdict(runs), f"{MACHINE}.", sep="\n\n")
    draw(runs)


if __name__ == "__main__":
    main()
