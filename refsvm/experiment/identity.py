"""What makes two runs the same run: a description of everything that changes the outcome, and its hash."""

from __future__ import annotations

import hashlib
import json
import math
import re
import sys
from collections.abc import Mapping
from typing import Any

import numpy as np

from refsvm._checks import is_sparse

__all__ = ["described", "digest", "fingerprint"]


def described(name: str, value: Any) -> str | int | float | bool | None:
    """Return a value as JSON can hold it; an object by its package and its repr.

    Parameters
    ----------
    name : str
        What the value is, for the message.
    value : object
        None, a number, a string, or an object whose repr says all that matters: a frozen dataclass.

    Returns
    -------
    str, int, float, bool or None

    Raises
    ------
    ValueError
        If the repr holds a memory address, as that of a function does: it is another one in every process.

    Examples
    --------
    >>> from refsvm import RBF
    >>> from refsvm.experiment.identity import described
    >>> described("kernel", RBF(gamma=0.5)), described("cache_mb", float("inf")), described("trace", False)
    ('refsvm: RBF(gamma=0.5)', 'inf', False)
    """
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    with np.printoptions(threshold=sys.maxsize, floatmode="unique"):
        text = repr(value)
    if re.search(r"\bat 0x[0-9a-fA-F]+", text):
        raise ValueError(
            f"{name}={text} has no lasting description, by which a finished run could be found again; make it a "
            "frozen dataclass (with __call__ if it is a function)."
        )
    return f"{type(value).__module__.partition('.')[0]}: {text}"


def fingerprint(X: Any, y: np.ndarray) -> str:
    """Return a hash of examples and labels.

    Parameters
    ----------
    X : ndarray or CSR of shape (n, d), float64
    y : ndarray of shape (n,), float64

    Returns
    -------
    str
        32 hexadecimal digits.

    Examples
    --------
    >>> import numpy as np
    >>> from refsvm.experiment.identity import fingerprint
    >>> X, y = np.array([[0.0], [1.0]]), np.array([-1.0, 1.0])
    >>> fingerprint(X, y) == fingerprint(X.copy(), y), fingerprint(X, y) == fingerprint(X, -y)
    (True, False)
    """
    parts = [X.data, X.indices.astype(np.int64), X.indptr.astype(np.int64)] if is_sparse(X) else [X]
    summary = hashlib.blake2b(repr((X.shape, is_sparse(X))).encode(), digest_size=16)
    for part in (*parts, y):
        summary.update(np.ascontiguousarray(part).data)
    return summary.hexdigest()


def digest(config: Mapping[str, Any]) -> str:
    """Return the hash of a configuration: SHA-256 of its JSON with sorted keys, 64 hexadecimal digits."""
    text = json.dumps(config, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return hashlib.sha256(text.encode()).hexdigest()
