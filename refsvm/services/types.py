"""Names for what an argument may be, as signatures show them.

A type checker takes all of them for Any: what is array-like differs from library to library, and is checked when a
function is called.
"""

from __future__ import annotations

from typing import Any, TypeAlias

from refsvm.core._checks import ArrayLike as ArrayLike  # noqa: PLC0414  signatures import all of them from here

KernelLike: TypeAlias = Any
"""A name, a `Kernel`, `Precomputed()`, or a function of two arrays of examples."""

FoldsLike: TypeAlias = Any
"""A number, the fold of each example, a splitter, or pairs (train, test)."""

RandomLike: TypeAlias = Any
"""A seed, a generator of NumPy, or None."""

RulesLike: TypeAlias = Any
"""Rules by name, as objects or as classes: one, several, or a dict of them."""

ScorerLike: TypeAlias = Any
"""A name, a scorer of scikit-learn, or several of them."""

LossLike: TypeAlias = Any
"""A name, or a `refsvm.analysis.derivatives.losses.Loss`."""

NamesLike: TypeAlias = Any
"""A name, or several."""

RefitLike: TypeAlias = Any
"""True or False, the name of a score, or a function of the results."""

EstimatorLike: TypeAlias = Any
"""A fitted estimator."""
