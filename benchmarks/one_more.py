"""What does one example more cost? `SVC.partial_fit` of one example after the other beside a new `fit` of all of them.

    python benchmarks/one_more.py                        waveform, 5,000 examples, C = 1, γ = 0.05
    python benchmarks/one_more.py --n 1000 --more 20

The model has seen n − more examples; the others come one by one, then one leaves. The first that
comes is not counted: before it the fit of tolerance 1e-3 is polished and factorised, once.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from refsvm import SVC
from refsvm.datasets import make_waveform


def seconds(work: Callable[[], Any]) -> tuple[float, float]:
    """Processor and wall seconds of a call."""
    began, cpu = time.perf_counter(), time.process_time()
    work()
    return time.process_time() - cpu, time.perf_counter() - began


def main() -> None:
    """Print both."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--n", type=int, default=5000)
    parser.add_argument("--more", type=int, default=51)
    options = parser.parse_args()
    data, settings = make_waveform(options.n, rng=0), {"C": 1.0, "gamma": 0.05, "cache_size": 2000}
    X, y, first = data.X, data.y, options.n - options.more
    SVC(**settings).partial_fit(X[:300], y[:300]).partial_fit(X[300:330], y[300:330])  # whatever is compiled
    model = SVC(**settings)
    begin = seconds(lambda: model.partial_fit(X[:first], y[:first]))
    rows, events, fits = [], [], []
    for i in range(first, options.n):
        rows.append(seconds(lambda i=i: model.partial_fit(X[i : i + 1], y[i : i + 1])))
        events.append(int(model.n_iter_[0]))
        if i % 10 == 0:  # in between, so that both have the same load
            fits.append(seconds(lambda: SVC(**settings).fit(X, y)))
    fit, ones = np.min(fits, axis=0), np.array(rows[1:])
    exact = SVC(tol=1e-10, **settings).fit(X, y)
    held, first_one = 1e3 * np.array(begin), 1e3 * np.array(rows[0])
    print(f"waveform, {options.n} examples, C = 1, gamma = 0.05; milliseconds of processor / wall")
    print(f"fit, best of {len(fits)}: {1e3 * fit[0]:.0f} / {1e3 * fit[1]:.0f}")
    print(f"first call, which holds K: {held[0]:.0f} / {held[1]:.0f}")
    print(f"first example: {first_one[0]:.0f} / {first_one[1]:.0f}")
    kinds = {"median": np.median(ones, axis=0), "mean": ones.mean(axis=0), "most": ones.max(axis=0)}
    for name, (cpu, wall) in kinds.items():
        print(
            f"{name} of {len(ones)}: {1e3 * cpu:.0f} / {1e3 * wall:.0f}, {100.0 * cpu / fit[0]:.0f} % of a fit"
        )
    off = model.dual_objective_ / exact.dual_objective_ - 1.0
    print(
        f"events: median {np.median(events):.0f}, most {max(events)}; objective beside fit at 1e-10: {off:.1e}"
    )
    cpu, wall = seconds(lambda: model.forget(5))
    print(f"one example less: {1e3 * cpu:.0f} / {1e3 * wall:.0f}")


if __name__ == "__main__":
    main()
