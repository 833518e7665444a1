"""Files of compiled code: the folders in which they lie, who may have written them, and whether they are whole.

Compiled code is run as it is. So a folder is read only if none may write to it but this user, the administrator, and
those who can change the source beside it; and a file only if its digest fits. Nothing here imports Numba.

The folders, in this order: the one that ``NUMBA_CACHE_DIR`` names, ``__pycache__`` beside the source, and the cache of
the user. They are read up to the first that can be written to, and that one keeps what is compiled. So all users have
the code that an administrator has compiled beside the package.
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
"""What this process has been warned of."""

LOOKS: list[Callable[..., bool]] = []
"""`refsvm.compiled.auto` puts its look for the code of a function here: False where a child process compiles it now."""


def cache_folder() -> str | None:
    """Return the folder that the user has named for Numba's cache, if any."""
    numba = sys.modules.get("numba")
    return (os.environ.get("NUMBA_CACHE_DIR") if numba is None else numba.config.CACHE_DIR) or None


def may_be_on_disk(place: str) -> bool:
    """Whether there seems to be code of a file of `compiled/`, such as "solver/loop"; to see for certain, load it."""
    file = COMPILED / place
    pattern = f"{file.name}.*_{stamp()}-*.nbc"
    return any(True for folder in folders_of(file) for _ in folder.glob(pattern))


def load(source: str | None, name: str, key: str) -> bytes | None:
    """Return the compiled code of a function, or None if there is none that can be trusted.

    Parameters
    ----------
    source : str or None
        The file in which the function stands; None if it was typed in.
    name : str
        Of the file of compiled code.
    key : str
        All that the code depends on: the function, its types, the processor, versions.
    """
    for folder in folders_of(source):
        with suppress(OSError), (folder / name).open("rb") as stream:
            digest, content = stream.read(_DIGEST_BYTES), stream.read()
            # a folder that others could write to before may still hold what they have put there
            owner = folder.stat().st_uid
            if digest == _digest(key, content) and not _stranger(os.fstat(stream.fileno()), 0o755, owner):
                return content
    return None


def save(source: str | None, name: str, key: str, content: bytes) -> None:
    """Keep the compiled code of a function where `load` finds it; warn if there is no place for it."""
    if not can_keep(source):
        return
    folder = folders_of(source)[-1]
    try:
        # whatever the mask of the process is: what others may write to is not read again
        for each in (folder.parent, folder):
            each.mkdir(mode=0o755, parents=True, exist_ok=True)
        with written_whole(folder / name) as stream:
            if hasattr(os, "fchmod"):
                os.fchmod(stream.fileno(), stat.S_IMODE(os.fstat(stream.fileno()).st_mode) & ~0o022)
            stream.write(_digest(key, content) + content)
    except OSError as error:
        _warn_that_nothing_is_kept(f"{str(folder)!r}: {error.strerror or error}")


def can_keep(source: str | os.PathLike[str] | None) -> bool:
    """Whether a folder for the code of a source file can be written to; warn if none can.

    Warns
    -----
    UserWarning
        Once in a process.
    """
    folders = folders_of(source)
    if folders and _can_write(folders[-1]):
        return True
    _warn_that_nothing_is_kept("no folder for it can be written to")
    return False


def _digest(key: str, content: bytes) -> bytes:
    summary = hashlib.sha256(key.encode())
    summary.update(content)
    return summary.digest()


# -- folders ---------------------------------------------------------------------------------------------------------


def folders_of(source: str | os.PathLike[str] | None) -> tuple[Path, ...]:
    """Return the folders for the compiled code of a source file that are trusted, up to the first writable one.

    Warns
    -----
    UserWarning
        Once in a process, if other users may have written to one of them.
    """
    folder = None if source is None else os.path.dirname(os.path.abspath(source))  # noqa: PTH100, PTH120  links stay
    return _folders(folder, cache_folder())


@cache
def _folders(source: str | None, named: str | None) -> tuple[Path, ...]:
    # the name that Numba gives to a folder in a cache of several packages
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
    found: list[Path] = []
    for folder, reasons in candidates:
        if reason := next(filter(None, reasons), None):
            _once(
                f"The compiled code in {reason}, and so could make this process run any other code; it is not used. "
                "Delete that folder, take from others the right to write to it, or name a folder of your own by the "
                "variable NUMBA_CACHE_DIR."
            )
            continue
        found.append(folder)
        if _can_write(folder):
            break
    return tuple(found)


def _cache_of_user() -> str:
    """Return the folder for caches of this user, where Numba looks for it."""
    home = os.path.expanduser("~")  # noqa: PTH111  without a home it stays as it is
    if os.name == "nt":
        return str(Path(os.environ.get("LOCALAPPDATA", home), "numba", "Cache"))
    if sys.platform == "darwin":
        return str(Path(home, "Library", "Caches", "numba"))
    return str(Path(os.environ.get("XDG_CACHE_HOME") or Path(home, ".cache"), "numba"))


def _can_write(folder: Path) -> bool:
    """Whether a folder can be written to, or can be made."""
    try:
        there = next(each for each in (folder, *folder.absolute().parents) if each.exists())
        return there.is_dir() and os.access(there, os.W_OK)
    except OSError:
        return False


def _reason(folder: Path, source: Path | None = None) -> str | None:
    """Return the folder and who may have written to it, or None if it can be trusted or is not there.

    `source` is the folder of the source: who can change that is trusted.
    """
    try:
        state, like = folder.stat(), (source or folder).stat()
    except OSError:
        return None
    allowed = 0o755 if source is None else 0o755 | stat.S_IMODE(like.st_mode)
    # as in /tmp, others can add files, whose owners are looked at, and remove none
    allowed |= 0o777 * bool(state.st_mode & stat.S_ISVTX)
    who = _stranger(state, allowed, None if source is None else like.st_uid)
    return None if who is None else f"{str(folder)!r} {who}"


def _stranger(state: os.stat_result, allowed: int, owner: int | None) -> str | None:
    """Return who may have written to a file or folder beside this user, the administrator and an owner, or None."""
    if not hasattr(os, "geteuid"):  # Windows, where others cannot write to the folders of a user
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
    """Whether a group is that of one user, which many systems make for each."""
    try:
        import grp
        import pwd

        found, name = grp.getgrgid(group), pwd.getpwuid(os.geteuid()).pw_name
    except (ImportError, KeyError):
        return False
    return found.gr_name == name and set(found.gr_mem) <= {name}


def _warn_that_nothing_is_kept(reason: str) -> None:
    _once(
        f"refsvm cannot keep compiled code ({reason}). engine='auto' goes on in NumPy, and engine='numba' compiles for "
        "some seconds in each process; name a folder that can be written to by the variable NUMBA_CACHE_DIR."
    )


def _once(sentence: str) -> None:
    """Warn, unless there was a warning of this kind in this process."""
    kind = sentence[:20]
    if kind not in _said:
        _said.add(kind)
        warnings.warn(sentence, stacklevel=2)
