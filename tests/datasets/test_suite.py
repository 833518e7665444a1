"""The suite of 18 problems."""

import pickle

import numpy as np
import pytest

from refsvm.datasets import data_instructions, make_chessboard, paper_suite

# Planning-ahead paper, Table 1: n, C, gamma
TABLE_1 = {
    "ida_banana": (5300, 100, 0.25),
    "ida_breast-cancer": (277, 0.6, 0.1),
    "ida_diabetis": (768, 0.5, 0.05),
    "ida_flare-solar": (1066, 1.5, 0.1),
    "ida_german": (1000, 1, 0.05),
    "ida_heart": (270, 1, 0.005),
    "ida_image": (2310, 100, 0.1),
    "ida_ringnorm": (7400, 2, 0.1),
    "ida_splice": (3175, 10, 0.01),
    "ida_thyroid": (215, 500, 0.05),
    "ida_titanic": (2201, 1000, 0.1),
    "ida_twonorm": (7400, 0.5, 0.02),
    "ida_waveform": (5000, 1, 0.05),
    "chessboard-1000": (1000, 1_000_000, 0.5),
    "tic_tac_toe": (958, 200, 0.02),
    "ionosphere": (351, 3, 0.4),
    "spambase": (4601, 10, 0.005),
    "internet_ads_adbench": (1966, 10, 0.03),  # stands in for the 2358 of the paper
}


def by_name(directory):
    return {problem.name: problem for problem in paper_suite(directory)}


def test_the_suite_lists_table_1_without_reading(tmp_path):
    suite = paper_suite(tmp_path)
    assert {p.name: (p.C, p.gamma) for p in suite} == {name: row[1:] for name, row in TABLE_1.items()}
    assert len(suite) == 18


def test_chessboard_is_fixed(tmp_path):
    data = by_name(tmp_path)["chessboard-1000"].load()
    np.testing.assert_array_equal(data.X, make_chessboard(1000, rng=0).X)
    assert (data.name, data.C, data.gamma) == ("chessboard-1000", 1e6, 0.5)


@pytest.mark.parametrize("name", [name for name in TABLE_1 if name != "chessboard-1000"])
def test_the_two_sets_that_the_paper_standardised_are_and_the_others_are_as_they_are(name, tmp_path):
    raw = np.column_stack([np.arange(4.0) ** 3, np.full(4, 7.0)])
    np.savez(tmp_path / f"{name}.npz", X=raw, y=np.array([-1, 1, 1, -1], dtype=np.int8))
    data = by_name(tmp_path)[name].load()
    assert data.y.dtype == np.float64
    if name not in ("ida_ringnorm", "ida_twonorm"):
        np.testing.assert_array_equal(data.X, raw)
        return
    np.testing.assert_allclose(data.X[:, 0].mean(), 0, atol=1e-12)
    np.testing.assert_allclose(data.X[:, 0].std(), 1)
    np.testing.assert_array_equal(data.X[:, 1], 0)


def test_a_problem_can_be_sent_to_another_process(tmp_path):
    board = pickle.loads(pickle.dumps(by_name(tmp_path)["chessboard-1000"]))
    assert board.load().n == 1000


def test_a_directory_that_is_not_named_or_not_there_is_refused(tmp_path, monkeypatch):
    monkeypatch.delenv("REFSVM_DATA", raising=False)
    with pytest.raises(
        FileNotFoundError, match=r"^data_dir=None and REFSVM_DATA is not set; .*data_instructions"
    ):
        paper_suite()
    with pytest.raises(FileNotFoundError, match=r"^data_dir='.*none' is not a directory"):
        paper_suite(tmp_path / "none")
    monkeypatch.setenv("REFSVM_DATA", str(tmp_path))
    assert len(paper_suite()) == 18


def test_an_archive_that_is_not_there_is_named_when_it_is_read(tmp_path):
    with pytest.raises(
        FileNotFoundError, match=r"^'ida_german\.npz' is not in data_dir='.*'; .*data_instructions"
    ):
        by_name(tmp_path)["ida_german"].load()


def test_the_instructions_name_every_archive_of_the_suite():
    text = data_instructions()
    assert not [name for name in TABLE_1 if name != "chessboard-1000" and f"`{name}`" not in text]
    assert "REFSVM_DATA" in text


@pytest.mark.data
@pytest.mark.parametrize("name", TABLE_1)
def test_every_problem_loads_with_the_published_size(name, archives):
    problem = by_name(archives)[name]
    data = problem.load()
    assert (data.n, problem.C, problem.gamma) == TABLE_1[name]
    assert (data.name, data.C, data.gamma) == (name, problem.C, problem.gamma)
    assert set(data.y) == {-1.0, 1.0}
    assert (name == "internet_ads_adbench") == (not isinstance(data.X, np.ndarray))
