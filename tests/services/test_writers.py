"""What is written is whole or not there: killed processes, full disks, links, permissions, and one writer for all."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path

import pytest

import refsvm
from refsvm.services.files import is_same_file, written_whole

from ..programs import printed_by
from .damage import ALL

ROOT = Path(__file__).parents[2]


@pytest.mark.slow
@pytest.mark.timeout(3600 if ALL else 600)
@pytest.mark.skipif(not hasattr(os, "fork"), reason="kills forked processes")
def test_a_writer_that_is_killed_or_meets_a_full_disk_leaves_the_old_file_or_the_new_one(tmp_path):
    pytest.importorskip("typer")
    pytest.importorskip("matplotlib")
    said = printed_by("-m", "tests.services.writers", tmp_path, "200" if ALL else "8", cwd=ROOT)
    found = json.loads(said.splitlines()[-1])
    print(found)
    assert [each for part in found.values() for each in part["wrong"]] == []
    assert all(part["moments"] >= 6 for name, part in found.items() if not name.startswith("store"))


def test_an_error_while_it_is_written_leaves_the_old_file_and_no_other(tmp_path):
    file = tmp_path / "a"
    for old in (None, b"old"):
        if old is not None:
            file.write_bytes(old)
        with pytest.raises(ZeroDivisionError), written_whole(file) as stream:
            stream.write(b"new" * (1 // 0))
        assert (file.read_bytes() if file.exists() else None) == old
        assert [each.name for each in tmp_path.iterdir()] == ["a"] * file.exists()


@pytest.mark.skipif(os.name == "nt", reason="links and permissions")
def test_a_link_stays_one_and_permissions_are_kept(tmp_path):
    file, link = tmp_path / "a", tmp_path / "link"
    file.write_bytes(b"old")
    file.chmod(0o604)
    link.symlink_to("a")
    with written_whole(link) as stream:
        stream.write(b"new")
    assert link.is_symlink()
    assert file.read_bytes() == b"new"
    assert file.stat().st_mode & 0o777 == 0o604


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="pipes")
def test_a_pipe_and_a_device_are_written_to(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    reader = os.open(tmp_path / "pipe", os.O_RDONLY | os.O_NONBLOCK)
    for file in (tmp_path / "pipe", Path(os.devnull)):
        with written_whole(file) as stream:
            stream.write(b"new")
    assert os.read(reader, 10) == b"new"
    os.close(reader)


@pytest.mark.parametrize("place", ["nowhere/a", "", "read-only/a", "read-only file"])
def test_what_cannot_be_written_is_named(place, tmp_path):
    (tmp_path / "read-only").mkdir()
    (tmp_path / "read-only/a").write_bytes(b"old")
    (tmp_path / "read-only file").write_bytes(b"old")
    (tmp_path / "read-only file").chmod(0o400)
    (tmp_path / "read-only").chmod(0o500)
    if place.startswith("read-only") and hasattr(os, "geteuid") and os.geteuid() == 0:
        pytest.skip("nothing is read-only to the administrator")
    with (
        pytest.raises(OSError, match=re.escape(repr(str(tmp_path / place)))),
        written_whole(tmp_path / place),
    ):
        pass
    (tmp_path / "read-only").chmod(0o700)
    assert (tmp_path / "read-only/a").read_bytes() == (tmp_path / "read-only file").read_bytes() == b"old"


def test_two_names_of_one_file(tmp_path):
    (tmp_path / "a").touch()
    (tmp_path / "b").touch()
    (tmp_path / "c").symlink_to("a")
    same = [
        is_same_file(tmp_path / "a", tmp_path / each)
        for each in ("a", f"../{tmp_path.name}/a", "c", "b", "d")
    ]
    assert same == [True, True, True, False, False]
    assert not is_same_file(os.devnull, os.devnull)


def test_nothing_else_in_the_package_opens_a_file_to_write():
    """Each writer goes through `written_whole`: an open file in the mode "w" is a file that may be lost."""
    opening = re.compile(r"""\.write_(?:text|bytes)\(|open\([^)]*["'][wax]b?["']|savefig\((?!stream)""")
    found = [
        f"{file.name}: {line.strip()}"
        for file in sorted(Path(refsvm.__file__).parent.rglob("*.py"))
        for line in file.read_text(encoding="utf-8").splitlines()
        if opening.search(line) and not line.lstrip().startswith(">>>") and file.name != "files.py"
    ]
    assert found == []
