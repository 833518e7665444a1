"""Searches of SVCCV with a store: they go on where an earlier one ended, and a file that is none is refused."""

from __future__ import annotations

import math
import sqlite3

import numpy as np
import pytest

from refsvm import SVCCV, KKTGap

GRID = {"Cs": [10.0, 0.1, 1.0], "gammas": [0.01, 0.1]}


def stored(file):
    """Return how many cells a store holds."""
    return sqlite3.connect(file).execute("SELECT COUNT(*) FROM runs").fetchone()[0]


def test_an_interrupted_search_goes_on(heart, tmp_path, solved):
    (X, y), file = heart, tmp_path / "cells.sqlite"
    solved.most = 11
    with pytest.raises(KeyboardInterrupt):
        SVCCV(**GRID, store=file).fit(X, y)
    assert stored(file) == 11
    solved.most = math.inf
    resumed = SVCCV(**GRID, store=str(file)).fit(X, y)
    assert len(solved) == 30
    fresh, key = SVCCV(**GRID).fit(X, y), "mean_test_score"
    np.testing.assert_allclose(resumed.cv_results_[key], fresh.cv_results_[key], atol=1 / len(y))
    SVCCV(**GRID, store=file).fit(X, y)
    assert len(solved) == 60, "everything was in the store, only the search without one was solved"
    SVCCV(**{**GRID, "Cs": [2.0]}, store=file).fit(X, y)
    assert len(solved) == 70


def test_cells_of_several_threads_are_stored_as_they_come(heart, tmp_path, solved):
    (X, y), file = heart, tmp_path / "cells.sqlite"
    solved.most, solved.error = 12, RuntimeError  # a column has 15
    with pytest.raises(RuntimeError):
        SVCCV(**GRID, store=file, n_jobs=2).fit(X, y)
    # each of two threads may have been about to store one
    assert 10 <= stored(file) < 30
    solved.most = math.inf
    resumed, fresh = (SVCCV(**GRID, store=store, n_jobs=2).fit(X, y).cv_results_ for store in (file, None))
    assert stored(file) == 30
    np.testing.assert_allclose(resumed["mean_test_score"], fresh["mean_test_score"], atol=1 / len(y))


@pytest.mark.parametrize(
    "damage",
    [
        "UPDATE runs SET metrics = json_set(metrics, '$.score', 'abc')",
        "UPDATE runs SET metrics = json_set(metrics, '$.score', NULL)",
        "UPDATE runs SET metrics = json_set(metrics, '$.score', 1 - json_extract(metrics, '$.score'))",
        "UPDATE runs SET metrics = (SELECT metrics FROM runs WHERE problem LIKE '%split 2')",
        "DROP TABLE runs; CREATE TABLE runs (a)",
        b"SQLite format 3",
        b"CREATE TABLE",
        b'"score"',
    ],
)
def test_a_damaged_store_is_one_sentence(damage, tmp_path):
    """By a command, or by other bytes wherever these stand in the file: its layout has random parts."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(30, 2)), rng.choice([-1, 1], 30)
    file = tmp_path / "cells.sqlite"
    grid = {"Cs": [1.0, 2.0], "gammas": [0.1], "cv": 3, "store": file, "refit": False, "engine": "numpy"}
    SVCCV(**grid).fit(X, y)
    if isinstance(damage, str):
        with sqlite3.connect(file) as connection:
            connection.executescript(damage)
        connection.close()
    else:
        content = file.read_bytes()
        assert damage in content
        file.write_bytes(content.replace(damage, bytes(255 - byte for byte in damage)))
    with pytest.raises(
        (ValueError, OSError), match=r"store='.*cells\.sqlite' (is|contains more|cannot be used)"
    ):
        SVCCV(**grid).fit(X, y)


def test_a_larger_grid_goes_on_from_the_cells_of_a_smaller_one(heart, tmp_path, solved):
    X, y = heart
    options = {"cv": 3, "refit": False, "store": tmp_path / "cells.sqlite"}
    SVCCV(Cs=[1.0, 0.1], gammas=[0.1], **options).fit(X, y)
    larger = SVCCV(**GRID, **options).fit(X, y)
    assert len(solved) == 18  # 3 C × 2 γ × 3 splits, six of which were there
    fresh = SVCCV(**GRID, cv=3, refit=False).fit(X, y)
    key = "mean_test_score"
    np.testing.assert_allclose(larger.cv_results_[key], fresh.cv_results_[key], atol=1.01 / len(y))
    changes = {"tol": 1e-4, "cv": 4, "max_iter": 10**6, "stop": KKTGap(1e-3), "kernel": "sigmoid"}
    for name, value in changes.items():
        before = len(solved)
        SVCCV(Cs=[1.0], gammas=[0.1], **options | {name: value}).fit(X, y)
        assert len(solved) > before


def test_a_kernel_without_a_lasting_description_is_not_stored(heart, tmp_path):
    X, y = heart[0][:60], heart[1][:60]
    options = {"Cs": [1.0], "kernel": lambda A, B: A @ B.T, "cv": 2, "refit": False}
    SVCCV(**options).fit(X, y)
    with pytest.raises(ValueError, match=r"kernel=<function .* has no lasting description"):
        SVCCV(**options, store=tmp_path / "cells.sqlite").fit(X, y)


def test_several_scores_and_weights_are_found_again(heart, tmp_path, solved):
    """Whether a score that takes no weights sees copies belongs to a cell, too."""
    X, y = heart[0][:60], (heart[1][:60] > 0.0) * 1
    grid = {"Cs": [1.0], "gammas": [0.01], "cv": 3, "refit": False, "store": tmp_path / "cells.sqlite"}
    weights = np.ones(60)
    weights[:30] = 2.0
    for scoring in (["accuracy", "f1"], {"accuracy": "accuracy", "f1": "f1_macro"}, "f1"):
        for some in (None, weights):
            first, before = SVCCV(**grid, scoring=scoring).fit(X, y, some), len(solved)
            again = SVCCV(**grid, scoring=scoring).fit(X, y, some)
            assert len(solved) == before
            for name in (each for each in first.cv_results_ if "test_" in each):
                np.testing.assert_array_equal(again.cv_results_[name], first.cv_results_[name])
    assert len(solved) == 18
