"""An experiment of 200 short runs; as a script it works on the store named and tells how many runs are finished."""

from __future__ import annotations

import sys
from functools import partial
from typing import Any

from refsvm import RBF, MostViolatingPair, NewtonStep, SecondOrder
from refsvm.datasets import make_banana, make_chessboard
from refsvm.experiment import Experiment, Problem, Solve


def two_hundred(store: Any) -> Experiment:
    return Experiment(
        strategies=[
            Solve("first", selector=MostViolatingPair(), step=NewtonStep(), engine="numpy", shrinking=False),
            Solve("second", selector=SecondOrder(), step=NewtonStep(), engine="numpy", shrinking=False),
        ],
        problems=[
            Problem("banana", partial(make_banana, 30, rng=1), kernel=RBF(0.5), C=1.0),
            Problem("board", partial(make_chessboard, 20, rng=1), kernel=RBF(0.5), C=10.0),
        ],
        store=store,
        permutations=50,
    )


if __name__ == "__main__":
    two_hundred(sys.argv[1]).run(callback=lambda at: print(at.done, at.total, flush=True))
