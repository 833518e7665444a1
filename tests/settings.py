"""Which optional packages and compiled code the tests find, and examples and a call that many tests share."""

from __future__ import annotations

import os
from collections.abc import Callable
from importlib.util import find_spec
from typing import Any

import numpy as np
import pytest

NUMBA = find_spec("numba") is not None and find_spec("refsvm.compiled") is not None
INTERPRETED = os.environ.get("NUMBA_DISABLE_JIT", "0") not in ("", "0")
FAST = "numba" if NUMBA and not INTERPRETED else "numpy"

# asked when a test begins: a plugin that changes the last bits of kernel values may come after this file
needs_same_bits = pytest.mark.skipif(
    "sys.modules['refsvm'].RBF.from_inner.__qualname__ != 'RBF.from_inner'",
    reason="kernel values are changed on purpose",
)
needs_numba = pytest.mark.skipif(not NUMBA, reason="Numba is not installed")
needs_jit = pytest.mark.skipif(not NUMBA or INTERPRETED, reason="compiled functions are run as Python here")


def interrupted(call: Callable[..., Any], *arguments: Any, **options: Any) -> Any:
    """Return what a call had found when Ctrl-C ended it: KeyboardInterrupt is raised, and holds it."""
    with pytest.raises(KeyboardInterrupt, match="interrupted") as raised:
        call(*arguments, **options)
    return raised.value.result


def noisy_classes(
    n: int, d: int, seed: Any, *, noise: float = 1.0, above: float = 0.0
) -> tuple[np.ndarray, np.ndarray]:
    """Return normal features and labels ±1, the sign of the first feature with noise on it."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    return X, np.where(X[:, 0] + noise * rng.normal(size=n) > above, 1, -1)
