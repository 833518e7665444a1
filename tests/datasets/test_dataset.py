"""Dataset and binary_labels."""

import sys
from dataclasses import FrozenInstanceError

import numpy as np
import pytest

from refsvm.datasets import Dataset, binary_labels, load

from ..programs import printed_by


def test_a_dataset_is_frozen_and_tells_its_size():
    data = Dataset("toy", np.zeros((3, 2)), np.array([1.0, -1.0, 1.0]))
    assert (data.n, data.d, repr(data)) == (3, 2, "Dataset('toy', n=3, d=2)")
    with pytest.raises(FrozenInstanceError):
        data.name = "other"


@pytest.mark.parametrize(
    ("labels", "expected"),
    [
        ([0, 1, 0], [-1, 1, -1]),
        ([2, 1], [1, -1]),
        (["no", "yes"], [-1, 1]),
        ([True, False], [1, -1]),
        (np.array([-1, 1], dtype=np.int8), [-1, 1]),
        (np.array([9.5, -3.0]), [1, -1]),
    ],
)
def test_the_larger_label_becomes_plus_one(labels, expected):
    y = binary_labels(labels)
    assert y.dtype == np.float64
    assert y.tolist() == expected


@pytest.mark.parametrize(
    ("labels", "sentence"),
    [
        ([1, 2, 3], r"^y has 3 distinct values \(1, 2, 3\), but two are needed; drop or merge"),
        ([7, 7], r"^y has 1 distinct value \(7\), but two are needed"),
        ([], r"^y has 0 distinct values \(\), but two are needed"),
        (range(9), r"^y has 9 distinct values \(0, 1, 2, 3, 4, …\), but two are needed"),
        ([[1], [2]], r"^y has shape \(2, 1\); expected one label per example"),
        ([1.0, float("nan")], r"^y contains NaN; drop the examples"),
        (np.array([1, "a"], dtype=object), r"^y mixes labels of different types"),
    ],
)
def test_other_labels_are_refused_in_one_sentence(labels, sentence):
    with pytest.raises(ValueError, match=sentence):
        binary_labels(labels)


def test_importing_and_loading_needs_numpy_only():
    code = (
        "import sys, refsvm.datasets as d; d.load('heart'); d.make_banana(9); d.data_instructions();"
        "print(sorted({'scipy', 'sklearn', 'numba', 'pandas', 'matplotlib'} & set(sys.modules)))"
    )
    assert printed_by("-c", code) == "[]\n"


def test_a_frame_has_the_features_by_name_and_the_labels():
    pd = pytest.importorskip("pandas")
    heart = load("heart")
    frame = heart.to_frame()
    assert len(heart.columns) == heart.d == 13
    assert [*frame.columns] == [*heart.columns, "label"]
    assert np.array_equal(frame.to_numpy(), np.column_stack([heart.X, heart.y]))
    # a sex is one of two values, the vessels are 0 to 3: the names stand at their columns
    counts = dict(zip(heart.columns, (len(np.unique(column)) for column in heart.X.T), strict=True))
    assert (counts["sex"], counts["chest_pain"], counts["major_vessels"], counts["thal"]) == (2, 4, 4, 3)
    assert [*Dataset("a", np.eye(2), None).to_frame().columns] == ["x0", "x1"]
    named = Dataset("a", np.eye(2), np.array([1, 2]), columns=("label", "b")).to_frame()
    assert [*named.columns] == ["label", "b", "label_of_example"]
    sparse = pytest.importorskip("scipy.sparse")
    stored = Dataset("a", sparse.csr_matrix(np.eye(2)), np.ones(2)).to_frame()["x0"].dtype
    assert isinstance(stored, pd.SparseDtype)


def test_without_pandas_a_sentence(monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ImportError, match=r"^to_frame\(\) needs pandas, .*; run: pip install pandas$"):
        load("heart").to_frame()
