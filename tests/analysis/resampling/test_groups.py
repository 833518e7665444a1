"""Groups and folds: what a splitter needs is said, and texts name them as numbers do."""

import numpy as np
import pytest

pytest.importorskip("sklearn")

from sklearn import model_selection

from refsvm import RBF, SVCCV, cross_validate, leave_one_out
from refsvm.analysis.paths import cross_validate_path
from refsvm.analysis.resampling.folds import pairs_of

RNG = np.random.default_rng(0)
X = RNG.normal(size=(24, 2))
Y = np.where(X[:, 0] > 0.0, 1, -1)
SITE = np.array([*"aabbccdd"] * 3)
KERNEL = {"kernel": RBF(1.0)}
CALLS = {
    "folds": lambda folds, **more: cross_validate(X, Y, folds=folds, **more).fold,
    "path": lambda folds, **more: cross_validate_path(X, Y, C_min=0.1, C_max=10.0, folds=folds, **KERNEL, **more).fold,
    "search": lambda folds, **more: SVCCV(cv=folds, Cs=[1.0], gammas=[1.0]).fit(X, Y, **more).best_score_,
}  # fmt: skip


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize(
    "name",
    ["LeaveOneGroupOut", "GroupKFold", "LeavePGroupsOut", "GroupShuffleSplit", "StratifiedGroupKFold"],
)
def test_a_splitter_that_needs_groups_says_so(name, call):
    splitter = getattr(model_selection, name)(*([1] if name == "LeavePGroupsOut" else []))
    word = "cv" if call == "search" else "folds"
    with pytest.raises(
        ValueError, match=rf"^{word}={name}\(.*\) needs the group of each example; give groups="
    ):
        CALLS[call](splitter)


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("form", ["texts", "objects", "list", "Series", "string", "category", "column"])
def test_groups_may_be_texts(form, call):
    groups = {"texts": SITE, "objects": SITE.astype(object), "list": SITE.tolist()}.get(form)
    if groups is None:
        pandas = pytest.importorskip("pandas")
        kinds = {"Series": None, "string": "string", "category": "category", "column": None}
        groups = pandas.Series(SITE, dtype=kinds[form], index=range(100, 124))
        groups = groups.to_frame() if form == "column" else groups
    numbers = np.unique(SITE, return_inverse=True)[1]
    splitter = model_selection.LeaveOneGroupOut()
    found, expected = (CALLS[call](splitter, groups=each) for each in (groups, numbers))
    np.testing.assert_array_equal(found, expected)
    if call != "search" and form != "column":  # each text a fold
        np.testing.assert_array_equal(CALLS[call](groups), expected)


@pytest.mark.parametrize(
    ("groups", "sentence"),
    [
        ("site", r"groups has shape \(\); give 24 groups, one for each row of X"),
        (SITE[:5], r"groups has shape \(5,\); give 24 groups"),
        (np.where(SITE == "a", None, SITE), r"groups\[0\] is None, a missing value"),
        (np.where(SITE == "b", np.nan, 1.0), r"groups\[2\] is nan, a missing value"),
    ],
)
@pytest.mark.parametrize("call", CALLS)
def test_groups_that_are_none(groups, sentence, call):
    with pytest.raises(ValueError, match=sentence):
        CALLS[call](model_selection.GroupKFold(3), groups=groups)


def test_leave_one_out_of_two_examples():
    assert leave_one_out(X[:2], [1.0, 2.0], kernel="linear", epsilon=0.1).residuals.shape == (2,)


@pytest.mark.parametrize(
    ("name", "error", "needs"),
    [
        ("Sites", ValueError("The 'groups' parameter should not be None."), True),
        ("Sites", TypeError("split() missing 1 required argument: 'groups'"), True),
        ("SiteGroups", TypeError("'NoneType' object is not iterable"), True),  # by its name
        ("Sites", ValueError("too many splits"), False),
    ],
)
def test_a_splitter_needs_groups_by_its_name_or_by_what_it_says(name, error, needs):
    def split(self, X, y, groups=None):
        raise error

    splitter = type(name, (), {"split": split, "__repr__": lambda self: f"{name}()"})()
    with pytest.raises(type(error) if not needs else ValueError) as raised:
        list(pairs_of(splitter, np.zeros((4, 1)), np.zeros(4)))
    said = f"folds={name}() needs the group of each example; give groups="
    assert (raised.value is error) == (not needs)
    assert needs == str(raised.value).startswith(said)


@pytest.mark.parametrize(
    "as_pairs",
    [
        lambda splitter: list(splitter.split(X)),
        lambda splitter: tuple(splitter.split(X)),
        lambda splitter: splitter.split(X),
        lambda splitter: [list(map(list, pair)) for pair in splitter.split(X)],
        lambda splitter: [tuple(np.isin(np.arange(24), part) for part in pair) for pair in splitter.split(X)],
    ],
    ids=["list", "tuple", "generator", "lists", "masks"],
)
def test_pairs_are_the_folds_of_their_splitter(as_pairs):
    splitter = model_selection.KFold(4, shuffle=True, random_state=1)
    assert CALLS["folds"](as_pairs(splitter)).tolist() == CALLS["folds"](splitter).tolist()
