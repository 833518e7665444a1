"""Files of compiled code: finds their folders, and checks who may have written a file and whether it is complete.

refsvm runs compiled code without checking what it does. Therefore refsvm uses a folder only if no users can write to it
except this user, the administrator, and users who can change the source files beside the folder. A file of compiled
code is used only if its digest is right. This module does not import Numba.

`load` searches three folders in this order: the folder that ``NUMBA_CACHE_DIR`` names, ``__pycache__`` beside the
source, and the user's cache. Code is read from all folders up to the first writable folder, and new code is written to
the first writable folder. All users can use code that an administrator has compiled beside the package.
"""

from __future__ import annotations

import hashlib
import os
import stat
import sys
import warnings
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Final

from refsvm.compiled.interface.stamp import stamp
from refsvm.services.files import written_whole

COMPILED: Final = Path(__file__).parents[1]

_DIGEST_BYTES: Final = 32

_said: set[str] = set()
"""Warnings that were given in this process."""

LOOKS: list[Callable[..., bool]] = []
"""Checks for the compiled code of a function; the check of `refsvm.compiled.auto` is False while a child compiles."""


def cache_folder() -> str | None:
    """Return the folder that the user has named in ``NUMBA_CACHE_DIR``, or None."""
    numba = sys.modules.get("numba")
    return (os.environ.get("NUMBA_CACHE_DIR") if numba is None else numba.config.CACHE_DIR) or None


def may_be_on_disk(place: str) -> bool:
    """Return True if compiled code of a file, such as "solver/loop", may be on disk; only `load` finds out."""
    file = COMPILED / place
    pattern = f"{file.name}.*_{stamp()}-*.nbc"
    return any(True for folder in folders_of(file) for _ in folder.glob(pattern))


def load(source: str | None, name: str, key: str) -> bytes | None:
    """Return the compiled code of a function, or None if there is no code that can be trusted.

    Parameters
    ----------
    source : str or None
        The source file of the function; None if the function was typed at a prompt.
    name : str
        Name of the file of compiled code.
    key : str
        Everything on which the code depends: the function, its types, the processor, versions.
    """
    for folder in folders_of(source):
        with suppress(OSError), (folder / name).open("rb") as stream:
            digest, content = stream.read(_DIGEST_BYTES), stream.read()
            # check the owner of each file: others may have written files when they could still write to the folder
            owner = folder.stat().st_uid
            if digest == _digest(key, content) and not _stranger(os.fstat(stream.fileno()), 0o755, owner):
                return content
    return None


def save(source: str | None, name: str, key: str, content: bytes) -> None:
    """Store the compiled code of a function where `load` finds it; warn if no folder is writable."""
    if not can_keep(source):
        return
    folder = folders_of(source)[-1]
    try:
        # set permissions regardless of the process's mask: `load` reads no files to which others may write
        for each in (folder.parent, folder):
            each.mkdir(mode=0o755, parents=True, exist_ok=True)
        with written_whole(folder / name) as stream:
            if hasattr(os, "fchmod"):
                os.fchmod(stream.fileno(), stat.S_IMODE(os.fstat(stream.fileno()).st_mode) & ~0o022)
            stream.write(_digest(key, content) + content)
    except OSError as error:
        _warn_that_nothing_is_kept(f"{str(folder)!r}: {error.strerror or error}")


def can_keep(source: str | os.PathLike[str] | None) -> bool:
    """Return True if a folder for the compiled code of a source file is writable; warn if no folder is.

    Warns
    -----
    UserWarning
        Once in a process.
    """
    folders = folders_of(source)
    if folders and _can_write(folders[-1]):
        return True
    _warn_that_nothing_is_kept("no folder for it is writable")
    return False


def _digest(key: str, content: bytes) -> bytes:
    summary = hashlib.sha256(key.encode())
    summary.update(content)
    return summary.digest()


# -- folders ---------------------------------------------------------------------------------------------------------


def folders_of(source: str | os.PathLike[str] | None) -> tuple[Path, ...]:
    """Return the trusted folders for the compiled code of a source file, up to the first writable folder.

    Warns
    -----
    UserWarning
        Once in a process, if other users may have written to a folder.
    """
    folder = None if source is None else os.path.dirname(os.path.abspath(source))  # noqa: PTH100, PTH120  links stay
    return _folders(folder, cache_folder())


