"""Files of a test: written, packed as their names say, and refused in one sentence that names them."""

from __future__ import annotations

import bz2
import gzip
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from refsvm.datasets import open_data

PACKERS = {".gz": gzip.compress, ".bz2": bz2.compress}


def written(path: Path, content: str | bytes) -> Path:
    """Write a text, packed where the name says so, or bytes as they are; return the path."""
    is_text = isinstance(content, str)
    path.write_bytes(PACKERS.get(path.suffix, bytes)(content.encode()) if is_text else content)
    return path


def refused(path: Path, *more: Any, says: str, read: Callable[..., Any] = open_data) -> None:
    with pytest.raises(ValueError, match=says) as caught:
        read(path, *more)
    assert str(path) in str(caught.value)
    assert "\n" not in str(caught.value)
