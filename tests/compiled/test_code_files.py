"""Compiled code on disk: whose it may be, that it is whole, and what happens where there is no place for it."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import numpy as np
import pytest

import refsvm
from refsvm.compiled.interface import code_files, stamp

from ..programs import printed_by
from ..services.damage import ALL, damaged
from ..settings import needs_jit

POSIX = pytest.mark.skipif(not hasattr(os, "geteuid"), reason="owners of files")


@pytest.fixture
def source(tmp_path, monkeypatch):
    """A source file, with a folder named by the user; what this process has found out before is forgotten."""
    monkeypatch.setattr(code_files, "cache_folder", lambda: str(tmp_path / "named"))
    monkeypatch.setattr(code_files, "_cache_of_user", lambda: str(tmp_path / "home"))
    monkeypatch.setattr(code_files, "_said", set())
    monkeypatch.setattr(code_files, "_folders", code_files._folders.__wrapped__)
    (tmp_path / "package").mkdir(mode=0o755)
    return tmp_path / "package" / "source.py"


def places(source):
    """The three folders for code, in their order."""
    own = code_files.folders_of(source)[0].name
    return source.parents[1] / "named" / own, source.parent / "__pycache__", source.parents[1] / "home" / own


def test_what_is_kept_is_found_under_its_name_and_key_alone(source):
    code_files.save(source, "f.nbc", "float64", b"code")
    assert code_files.load(source, "f.nbc", "float64") == b"code"
    assert code_files.load(source, "f.nbc", "float32") is None
    assert code_files.load(source, "g.nbc", "float64") is None
    (file,) = (each for each in source.parents[1].rglob("*") if each.is_file())
    assert file.parent == places(source)[0]


def test_damaged_code_is_never_loaded(source):
    content = np.random.default_rng(0).bytes(300)
    code_files.save(source, "f.nbc", "key", content)
    file, whole = places(source)[0] / "f.nbc", (places(source)[0] / "f.nbc").read_bytes()
    for each in damaged(whole, np.random.default_rng(1)):
        file.write_bytes(each)
        assert code_files.load(source, "f.nbc", "key") is None
    file.write_bytes(whole)
    assert code_files.load(source, "f.nbc", "key") == content


@POSIX
@pytest.mark.parametrize("place", [0, 1, 2], ids=["named", "beside the source", "of the user"])
@pytest.mark.parametrize("mode", [0o755, 0o700, 0o775, 0o757, 0o1777])
@pytest.mark.parametrize("owner", ["this user", "another"])
def test_code_that_others_may_have_written_is_not_loaded(place, mode, owner, source, monkeypatch):
    folder = places(source)[place]
    monkeypatch.setattr(code_files, "_can_write", lambda each: each == folder)
    code_files.save(source, "f.nbc", "key", b"code")
    folder.chmod(mode)
    monkeypatch.setattr(code_files, "_is_private", lambda group: False)
    if owner == "another":
        monkeypatch.setattr(code_files, "_stranger", by_another(code_files._stranger))
    is_open = bool(mode & 0o022) and mode != 0o1777
    # who owns the source may change it, so what he has compiled beside it is as good
    if is_open or (owner == "another" and place != 1):
        with pytest.warns(
            UserWarning, match="is not used. Delete it, remove.*variable NUMBA_CACHE_DIR"
        ) as notes:
            assert [code_files.load(source, "f.nbc", "key") for _ in range(2)] == [None, None]
        assert len(notes) == 1
    else:
        assert code_files.load(source, "f.nbc", "key") == b"code"


def by_another(stranger):
    """The same question where all files belong to another user."""

    def asked(state, allowed, owner):
        values = [*state[:4], 54321, *state[5:10]]
        return stranger(os.stat_result(values), allowed, None if owner is None else 54321)

    return asked


@POSIX
def test_a_file_of_another_user_in_a_trusted_folder_is_not_loaded(source, monkeypatch):
    code_files.save(source, "f.nbc", "key", b"code")
    fstat, changed = os.fstat, {}

    def other(file):
        return os.stat_result([changed.get(place, each) for place, each in enumerate(fstat(file)[:10])])

    monkeypatch.setattr(code_files.os, "fstat", other)
    for place, value in ((4, 54321), (0, 0o100666)):
        changed[place] = value
        assert code_files.load(source, "f.nbc", "key") is None
        changed.clear()
    assert code_files.load(source, "f.nbc", "key") == b"code"


@POSIX
def test_what_is_kept_can_be_written_by_its_owner_alone_whatever_the_mask(source):
    mask = os.umask(0)
    try:
        code_files.save(source, "f.nbc", "key", b"code")
    finally:
        os.umask(mask)
    assert code_files.load(source, "f.nbc", "key") == b"code"
    for each in (places(source)[0].parent, places(source)[0], places(source)[0] / "f.nbc"):
        assert not each.stat().st_mode & 0o022


def test_folders_are_read_up_to_the_first_that_can_be_written_to(source, monkeypatch):
    named, beside, home = places(source)
    for writable, expected in ((named, [named]), (beside, [named, beside]), (home, [named, beside, home])):
        monkeypatch.setattr(code_files, "_can_write", lambda folder, writable=writable: folder == writable)
        assert code_files.folders_of(source) == tuple(expected)
        code_files.save(source, "f.nbc", "key", writable.parent.name.encode())
        assert code_files.load(source, "f.nbc", "key") == named.parent.name.encode()


def test_where_there_is_no_place_a_warning_names_the_variable(source, monkeypatch):
    for each in ("named", "home", "package/__pycache__"):
        (source.parents[1] / each).touch()
    for _ in range(2):
        if code_files._said:
            code_files.save(source, "f.nbc", "key", b"code")
        else:
            with pytest.warns(UserWarning, match="no folder for it is writable.*variable NUMBA_CACHE_DIR"):
                code_files.save(source, "f.nbc", "key", b"code")
    assert code_files.load(source, "f.nbc", "key") is None


def test_a_disk_that_is_full_is_said_and_nothing_is_left(source, monkeypatch):
    def full(*arguments):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("refsvm.services.files.os.fsync", full)
    with pytest.warns(UserWarning, match="cannot keep compiled code .*No space left on device"):
        code_files.save(source, "f.nbc", "key", b"code")
    assert not [each for each in source.parents[1].rglob("*") if each.is_file()]


def test_whether_code_is_on_disk_is_found_out_without_numba(source, monkeypatch):
    monkeypatch.setattr(code_files, "COMPILED", source.parent)
    folder = code_files.folders_of(source.parent / "steps" / "newton")[0]
    assert not code_files.may_be_on_disk("steps/newton")
    folder.mkdir(parents=True)
    (folder / f"newton.newton_{stamp.stamp()}-11.py311.0123456789ab.nbc").touch()
    assert code_files.may_be_on_disk("steps/newton")
    assert not code_files.may_be_on_disk("steps/other")


PROBE = """
import warnings
from numba import float64
from numba.core import event
from refsvm.compiled.interface.twin import from_python
warnings.showwarning = lambda message, *more: print("note", message)
class Count(event.Listener):
    n = 0
    def on_start(self, what): self.n += 1
    def on_end(self, what): pass