@cache
def _folders(source: str | None, named: str | None) -> tuple[Path, ...]:
    # name the folder as Numba names folders in a cache of several packages
    number = hashlib.sha1((source or "").encode(), usedforsecurity=False).hexdigest()
    own = "typed" if source is None else f"{Path(source).name}_{number}"
    candidates = [
        (folder := Path(above, own), [_reason(Path(above)), _reason(folder)])
        for above in (named, _cache_of_user())
        if above
    ]
    if source is not None:
        beside = Path(source, "__pycache__")
        candidates.insert(named is not None, (beside, [_reason(beside, Path(source))]))
    trusted: list[Path] = []
    for folder, reasons in candidates:
        if reason := next(filter(None, reasons), None):
            _once(
                f"The folder of compiled code {reason}, so other users could make this process run their code; the "
                "folder is not used. Delete it, remove the permission of others to write to it, or set the variable "
                "NUMBA_CACHE_DIR to a folder of your own."
            )
            continue
        trusted.append(folder)
        if _can_write(folder):
            break
    return tuple(trusted)


def _cache_of_user() -> str:
    """Return this user's folder for caches, as in Numba."""
    home = os.path.expanduser("~")  # noqa: PTH111  returns "~" for a user without a home folder
    if os.name == "nt":
        return str(Path(os.environ.get("LOCALAPPDATA", home), "numba", "Cache"))
    if sys.platform == "darwin":
        return str(Path(home, "Library", "Caches", "numba"))
    return str(Path(os.environ.get("XDG_CACHE_HOME") or Path(home, ".cache"), "numba"))


def _can_write(folder: Path) -> bool:
    """Return True if a folder is writable, or does not exist and can be made."""
    try:
        nearest = next(each for each in (folder, *folder.absolute().parents) if each.exists())
        return nearest.is_dir() and os.access(nearest, os.W_OK)
    except OSError:
        return False


def _reason(folder: Path, source: Path | None = None) -> str | None:
    """Return a phrase that says who may have written to a folder; None if the folder can be trusted or does not exist.

    Users who can change `source`, the folder of the source code, are trusted.
    """
    try:
        state, like = folder.stat(), (source or folder).stat()
    except OSError:
        return None
    allowed = 0o755 if source is None else 0o755 | stat.S_IMODE(like.st_mode)
    # with the sticky bit, as in /tmp, other users can only add files, and `load` checks the owners of files
    allowed |= 0o777 * bool(state.st_mode & stat.S_ISVTX)
    who = _stranger(state, allowed, None if source is None else like.st_uid)
    return None if who is None else f"{str(folder)!r} {who}"


def _stranger(state: os.stat_result, allowed: int, owner: int | None) -> str | None:
    """Return a phrase that says who can write to a path besides this user, the administrator and `owner`, or None."""
    if not hasattr(os, "geteuid"):  # on Windows, no other user can write to a user's folders
        return None
    excess = state.st_mode & ~allowed
    if state.st_uid not in (os.geteuid(), 0, owner):
        return f"belongs to a user (number {state.st_uid}) who can write to it"
    if excess & stat.S_IWOTH:
        return "is open to all users, who can write to it"
    if excess & stat.S_IWGRP and not _is_private(state.st_gid):
        return f"is open to a group (number {state.st_gid}) whose members can write to it"
    return None


def _is_private(group: int) -> bool:
    """Return True if a group has a single user; many systems make such a group for each user."""
    try:
        import grp
        import pwd

        entry, name = grp.getgrgid(group), pwd.getpwuid(os.geteuid()).pw_name
    except (ImportError, KeyError):
        return False
    return entry.gr_name == name and set(entry.gr_mem) <= {name}


def _warn_that_nothing_is_kept(reason: str) -> None:
    _once(
        f"refsvm cannot keep compiled code ({reason}). engine='auto' goes on in NumPy, and engine='numba' compiles for "
        "some seconds in each process; set the variable NUMBA_CACHE_DIR to a folder that can be written to."
    )


def _once(sentence: str) -> None:
    """Warn with this sentence, unless this process has already given the warning."""
    kind = sentence[:20]
    if kind not in _said:
        _said.add(kind)
        warnings.warn(sentence, stacklevel=2)
