"""Files that are whole or not there, and archives that take no more memory than their size accounts for."""

from __future__ import annotations

import math
import os
import secrets
import stat
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any, Final

import numpy as np

_EXPANSION: Final = 1032
"""Bytes that one byte of a deflated file can stand for at most."""


@contextmanager
def written_whole(file: str | os.PathLike[str]) -> Iterator[IO[bytes]]:
    """Yield a stream of bytes that takes the place of a file when the block ends without an error.

    The bytes go to a new file in the same folder, reach the disk, and replace the old file in one step. A full disk, an
    error in the block or a process that is killed leaves the old file as it was; one that is killed may leave a hidden
    file, whose name ends with ".part". Links are followed, and the permissions of the old file are kept. A pipe or a
    device is written to directly.

    Parameters
    ----------
    file : path-like

    Raises
    ------
    OSError
        If the file, or its folder, cannot be written to; the error names the file.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from refsvm.services.files import written_whole
    >>> file = Path(tempfile.mkdtemp(), "numbers")
    >>> with written_whole(file) as stream:
    ...     written = stream.write(b"1 2 3"), file.exists()
    >>> written, file.read_bytes()
    ((5, False), b'1 2 3')
    """
    target = os.path.realpath(file)
    folder, name = os.path.split(target)
    beside = os.path.join(folder, f".{name[:100]}.{secrets.token_hex(4)}.part")  # noqa: PTH118
    try:
        old = _replaceable(target)
        if old is not None and not stat.S_ISREG(old.st_mode):
            with open(target, "wb") as stream:  # noqa: PTH123  the tests count what it writes
                yield stream
            return
        try:
            with open(beside, "xb") as stream:  # noqa: PTH123
                if old is not None:
                    _like(beside, old)
                yield stream
                stream.flush()
                os.fsync(stream.fileno())
            os.replace(beside, target)  # noqa: PTH105
        except BaseException:
            with suppress(OSError):
                os.unlink(beside)  # noqa: PTH108
            raise
        _sync_folder(folder)
    except OSError as error:
        # an error of a full disk names no file, and the user has not heard of the one beside
        if error.errno is not None and error.filename in (None, beside, target):
            raise OSError(error.errno, error.strerror, os.fspath(file)) from None
        raise


def _replaceable(target: str) -> os.stat_result | None:
    """Return the state of a file that is to be replaced, or None; a file that is read-only is not replaced."""
    try:
        found = os.stat(target)  # noqa: PTH116
    except FileNotFoundError:
        return None
    if not os.access(target, os.W_OK):
        raise PermissionError(13, "Permission denied", target)
    return found


def _like(file: str, old: os.stat_result) -> None:
    """Give a new file the owner and the permissions of the old one, as far as the system allows."""
    with suppress(OSError, AttributeError):  # Windows has no owners
        if (old.st_uid, old.st_gid) != (os.geteuid(), os.getegid()):
            os.chown(file, old.st_uid, old.st_gid)
    with suppress(OSError):
        os.chmod(file, stat.S_IMODE(old.st_mode) & 0o777)  # noqa: PTH101


def _sync_folder(folder: str) -> None:
    """Bring the names in a folder to the disk, where the system can."""
    with suppress(OSError):
        number = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(number)
        finally:
            os.close(number)


def is_same_file(one: str | os.PathLike[str], other: str | os.PathLike[str]) -> bool:
    """Whether two names, by links or spelling, are one file or pipe that is there; devices, such as a null, are not."""
    try:
        first, second = Path(one).stat(), Path(other).stat()
    except (OSError, ValueError):
        return False
    return os.path.samestat(first, second) and not stat.S_ISCHR(first.st_mode)


def member(archive: zipfile.ZipFile, name: str) -> np.ndarray:
    """Read one array of an archive, after its header has been compared with the bytes that are there.

    Nothing is unpickled.

    Raises
    ------
    ValueError
        If the array claims more than the archive holds.
    """
    info = archive.getinfo(name)
    if info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        raise ValueError(f"{name} is compressed in another way than deflate")
    # a few bytes may claim to be gigabytes, which unpacking would fill the memory with
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
