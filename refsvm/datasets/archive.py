"""Reads files and pipes, which may be packed, and the arrays of an .npz archive.

The module never unpickles an archive, and reads an array only if the archive is large enough to contain it.
"""

from __future__ import annotations

import bz2
import gzip
import lzma
import os
import stat
import sys
import zipfile
import zlib
from io import BytesIO
from pathlib import Path
from typing import IO, Any, Final

import numpy as np

from refsvm.services.files import member
from refsvm.services.printable import printable

_CSR: Final = ("data", "indices", "indptr", "shape")

_UNPACKED: Final[dict[bytes, Any]] = {b"\x1f\x8b": gzip.open, b"BZh": bz2.open, b"\xfd7zXZ": lzma.open}
"""Functions that open packed files, by the first bytes of a file."""

_FOREIGN: Final = {b"PK\3\4": "a zip archive or a workbook", b"\x28\xb5\x2f\xfd": "packed by zstd",
                   b"7z\xbc\xaf": "packed by 7-Zip", b"\xd0\xcf\x11\xe0": "a workbook"}  # fmt: skip

UNPACKING: Final = (OSError, EOFError, zlib.error, lzma.LZMAError)
"""Errors that a damaged packed file raises."""


STANDARD_INPUT: Final = "-"
"""The file name that means the standard input, as in other programs."""


class Source:
    """A file, or the content of a pipe, which is stored because a pipe can be read only once.

    Parameters
    ----------
    name : str
        The name that the caller used, which error messages show.
    content : bytes, optional
        The bytes of a pipe; None for a file, which is opened when it is read.
    """

    def __init__(self, name: str, content: bytes | None = None) -> None:
        self.name, self.content = name, content

    def __str__(self) -> str:
        return self.name

    def open(self) -> IO[bytes]:
        """Return a stream of bytes from the beginning of the source."""
        return Path(self.name).open("rb") if self.content is None else BytesIO(self.content)


def refused(source: Source, reason: str) -> ValueError:
    """Return a ValueError that names the source and says what is wrong with it."""
    return ValueError(printable(f"path={str(source)!r} {reason}"))


def existing(path: str | os.PathLike[str] | Source) -> Source:
    """Return the `Source` for the path of a file or a pipe, or for the standard input ("-").

    Raises
    ------
    FileNotFoundError
        If there is no such file.
    ValueError
        If the path is a terminal or another device, which never ends.
    """
    if isinstance(path, Source):
        return path
    name = os.fspath(path)
    if name == STANDARD_INPUT:
        return Source(name, _held(name, getattr(sys.stdin, "buffer", None)))
    if Path(name).is_file():
        return Source(name)
    # read the whole pipe (/dev/stdin, /dev/fd/63 or one made by mkfifo) now, because it can be read only once
    if Path(name).is_fifo() or (Path(name).exists() and not Path(name).is_dir()):
        with Path(name).open("rb") as stream:
            return Source(name, _held(name, stream))
    raise FileNotFoundError(f"path={name!r} is not a file; check the spelling and the folder.")


def _held(name: str, stream: IO[bytes] | None) -> bytes:
    """Return the whole content of a stream; raise an error for a device that never ends."""
    if stream is None or stream.closed:
        raise ValueError(f"path={name!r} is the standard input, which is closed; give a file.")
    if stream.isatty() or _is_endless(stream):
        raise ValueError(f"path={name!r} is a terminal or another device; give a file or a pipe.")
    try:
        content = stream.read()
    except OSError as error:
        raise ValueError(f"path={name!r} cannot be read: {error.strerror or error}.") from None
    if not content:
        raise ValueError(f"path={name!r} is empty; a pipe can be read only once.")
    return content


def _is_endless(stream: IO[bytes]) -> bool:
    """Return whether a stream is a device that never ends, such as /dev/zero; /dev/null is empty and ends."""
    try:
        mode = os.fstat(stream.fileno())
    except (OSError, ValueError):  # a program may replace sys.stdin by any object
        return False
    is_device = stat.S_ISCHR(mode.st_mode) or stat.S_ISBLK(mode.st_mode)
    return is_device and mode.st_rdev != Path(os.devnull).stat().st_rdev


