"""Files that may be packed; arrays of an .npz archive, with no more memory than it accounts for, nothing unpickled."""

from __future__ import annotations

import bz2
import gzip
import math
import os
import tokenize
import zipfile
import zlib
from pathlib import Path
from typing import IO, Any, Final

import numpy as np

__all__ = ["archived", "existing", "opened", "refused", "require_finite", "table"]

_CSR: Final = ("data", "indices", "indptr", "shape")

_EXPANSION: Final = 1032
"""Bytes that one byte of a deflated file can stand for at most."""

_UNREADABLE: Final = (
    ValueError, TypeError, LookupError, OverflowError, RecursionError, MemoryError, SyntaxError,
    AttributeError, NotImplementedError, RuntimeError, OSError, EOFError,
    tokenize.TokenError, zipfile.BadZipFile, zlib.error,
)  # fmt: skip
"""What zipfile and NumPy raise on damaged files, one by one met in trials with changed bytes."""


def refused(path: Path, reason: str) -> ValueError:
    """Return the error that says what is wrong with a file."""
    return ValueError(f"path={str(path)!r} {reason}")


def existing(path: str | os.PathLike[str]) -> Path:
    """Return the path of a file, or say that it is none."""
    if not Path(path).is_file():
        raise FileNotFoundError(f"path={os.fspath(path)!r} is not a file; check the spelling and the folder.")
    return Path(path)


def opened(path: Path) -> Any:
    """Open a file that may be packed, as bytes."""
    if path.suffix == ".gz":
        return gzip.open(path)
    return bz2.open(path) if path.suffix == ".bz2" else path.open("rb")


def require_finite(path: Path, values: np.ndarray) -> None:
    """Refuse NaN and infinity."""
    if not np.isfinite(values).all():
        raise refused(path, "contains NaN or infinity; drop or impute those entries first.")


def archived(path: Path) -> dict[str, np.ndarray]:
    """Return the arrays of an archive that make up X and y.

    Parameters
    ----------
    path : pathlib.Path
        An existing file.

    Returns
    -------
    dict of str to ndarray
        ``X`` and ``y``, or the CSR parts ``data``, ``indices``, ``indptr``, ``shape`` and ``y``.

    Raises
    ------
    ValueError
        If the file is no archive, is damaged, claims more values than it holds, or lacks an array.
    """
    if not zipfile.is_zipfile(path):
        raise refused(path, "is not an .npz archive; write it with numpy.savez_compressed.")
    try:
        with zipfile.ZipFile(path) as archive:
            held = [name.removesuffix(".npy") for name in archive.namelist()]
            wanted = ("X", "y") if "X" in held else (*_CSR, "y")
            missing = not set(wanted) <= set(held)
            parts = {} if missing else {name: _member(archive, f"{name}.npy") for name in wanted}
    except _UNREADABLE as error:
        reason = " ".join(str(error).split()).rstrip(".") or type(error).__name__
        raise refused(path, f"cannot be read as an .npz archive ({reason:.200}); write it anew.") from None
    if missing:
        shown = ", ".join(held) or "nothing"
        raise refused(path, f"holds {shown}; expected y and X, or y and {', '.join(_CSR)}.")
    return parts


def _member(archive: zipfile.ZipFile, name: str) -> np.ndarray:
    """Read one array, after its header has been compared with the bytes that are there."""
    info = archive.getinfo(name)
    if info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        raise ValueError(f"{name} is compressed in another way than deflate")
    if info.file_size > _EXPANSION * (info.compress_size + 1):
        raise ValueError(f"{name} claims to unpack to {info.file_size} bytes")
    with archive.open(info) as stream:
        # NumPy would reserve what the header claims, however little there is
        shape, dtype = _header(stream)
        size = math.prod(shape) * dtype.itemsize
        if not dtype.hasobject and size != info.file_size - stream.tell():
            raise ValueError(
                f"{name} claims {size} bytes of values, but holds {info.file_size - stream.tell()}"
            )
        stream.seek(0)
        return np.asarray(np.lib.format.read_array(stream, allow_pickle=False))


def _header(stream: IO[bytes]) -> tuple[tuple[int, ...], np.dtype[Any]]:
    """Return shape and dtype of the array that begins here."""
    version = np.lib.format.read_magic(stream)
    read = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
    shape, _, dtype = read(stream)
    return shape, dtype


def table(parts: dict[str, np.ndarray]) -> Any:
    """Return X as float64, dense or CSR.

    Parameters
    ----------
    parts : dict of str to ndarray
        What `archived` returns.

    Raises
    ------
    ValueError, TypeError
        If the parts do not make a table of numbers.
    """
    values = parts["X" if "X" in parts else "data"]
    if values.dtype.kind not in "biuf":
        raise ValueError(f"its values are of type {values.dtype}")
    with np.errstate(over="ignore"):  # what float64 does not hold becomes infinite, and is refused as such
        values = values.astype(np.float64)
    if "X" in parts:
        return values
    from scipy.sparse import csr_matrix

    size = parts["shape"]
    if size.shape != (2,) or size.dtype.kind not in "iu" or (size.astype(np.int64) < 0).any():
        raise ValueError("its shape is not two whole numbers")
    indices, indptr = (parts[key].astype(np.int64, casting="safe") for key in ("indices", "indptr"))
    n, d = size.tolist()
    if indptr.shape != (n + 1,):
        raise ValueError(f"its shape says {n} rows and indptr has {indptr.size} entries")
    X = csr_matrix((values, indices, indptr), shape=(n, d))
    X.check_format(full_check=True)
    return X
