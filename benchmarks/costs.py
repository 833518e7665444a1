"""Every price of an error on german: the points of the ROC beside 200 refits, its crossings, and a figure.

    python benchmarks/costs.py --data-dir DIR                    the figure goes to costs.png
    python benchmarks/costs.py --data-dir DIR --set ida_heart

Every second example trains, the others are judged. C₊ goes from 0 to 2, C₋ = 2 − C₊. Printed are the values of C₊ at
which the shares of false and true positives differ from those of a refit to a KKT gap of 1e-10; and, at every C₊ at
which an example changes sides, the smallest |h| of all examples, which is 0 at an exact crossing, also of a refit.
"""

from __future__ import annotations

import argparse

import numpy as np

from refsvm import RBF, KKTGap, cost_path, solve
from refsvm.datasets import open_data
from refsvm.display import CostPathDisplay


def main() -> None:
    """Compare, print and draw."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data-dir")
    parser.add_argument("--set", default="ida_german")
    parser.add_argument("--values", type=int, default=200)
    parser.add_argument("--figure", default="costs.png")
    options = parser.parse_args()
    found = open_data(options.set, data_dir=options.data_dir)
    spread = found.X.std(axis=0)
    data, y = (found.X - found.X.mean(axis=0)) / np.where(spread > 0.0, spread, 1.0), found.y
    kernel, X, others, labels = RBF(0.02), data[::2], data[1::2], y[1::2]
    path = cost_path(X, y[::2], kernel=kernel, C=2.0)
    curve, K = path.roc(others, labels), kernel(others, X)
    print(
        f"{options.set}: {len(path.t)} breakpoints, {len(curve.fpr)} operating points, {path.status.name}, "
        f"audit {path.kkt_audit().worst:.0e}"
    )

    def refit(t: float) -> np.ndarray:
        solution = solve(path.problem(t), stop=KKTGap(1e-10))
        return np.asarray(K @ solution.alpha + solution.intercept)

    points = []
    for t in np.linspace(0.0, 2.0, options.values + 2)[1:-1].tolist():
        said = refit(t) >= 0.0
        points.append((said[labels < 0].mean(), said[labels > 0].mean(), *curve.at(t)))
    refits, ours = np.array(points)[:, :2], np.array(points)[:, 2:]
    differ = int((np.abs(refits - ours).max(axis=1) > 1e-12).sum())
    print(f"{differ} of {len(points)} values of C+ have another point than the refit")
    crossings = curve.t[1:-1]
    least = [float(np.abs(path.decision_function(others, t)).min()) for t in crossings]
    some = crossings[:: max(1, len(crossings) // 50)]
    again = [float(np.abs(refit(t)).min()) for t in some.tolist()]
    print(f"smallest |h| at {len(crossings)} crossings: {max(least):.0e} at most on the path, "
          f"{max(again):.0e} of refits at {len(some)} of them")  # fmt: skip
    display = CostPathDisplay({"path": curve}).plot()
    display.ax_.plot(*refits.T, "x", color="black", label=f"{len(points)} refits")
    display.ax_.legend(frameon=False)
    display.figure_.savefig(options.figure)
    print(f"figure: {options.figure}")


if __name__ == "__main__":
    main()