def opened(source: Source) -> Any:
    """Return a stream of a file's bytes, unpacked if the first bytes are the mark of gzip, bzip2 or xz."""
    # recognise a packed file by its first bytes, because its name need not show the format
    with source.open() as stream:
        first = stream.read(6)
    for mark, kind in _FOREIGN.items():
        if first.startswith(mark):
            raise refused(source, f"is {kind}; unpack it, or save it as text.")
    packed = [unpacked for mark, unpacked in _UNPACKED.items() if first.startswith(mark)]
    if not packed:
        return source.open()
    # pass the name of a file: a stream passed here would stay open after the unpacked stream is closed
    return packed[0](source.name if source.content is None else source.open())


def is_archive(source: Source, *, may_be_damaged: bool = False) -> bool:
    """Return whether a file is a zip archive that contains only NumPy arrays, as numpy.savez writes it."""
    try:
        with source.open() as stream:
            if stream.read(4) != b"PK\3\4":
                return False
            if may_be_damaged:
                return True
            with zipfile.ZipFile(stream) as archive:
                return all(name.endswith(".npy") for name in archive.namelist())
    except (OSError, zipfile.BadZipFile, ValueError):
        return False


def archived(source: Source) -> dict[str, np.ndarray]:
    """Read y and X, or y and the CSR parts of X, from an archive; return a dict of the arrays.

    Parameters
    ----------
    source : Source
        The archive.

    Returns
    -------
    dict of str to ndarray
        ``X`` and ``y``, or the CSR parts ``data``, ``indices``, ``indptr``, ``shape`` and ``y``.

    Raises
    ------
    ValueError
        If the file is not an archive, is damaged, claims to contain more values than it does, or lacks an array.
    """
    stream = source.open()
    if not zipfile.is_zipfile(stream):
        stream.close()
        raise refused(source, "is not an .npz archive; write it with numpy.savez_compressed.")
    try:
        with stream, zipfile.ZipFile(stream) as archive:
            held = [name.removesuffix(".npy") for name in archive.namelist()]
            wanted = ("X", "y") if "X" in held else (*_CSR, "y")
            missing = not set(wanted) <= set(held)
            parts = {} if missing else {name: member(archive, f"{name}.npy") for name in wanted}
    except Exception as error:  # noqa: BLE001 (zipfile and NumPy raise errors of many kinds on damaged files)
        reason = " ".join(str(error).split()).rstrip(".") or type(error).__name__
        raise refused(source, f"cannot be read as an .npz archive ({reason:.200}); save it again.") from None
    if missing:
        shown = ", ".join(held) or "nothing"
        raise refused(source, f"contains {shown}; expected y and X, or y and {', '.join(_CSR)}.")
    return parts


def table(parts: dict[str, np.ndarray]) -> Any:
    """Return X from the arrays of an archive, as float64, dense or CSR.

    Parameters
    ----------
    parts : dict of str to ndarray
        The arrays, as returned by `archived`.

    Raises
    ------
    ValueError, TypeError
        If the arrays do not form a table of numbers.
    """
    values = parts["X" if "X" in parts else "data"]
    if values.dtype.kind not in "biuf":
        raise ValueError(f"the values are of type {values.dtype}, not numbers")
    with np.errstate(over="ignore"):  # numbers that are too large become infinite, and are refused later
        values = values.astype(np.float64)
    if "X" in parts:
        return values
    from scipy.sparse import csr_matrix

    size = parts["shape"]
    if size.shape != (2,) or size.dtype.kind not in "iu" or (size.astype(np.int64) < 0).any():
        raise ValueError("the array shape does not contain two whole numbers")
    indices, indptr = (parts[key].astype(np.int64, casting="safe") for key in ("indices", "indptr"))
    n, d = size.tolist()
    if indptr.shape != (n + 1,):
        raise ValueError(f"the array shape says {n} rows, but indptr has {indptr.size} entries, not {n + 1}")
    X = csr_matrix((values, indices, indptr), shape=(n, d))
    X.check_format(full_check=True)
    return X