count = Count()
with event.install_listener("numba:compile", count):
    import probe
print(probe.probe(3.0), "compiled" if count.n else "loaded")
"""
FUNCTION = """
from numba import float64
from refsvm.compiled.interface.twin import from_python
@from_python(float64(float64))
def probe(x):
    return x * 7.0 + 1.0
"""


def probed(folder, **environment):
    """What a new process says that loads or compiles a function of a file in a folder."""
    (folder / "probe.py").write_text(FUNCTION)
    paths = os.pathsep.join(map(str, [folder, Path(refsvm.__file__).parents[1], *sys.path]))
    own = {"PYTHONPATH": paths, "NUMBA_CACHE_DIR": str(folder / "cache"), **environment}
    return printed_by("-c", PROBE, **own).splitlines()


@needs_jit
@pytest.mark.slow
def test_a_new_process_compiles_what_is_damaged_and_loads_what_is_whole(tmp_path):
    assert probed(tmp_path) == ["22.0 compiled"]
    assert probed(tmp_path) == ["22.0 loaded"]
    (file,) = (tmp_path / "cache").rglob("*probe*.nbc")
    whole, rng = file.read_bytes(), np.random.default_rng(0)
    every = [*damaged(whole, rng)]
    for number in rng.choice(len(every), 50 if ALL else 3, replace=False).tolist():
        file.write_bytes(every[number])
        assert probed(tmp_path) == ["22.0 compiled"]
        assert (
            file.read_bytes()[:32] != every[number][:32]
            or len(every[number]) < 32
            or file.read_bytes() == whole
        )
    assert probed(tmp_path) == ["22.0 loaded"]


@needs_jit
@pytest.mark.slow
def test_code_is_compiled_in_memory_where_there_is_no_folder_for_it(tmp_path):
    (tmp_path / "cache").touch()
    (tmp_path / "__pycache__").touch()
    nowhere = {"HOME": "/dev/null/home", "XDG_CACHE_HOME": "/dev/null/cache"}
    note, *said = probed(tmp_path, **nowhere)
    assert said == ["22.0 compiled"]
    assert note.startswith("note refsvm cannot keep compiled code (no folder for it is writable)")
