"""Writes files so that a failure leaves the old file unchanged, and reads archives whose headers may be false."""

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
"""Largest number of bytes that one byte of a deflated file can expand to."""


@contextmanager
def written_whole(file: str | os.PathLike[str]) -> Iterator[IO[bytes]]:
    """Yield a stream of bytes; if the block ends without an error, these bytes become the file's new content.

    The stream writes to a new file in the same folder. At the end, `written_whole` flushes the new file to the disk and
    replaces the old file in one step. The old file stays unchanged if the disk is full, the block raises an error or
    the process is killed; a killed process may leave a hidden file whose name ends with ".part". The new file gets the
    permissions of the old file. If `file` is a link, the new file replaces the link's target. If `file` is a pipe or a
    device, the stream writes directly to it.

    Parameters
    ----------
    file : path-like
        The file to write.

    Raises
    ------
    OSError
        If the file or its folder cannot be written to; the error names the file.

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
            with open(target, "wb") as stream:  # noqa: PTH123  the tests count the bytes written
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
        # name the target in the error: a full disk's error names no file, and the user does not know the temporary file
        if error.errno is not None and error.filename in (None, beside, target):
            raise OSError(error.errno, error.strerror, os.fspath(file)) from None
        raise


def _replaceable(target: str) -> os.stat_result | None:
    """Return `os.stat` of the file to be replaced, or None if it does not exist; raise an error if it is read-only."""
    try:
        info = os.stat(target)  # noqa: PTH116
    except FileNotFoundError:
        return None
    if not os.access(target, os.W_OK):
        raise PermissionError(13, "Permission denied", target)
    return info


def _like(file: str, old: os.stat_result) -> None:
    """Give a new file the owner and the permissions of the old file, if the system allows it."""
    with suppress(OSError, AttributeError):  # Windows has no os.chown
        if (old.st_uid, old.st_gid) != (os.geteuid(), os.getegid()):
            os.chown(file, old.st_uid, old.st_gid)
    with suppress(OSError):
        os.chmod(file, stat.S_IMODE(old.st_mode) & 0o777)  # noqa: PTH101


def _sync_folder(folder: str) -> None:
    """Flush the file names of a folder to the disk, if the system can do so."""
    with suppress(OSError):
        number = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(number)
        finally:
            os.close(number)


def is_same_file(one: str | os.PathLike[str], other: str | os.PathLike[str]) -> bool:
    """Return whether two names denote the same existing file or pipe; return False for devices such as /dev/null."""
    try:
        first, second = Path(one).stat(), Path(other).stat()
    except (OSError, ValueError):
        return False
    return os.path.samestat(first, second) and not stat.S_ISCHR(first.st_mode)


def member(archive: zipfile.ZipFile, name: str) -> np.ndarray:
    """Read one array from an archive, after comparing its header with the number of bytes present.

    The array is never unpickled.

    Raises
    ------
    ValueError
        If the header claims more bytes than the archive contains.
    """
    info = archive.getinfo(name)
    if info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        raise ValueError(f"{name} is not compressed by deflate")
    # check the size in the archive's directory, because a few bytes could unpack to gigabytes and fill the memory
    if info.file_size > _EXPANSION * (info.compress_size + 1):
        raise ValueError(f"{name} claims to unpack to {info.file_size} bytes")
    with archive.open(info) as stream:
        # check the header first: NumPy would reserve memory for the shape that it claims, even if few bytes follow
        shape, dtype = _header(stream)
        size = math.prod(shape) * dtype.itemsize
        if not dtype.hasobject and size != info.file_size - stream.tell():
            raise ValueError(
                f"{name} claims {size} bytes of values, but holds {info.file_size - stream.tell()}"
            )
        stream.seek(0)
        return np.asarray(np.lib.format.read_array(stream, allow_pickle=False))


def _header(stream: IO[bytes]) -> tuple[tuple[int, ...], np.dtype[Any]]:
    """Return shape and dtype of the array that starts at the present position of the stream."""
    version = np.lib.format.read_magic(stream)
    read = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
    shape, _, dtype = read(stream)
    return shape, dtype
