"""How often does SVR.predict_interval hold the target? New examples of 400 training sets, ten of each.

    python benchmarks/conformal.py             4,000 new examples, some minutes
    python benchmarks/conformal.py --sets 40   a tenth of them

Each training set has 39 examples of Friedman's first function with noise of variance 1, of which five features count
(J. H. Friedman, "Multivariate adaptive regression splines", Annals of Statistics 19, 1991), and noise with heavy tails
for half of the sets. Of so many sets the share varies by 0.007 from one run of this script to another.
"""

from __future__ import annotations

import argparse
import time

import numpy as np

from refsvm import SVR


def friedman(rng: np.random.Generator, n: int, heavy: bool) -> tuple[np.ndarray, np.ndarray]:
    """Ten features in [0, 1] and the target, with normal noise or that of Student's t with three degrees of freedom."""
    X = rng.uniform(size=(n, 10))
    y = (
        10.0 * np.sin(np.pi * X[:, 0] * X[:, 1])
        + 20.0 * (X[:, 2] - 0.5) ** 2
        + 10.0 * X[:, 3]
        + 5.0 * X[:, 4]
    )
    return X, y + (rng.standard_t(3, n) if heavy else rng.normal(size=n))


def main() -> None:
    """Print the share of targets inside, and how wide the intervals are."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--sets", type=int, default=400)
    parser.add_argument("--n", type=int, default=39)
    parser.add_argument("--new", type=int, default=10)
    parser.add_argument("--confidence", type=float, default=0.9)
    options = parser.parse_args()
    held, widths, began = [], [], time.process_time()
    for number in range(options.sets):
        rng = np.random.default_rng(number)
        X, y = friedman(rng, options.n + options.new, heavy=number % 2 == 1)
        model = SVR(C=10.0, gamma=0.2, epsilon=0.1, tol=1e-6).partial_fit(X[: options.n], y[: options.n])
        low, high = model.predict_interval(X[options.n :], options.confidence).T
        held.append((low <= y[options.n :]) & (y[options.n :] <= high))
        widths.append(high - low)
    share, of_set = np.mean(held), np.mean(held, axis=1)
    print(
        f"{np.size(held)} new examples, {options.sets} training sets of {options.n}, confidence {options.confidence}"
    )
    print(f"held: {share:.4f}, with a standard error of {of_set.std(ddof=1) / np.sqrt(options.sets):.4f}")
    print(f"normal noise {np.mean(held[::2]):.4f}, heavy tails {np.mean(held[1::2]):.4f}")
    print(f"median width {np.median(widths):.2f}; {time.process_time() - began:.0f} processor seconds")


if __name__ == "__main__":
    main()
