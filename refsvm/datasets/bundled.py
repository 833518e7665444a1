"""The small UCI sets that ship with the package; ``bundle/SOURCES.md`` tells where each comes from."""

from __future__ import annotations

import tomllib
from functools import cache
from typing import Any, Final

import numpy as np

from refsvm._checks import hint
from refsvm.datasets.dataset import BUNDLE, PUBLISHED, Dataset

_LICENCE: Final = "CC BY 4.0"


@cache
def _sets() -> dict[str, dict[str, Any]]:
    """Return what is told of each set, by its name, out of ``bundle/sets.toml``."""
    return tomllib.loads((BUNDLE / "sets.toml").read_text(encoding="utf-8"))


def names() -> list[str]:
    """Names of the bundled sets, in alphabetical order.

    Returns
    -------
    list of str
        Names that `load` accepts.

    Examples
    --------
    >>> names()[:3]
    ['breast_cancer', 'heart', 'ionosphere']
    """
    return sorted(_sets())


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
    if name not in names():
        near = hint(str(name), names(), f"the bundled sets are {', '.join(names())}.")
        raise ValueError(f"name={name!r} is not a bundled set; {near}")
    # through the resource and not a path: a package may be imported from a zip file
    with (BUNDLE / f"{name}.npz").open("rb") as stream, np.load(stream, allow_pickle=False) as archive:
        X, y = archive["X"].astype(np.float64), archive["y"].astype(np.float64)
    told = dict(_sets()[name])
    C, gamma = PUBLISHED.get(told.pop("published", ""), (None, None))
    return Dataset(name, X, y, licence=_LICENCE, C=C, gamma=gamma, **told)
