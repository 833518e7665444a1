"""The small UCI sets that ship with the package; ``bundle/SOURCES.md`` tells where each comes from."""

from __future__ import annotations

from importlib.resources import files
from typing import Final, NamedTuple

import numpy as np

from refsvm._checks import hint
from refsvm.datasets.dataset import PUBLISHED, Dataset

_LICENCE: Final = "CC BY 4.0"


class _Entry(NamedTuple):
    """What is said about a bundled set; C and γ are those of Glasmachers (2008), Table 1."""

    description: str
    source: str
    C: float | None = None
    gamma: float | None = None


_MONKS: Final = "Thrun et al. (1991), MONK's Problems, UCI: archive.ics.uci.edu/dataset/70/monk+s+problems"

_ENTRIES: Final[dict[str, _Entry]] = {
    "breast_cancer": _Entry(
        "Recurrence of breast cancer (+1) from 9 attributes of patient and tumour, Ljubljana; coded as in IDA. "
        "Not the set of scikit-learn's load_breast_cancer, which is Wisconsin's (diagnostic).",
        "Zwitter, Soklic (1988), Breast Cancer, UCI, doi:10.24432/C51P4M",
        *PUBLISHED["ida_breast-cancer"],
    ),
    "heart": _Entry(
        "Heart disease present (+1) or absent, from 13 clinical measurements; standardised.",
        "Statlog (Heart), UCI, doi:10.24432/C57303",
        *PUBLISHED["ida_heart"],
    ),
    "ionosphere": _Entry(
        "Radar returns from the ionosphere that show structure (+1, good) or not, in 34 values.",
        "Sigillito, Wing, Hutton, Baker (1989), Ionosphere, UCI, doi:10.24432/C5W01B",
        *PUBLISHED["ionosphere"],
    ),
    "monks1": _Entry("All 432 robots; +1 where a1 = a2 or a5 = 1.", _MONKS),
    "monks2": _Entry("All 432 robots; +1 where exactly two attributes have their first value.", _MONKS),
    "monks3": _Entry("All 432 robots; +1 where (a5 = 3 and a4 = 1) or (a5 ≠ 4 and a2 ≠ 3).", _MONKS),
    "sonar": _Entry(
        "Sonar echoes of a metal cylinder (+1, mine) or a rock, in 60 frequency bands.",
        "Sejnowski, Gorman (1988), Connectionist Bench (Sonar, Mines vs. Rocks), UCI, doi:10.24432/C5T01Q",
    ),
    "thyroid": _Entry(
        "Thyroid over- or underactive (+1) or normal, from 5 blood tests; scaled as in IDA.",
        "Coomans (1983), in Quinlan (1986), Thyroid Disease, UCI, doi:10.24432/C5D010",
        *PUBLISHED["ida_thyroid"],
    ),
    "tic_tac_toe": _Entry(
        "All 958 final boards, x to move first: x has won (+1) or not; 9 squares, x/o/blank = 1/−1/0.",
        "Aha (1991), Tic-Tac-Toe Endgame, UCI, doi:10.24432/C5688J",
        *PUBLISHED["tic_tac_toe"],
    ),
    "wbc": _Entry(
        "Malignant (+1) or benign breast tumours from 9 cell scores of 1 to 10; rows with gaps left out.",
        "Wolberg (1990), Breast Cancer Wisconsin (Original), UCI, doi:10.24432/C5HP4Z",
    ),
}


def names() -> list[str]:
    """Names of the bundled sets, in alphabetical order.

    Returns
    -------
    list of str
        What `load` accepts.

    Examples
    --------
    >>> names()[:3]
    ['breast_cancer', 'heart', 'ionosphere']
    """
    return sorted(_ENTRIES)


def load(name: str) -> Dataset:
    """Load a bundled set.

    Parameters
    ----------
    name : str
        One of `names()`.

    Returns
    -------
    Dataset
        X dense float64 of shape (n, d), y float64 ±1.

    Raises
    ------
    ValueError
        If no set of that name is bundled.

    Notes
    -----
    C and gamma are those of Table 1 of Glasmachers (2008), "The Planning-ahead SMO Algorithm",
    arXiv:1307.8305; they are None where that table does not have the set.

    Examples
    --------
    >>> heart = load("heart")
    >>> heart.X.shape, heart.C, heart.gamma
    ((270, 13), 1.0, 0.005)
    >>> heart.source
    'Statlog (Heart), UCI, doi:10.24432/C57303'
    """
    if name not in _ENTRIES:
        near = hint(str(name), names(), f"the bundled sets are {', '.join(names())}.")
        raise ValueError(f"name={name!r} is not a bundled set; {near}")
    entry = _ENTRIES[name]
    path = files("refsvm.datasets") / "bundle" / f"{name}.npz"
    with path.open("rb") as stream, np.load(stream, allow_pickle=False) as archive:
        X, y = archive["X"].astype(np.float64), archive["y"].astype(np.float64)
    return Dataset(name, X, y, entry.description, entry.source, _LICENCE, entry.C, entry.gamma)
