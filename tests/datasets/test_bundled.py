"""The bundled sets: complete, small, attributed, and what their sources say they are."""

import re
from importlib.resources import files

import numpy as np
import pytest

from refsvm.datasets import load, names

BUNDLE = files("refsvm.datasets") / "bundle"
SIZES = {  # n, d, number of positive examples: the counts of the UCI entries
    "breast_cancer": (277, 9, 81),
    "heart": (270, 13, 120),
    "ionosphere": (351, 34, 225),
    "monks1": (432, 6, 216),
    "monks2": (432, 6, 142),
    "monks3": (432, 6, 228),
    "sonar": (208, 60, 111),
    "thyroid": (215, 5, 65),
    "tic_tac_toe": (958, 9, 626),
    "wbc": (683, 9, 239),
}
ARCHIVES = {"breast_cancer": "ida_breast-cancer", "heart": "ida_heart", "thyroid": "ida_thyroid"}


def test_names_are_the_files_of_the_bundle():
    stored = sorted(path.name.removesuffix(".npz") for path in BUNDLE.iterdir() if path.name.endswith(".npz"))
    assert names() == sorted(SIZES) == stored


@pytest.mark.parametrize("name", names())
def test_a_bundled_set_is_finite_labelled_and_of_the_published_size(name):
    data = load(name)
    assert data.name == name
    assert (data.n, data.d, int((data.y == 1).sum())) == SIZES[name]
    assert data.X.dtype == data.y.dtype == np.float64
    assert np.isfinite(data.X).all()
    assert set(data.y) == {-1.0, 1.0}
    assert data.description
    assert (data.C is None) == (data.gamma is None)


def test_the_bundle_stays_below_half_a_megabyte():
    assert sum(len(path.read_bytes()) for path in BUNDLE.iterdir()) < 500_000


@pytest.mark.parametrize("name", names())
def test_a_bundled_set_names_its_source_and_licence(name):
    data, sources = load(name), (BUNDLE / "SOURCES.md").read_text(encoding="utf-8")
    assert data.licence == "CC BY 4.0"
    address = re.search(r"10\.24432/\w+|archive\.ics\.uci\.edu\S+", data.source).group()
    assert address in sources
    n, d, positive = SIZES[name]
    assert re.search(rf"\| `{name}` \| {n}\s×\s{d} \|.*\({n - positive}\).*\({positive}\)", sources)


def test_the_monks_follow_their_published_rules():
    rules = {
        "monks1": lambda a: (a[0] == a[1]) | (a[4] == 1),
        "monks2": lambda a: (a == 1).sum(axis=0) == 2,
        "monks3": lambda a: ((a[4] == 3) & (a[3] == 1)) | ((a[4] != 4) & (a[1] != 3)),
    }
    for name, rule in rules.items():
        np.testing.assert_array_equal(load(name).y > 0, rule(load(name).X.T))
    assert len(np.unique(load("monks3").X, axis=0)) == 3 * 3 * 2 * 3 * 4 * 2


def test_tic_tac_toe_is_won_with_three_in_a_row():
    data = load("tic_tac_toe")
    board = data.X.reshape(-1, 3, 3)
    lines = [*board.transpose(1, 0, 2), *board.transpose(2, 0, 1)]
    lines += [np.diagonal(board, axis1=1, axis2=2), np.diagonal(board[:, ::-1], axis1=1, axis2=2)]
    won = np.any([line.sum(axis=1) == 3 for line in lines], axis=0)
    np.testing.assert_array_equal(data.y > 0, won)


def test_heart_is_standardised():
    X = load("heart").X
    np.testing.assert_allclose(X.mean(axis=0), 0, atol=1e-12)
    np.testing.assert_allclose(X.std(axis=0, ddof=1), 1, rtol=1e-12)


@pytest.mark.data
@pytest.mark.parametrize("name", names())
def test_bundled_values_are_those_of_the_archive(name, archives):
    with np.load(archives / f"{ARCHIVES.get(name, name)}.npz", allow_pickle=False) as archive:
        np.testing.assert_array_equal(load(name).X, archive["X"])
        np.testing.assert_array_equal(load(name).y, archive["y"])


def test_every_load_is_a_fresh_copy():
    load("wbc").X[:] = 0
    assert load("wbc").X.any()


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("hart", r"^name='hart' is not a bundled set; did you mean 'heart'\?"),
        ("zzzzz", r"^name='zzzzz' is not a bundled set; the bundled sets are breast_cancer, heart,"),
        ("../bundle/heart", r"^name='\.\./bundle/heart' is not a bundled set;"),
    ],
)
def test_an_unknown_name_is_refused(name, sentence):
    with pytest.raises(ValueError, match=sentence):
        load(name)
