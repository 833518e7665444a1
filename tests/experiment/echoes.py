"""A strategy that reports the order of the examples, experiments with it, and what a store holds."""

import sqlite3
from dataclasses import dataclass
from functools import partial

import numpy as np
import pytest

from refsvm.datasets import Dataset
from refsvm.experiment import Experiment, Problem, Strategy


@dataclass(frozen=True)
class Echo(Strategy):
    """Measures the order that it is given: examples are numbered, the metric depends on the first one."""

    factor: float = 1.0

    def run(self, instance):
        return {
            "first": self.factor * float(instance.X[0, 0]),
            "order": instance.X[:, 0].tolist(),
            "nothing": float("nan"),
            "status": "CONVERGED",
        }


def numbered(n=20):
    return Dataset("numbered", np.arange(1.0, n + 1)[:, None], np.where(np.arange(n) % 2 == 0, -1.0, 1.0))


def echoes(store, *factors, **changes):
    arguments = {
        "strategies": [Echo(f"times {factor:g}", factor) for factor in factors or (1.0, 2.0)],
        "problems": [Problem("numbered", numbered), Problem("long", partial(numbered, 40))],
        "store": store,
        "permutations": 6,
    }
    return Experiment(**(arguments | changes))


def ran(store, *factors, **changes):
    """Return such an experiment after its runs."""
    experiment = echoes(store, *factors, **changes)
    experiment.run()
    return experiment


def without_seconds(experiment):
    return [
        {key: value for key, value in record.items() if key != "seconds"} for record in experiment.records()
    ]


def rows_of(store):
    with sqlite3.connect(store) as connection:
        return connection.execute("SELECT hash, config, problem, strategy, metrics FROM runs").fetchall()


def refused(action, *parts):
    with pytest.raises((ValueError, OSError)) as caught:
        action()
    sentence = str(caught.value)
    assert sentence.endswith((".", "?"))
    assert "\n" not in sentence
    for part in parts:
        assert part in sentence
