"""Small UCI sets that are part of the package; ``bundle/SOURCES.md`` lists their sources."""

from __future__ import annotations

import tomllib
from dataclasses import replace
from functools import cache
from typing import Any, Final

import numpy as np

from refsvm.core._checks import hint
from refsvm.datasets.dataset import BUNDLE, PUBLISHED, Dataset
from refsvm.datasets.generators import (
    make_banana,
    make_chessboard,
    make_ringnorm,
    make_twonorm,
    make_waveform,
)

GENERATED: Final = {
    each.__name__.removeprefix("make_"): each
    for each in (make_banana, make_chessboard, make_ringnorm, make_twonorm, make_waveform)
}
"""The generators by the names of their sets."""

GENERATED_N: Final = 1000
"""Number of examples of a generated set."""

MODERATE_C: Final = 1e4
"""Largest published C that `load` returns with a generated set."""

_LICENCE: Final = "CC BY 4.0"


@cache
def _sets() -> dict[str, dict[str, Any]]:
    """Return a dict from the name of each set to its description in ``bundle/sets.toml``."""
    return tomllib.loads((BUNDLE / "sets.toml").read_text(encoding="utf-8"))


def names() -> list[str]:
    """Return the names of the bundled sets in alphabetical order.

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
        One of `names()`; or banana, chessboard, ringnorm, twonorm or waveform, for which the same 1,000 examples are
        generated each time. chessboard is returned without its published C of 1e6, because a solve with this C takes
        minutes.

    Returns
    -------
    Dataset
        X dense float64 of shape (n, d), y float64 ±1.

    Raises
    ------
    ValueError
        If there is no bundled set with this name.

    Notes
    -----
    C and gamma come from Table 1 of Glasmachers (2008), "The Planning-ahead SMO Algorithm", arXiv:1307.8305; they are
    None if the table does not contain the set.

    Examples
    --------
    >>> heart = load("heart")
    >>> heart.X.shape, heart.C, heart.gamma
    ((270, 13), 1.0, 0.005)
    >>> heart.source
    'Statlog (Heart), UCI, doi:10.24432/C57303'
    """
    if name not in names():
        if name in GENERATED:
            made = GENERATED[name](GENERATED_N, rng=0)
            return replace(made, C=None) if made.C is not None and made.C > MODERATE_C else made
        near = hint(
            str(name), [*names(), *GENERATED],
            f"the bundled sets are {', '.join(names())}; {', '.join(GENERATED)} are generated.",
        )  # fmt: skip
        raise ValueError(f"name={name!r} is not a bundled set; {near}")
    # read the file as a resource of the package, because the package may be imported from a zip file
    with (BUNDLE / f"{name}.npz").open("rb") as stream, np.load(stream, allow_pickle=False) as archive:
        X, y = archive["X"].astype(np.float64), archive["y"].astype(np.float64)
    entry = dict(_sets()[name])
    C, gamma = PUBLISHED.get(entry.pop("published", ""), (None, None))
    columns = entry.pop("columns", None)
    columns = None if columns is None else tuple(columns)
    return Dataset(name, X, y, licence=_LICENCE, C=C, gamma=gamma, columns=columns, **entry)
