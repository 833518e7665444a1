"""Defines names for the types of arguments; signatures show these names.

For a type checker all these types are Any, because libraries differ in what is array-like, and functions check their
arguments when they are called.
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
