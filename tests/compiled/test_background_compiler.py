"""Background compilation: a child process compiles what is not on disk, and the work goes on."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from refsvm import KKTGap, NewtonStep
from refsvm.compiled import auto
from refsvm.compiled.interface import background_compiler, code_files
from refsvm.core.selectors import WorkingSetSelector
from refsvm.services.cache_aware import CacheAware

from ..programs import printed_by, until
from ..settings import needs_jit

POSIX = pytest.mark.skipif(os.name == "nt", reason="signals and process groups")

WORKS = """
import json, os, pathlib, sys
os.nice(0)
print(json.loads(sys.stdin.readline()) == {told!r} or "other places", flush=True)
for line in sys.stdin:
    pathlib.Path({folder!r}, json.loads(line)[0]).touch()
"""
SLEEPS = "import sys; print('it is told', flush=True); sys.stdin.read()"
REFUSES = "import sys; sys.stdin.readline(); print('no space left')"


@pytest.fixture
def compiler(tmp_path, monkeypatch):
    """A compiler of this test, whose code is on disk where there is a file of the family's name."""
    made = background_compiler.Compiler()
    monkeypatch.setattr(background_compiler, "_compiler", made)
    monkeypatch.setattr(background_compiler, "is_on", lambda: True)
    monkeypatch.setattr(auto, "process", auto.Process())
    monkeypatch.setattr(auto, "CHECK_SECONDS", 0.0)
    monkeypatch.setattr(auto, "PAUSE", 0.0)
    monkeypatch.setattr(auto, "may_be_on_disk", lambda place: True)
    monkeypatch.setattr(auto, "could_load", lambda family, rules: (tmp_path / family).exists())
    monkeypatch.setattr(auto, "load", lambda family, rules: None)
    monkeypatch.setattr(background_compiler.tempfile, "gettempdir", lambda: str(tmp_path))
    told = [background_compiler.own_path(), background_compiler.PACKAGE]
    monkeypatch.setattr(background_compiler, "COMMAND", WORKS.format(folder=str(tmp_path), told=told))
    yield made
    background_compiler.end()


class Own(WorkingSetSelector):
    """A rule of a user, which is called through a pointer, as all are that are not built in."""

    def select(self, state):
        return 0, 1


RULES = Own(), NewtonStep(), KKTGap()


def is_there(family, rules=RULES):
    """Whether the code of a family is loaded now; if not, a child may be asked for it."""
    return auto.process.code_is_there(family, rules)


def test_one_child_makes_all_families(compiler):
    assert not is_there("loop")
    process = compiler.process
    assert not is_there("rounds")
    assert compiler.process is process
    until(lambda: is_there("loop"))
    until(lambda: is_there("rounds"))
    # in place of a user's rule another one is compiled
    rules = ["selectors.most_violating_pair", "steps.newton", "stopping.kkt_gap"]
    assert compiler.trials == {json.dumps([family, rules]): 1 for family in ("loop", "rounds")}
    process.stdin.close()
    until(compiler.has_ended)  # and it is no zombie
    assert process.returncode == 0
    assert compiler.reason == "True"


@POSIX
def test_a_child_that_is_killed_is_asked_once_more_and_then_given_up(compiler, monkeypatch, recwarn):
    monkeypatch.setattr(background_compiler, "COMMAND", SLEEPS)
    for _ in range(2):
        assert not is_there("loop")
        os.kill(compiler.process.pid, signal.SIGKILL)
        until(compiler.has_ended)
    assert not recwarn.list
    for _ in range(2):
        assert not is_there("loop")
    (warning,) = recwarn.list
    assert "Compiling failed in a child process" in str(warning.message)
    assert compiler.has_ended()


def test_a_child_that_refuses_says_why(compiler, monkeypatch):
    monkeypatch.setattr(background_compiler, "COMMAND", REFUSES)
    for _ in range(2):
        assert not is_there("loop")
        until(compiler.has_ended)
    said = r"\(no space left\), and the work goes on in NumPy; call refsvm.warm_up"
    with pytest.warns(UserWarning, match=said):
        assert not is_there("loop")


def test_where_no_process_can_be_started_it_is_compiled_here(compiler, monkeypatch):
    def refuse(*arguments, **options):
        raise OSError

    monkeypatch.setattr(background_compiler.subprocess, "Popen", refuse)
    assert is_there("loop")
    assert is_there("rounds")


def test_one_of_several_processes_has_a_child(compiler, tmp_path):
    lock = "from refsvm.compiled.interface.background_compiler import lock_file"
    code = [sys.executable, "-c", f"{lock}; print(lock_file(), flush=True); input()"]
    environment = os.environ | dict.fromkeys(("TMPDIR", "TMP", "TEMP"), str(tmp_path))
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    with subprocess.Popen(code, env=environment, **pipes) as other:
        assert int(other.stdout.readline()) > 0
        assert not is_there("loop")
        assert compiler.process is None
        (tmp_path / "loop").touch()  # the child of the other process has made it
        assert is_there("loop")
        other.communicate("\n")
    assert not is_there("rounds")
    assert compiler.process is not None


def test_where_files_cannot_be_locked_each_process_has_a_child(compiler, monkeypatch):
    monkeypatch.setattr(background_compiler.tempfile, "gettempdir", lambda: "/nowhere/at/all")
    assert all(background_compiler.lock_file() is not None for _ in range(2))
    assert not is_there("loop")
    until(lambda: is_there("loop"))


PARENT = """
import os, sys, time
from refsvm.compiled.interface import background_compiler
background_compiler.COMMAND = "import sys; sys.stdin.read()"
background_compiler.tempfile.gettempdir = lambda: {folder!r}
background_compiler.ask("loop", [])
child = background_compiler._compiler.process.pid
{more}
try:  # from the first byte on: a reader of the line may press Ctrl-C
    os.write(1, f"{{child}}\\n".encode())
    time.sleep(60)
except KeyboardInterrupt:
    print("alive" if background_compiler._compiler.process.poll() is None else "dead", flush=True)
"""
FORK = """
pid = os.fork()
if pid == 0:
    os.write(1, f"{background_compiler._compiler.process}\\n".encode())
    time.sleep(60)
"""


def parent(tmp_path, more=""):
    """Start a process that has a child; return it and the child's number."""
    process = subprocess.Popen(
        [sys.executable, "-W", "error", "-c", PARENT.format(folder=str(tmp_path), more=more)],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True,
        env={**os.environ, "REFSVM_COMPILE_BESIDE": "1", "NUMBA_DISABLE_JIT": "0"},
    )  # fmt: skip
    lines = sorted(process.stdout.readline() for _ in range(2 if more else 1))
    assert lines[1:] == (["None\n"] if more else [])
    return process, int(lines[0])


def is_running(pid):
    """Whether there is such a process, zombies not counted."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


ON_LINUX = pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="looks into /proc")


@needs_jit
@ON_LINUX
def test_ctrl_c_is_for_the_parent_and_the_child_ends_with_it(tmp_path):
    process, child = parent(tmp_path)
    # not in a session of its own: Linux shares the processor among sessions first, whatever is nice in each
    assert os.getsid(child) == os.getsid(process.pid) != os.getpgid(child)
    os.killpg(process.pid, signal.SIGINT)
    out, errors = process.communicate(timeout=60)
    assert (out, errors, process.returncode) == ("alive\n", "", 0)
    assert not is_running(child)


@needs_jit
@ON_LINUX
@pytest.mark.parametrize("cores", [1, 2])
@pytest.mark.slow
def test_with_one_core_the_child_leaves_most_of_it_to_its_parent(cores):
    if len(os.sched_getaffinity(0)) < cores:
        pytest.skip("this machine has one core")
    code = f"""
import os
from refsvm.compiled.interface import background_compiler
os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:{cores}])
os.nice = lambda by: os.write(1, str(by).encode())
background_compiler.IDLE_SECONDS = 600.0
background_compiler.child()
"""
    with subprocess.Popen(
        [sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        said = process.communicate()[0]
    assert said == ("5" if cores == 1 else "")


@needs_jit
@ON_LINUX
@pytest.mark.parametrize("more", ["", FORK], ids=["alone", "forked"])
@pytest.mark.slow
def test_the_child_of_a_killed_parent_ends(tmp_path, more):
    """Also where a forked process lives on: that has no child."""
    process, child = parent(tmp_path, more)
    assert is_running(child)
    process.kill()
    process.wait()
    until(lambda: not is_running(child))
    os.killpg(process.pid, signal.SIGKILL) if more else None
    process.communicate()


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("REFSVM_COMPILE_BESIDE", "0"),
        ("NUMBA_DISABLE_JIT", "1"),
        ("executable", "/opt/viewer"),
        ("frozen", True),
    ],
)
def test_where_there_is_no_child(monkeypatch, name, value):
    monkeypatch.setenv("REFSVM_COMPILE_BESIDE", "1")
    monkeypatch.setenv("NUMBA_DISABLE_JIT", "0")
    monkeypatch.setattr(background_compiler, "find_spec", lambda name: name)
    assert background_compiler.is_on.__wrapped__()
    if name.isupper():
        monkeypatch.setenv(name, value)
    else:
        monkeypatch.setattr(sys, name, value, raising=False)
    assert not background_compiler.is_on.__wrapped__()


def test_names_of_files_name_files():
    """A file that moves leaves such names behind, and its code would never be found on disk."""
    rules = [f"{folder}.{name}" for folder, name in background_compiler.STAND_INS.items()]
    places = {
        *auto.PLACES.values(),
        *rules,
        *background_compiler.SLOW,
        background_compiler.place_of(CacheAware()),
    }
    assert [
        place for place in places if not (code_files.COMPILED / f"{place.replace('.', '/')}.py").is_file()
    ] == []


@needs_jit
def test_code_of_the_package_is_loaded_and_that_of_users_is_compiled(monkeypatch):
    """No other process can compile a user's twin."""
    from refsvm.compiled.interface.twin import CodeOnDisk, NotCompiledYet, cached, never_compiling

    monkeypatch.setattr(CodeOnDisk, "_load_overload", lambda *arguments: None)
    monkeypatch.setattr(CodeOnDisk, "save_overload", lambda *arguments: None)

    def ours(x):
        return x + 1.0

    def users(x):
        return x + 2.0

    ours.__module__ = "refsvm.probe"
    ours, users = cached(ours), cached(users)
    with never_compiling():
        with pytest.raises(NotCompiledYet):
            ours(1.0)
        assert users(1.0) == 3.0
    assert ours(1.0) == 2.0


REAL = """
import logging, sys, time
from refsvm.compiled import auto
from refsvm.compiled.interface import background_compiler
{more}
began = time.perf_counter()
compiler = background_compiler._compiler
while not (found := auto.process.code_is_there({family!r}, {rules})) and time.perf_counter() < began + 100:
    logging.basicConfig(level=logging.INFO)
    time.sleep(0.02)
    if compiler.has_warned:
        break
if found:
    print("loaded")
"""


def real(tmp_path, more="", **environment):
    """Let a child compile for a process of its own, with an empty cache; return what that says."""
    environment = {"NUMBA_CACHE_DIR": str(tmp_path / "cache"), "TMPDIR": str(tmp_path), **environment}
    rules = "[__import__('refsvm').KKTGap()]"
    done = subprocess.run(
        [sys.executable, "-c", REAL.format(family="twin", rules=rules, more=more)],
        capture_output=True, text=True, check=True, timeout=120,
        env={**os.environ, "REFSVM_COMPILE_BESIDE": "1", **environment},
    )  # fmt: skip
    return done.stdout, done.stderr


@needs_jit
@pytest.mark.slow
def test_what_the_child_has_compiled_is_loaded(tmp_path):
    """Nothing is compiled by the parent, or it would be announced; nothing else is said."""
    assert real(tmp_path) == ("loaded\n", "")


def test_where_nothing_can_be_kept_no_child_is_asked_and_a_warning_says_so(compiler, monkeypatch):
    monkeypatch.setattr(code_files, "_folders", lambda source, named: ())
    monkeypatch.setattr(code_files, "_said", set())
    with pytest.warns(
        UserWarning, match=r"cannot keep .*engine='auto' goes on in NumPy.*variable NUMBA_CACHE_DIR"
    ):
        assert not is_there("loop")
    assert not is_there("loop")
    assert compiler.process is None


def said_by_a_child(cwd, options=(), **environment):
    """Start a child as a process with these options does; return what it has executed, or a sentence if it failed."""
    starts = """
import json, subprocess, sys
sys.path.insert(0, {root!r})
from refsvm.compiled.interface import background_compiler as b
code = b.COMMAND.replace("child()", "print('at work')")
asked = json.dumps([b.own_path(), b.PACKAGE])
print(subprocess.run([sys.executable, *b.own_flags(), "-c", code], input=asked, text=True, stdout=-1).stdout)
"""
    root = str(Path(background_compiler.PACKAGE).parents[1])
    return printed_by(*options, "-c", starts.format(root=root), cwd=cwd, **environment).split("\n")[0]


def test_a_child_runs_no_code_that_its_parent_would_not_run(tmp_path):
    """Files of the names of modules in the working directory, and in PYTHONPATH where the parent does not read that."""
    for name in ("json", "numba", "queue", "numpy", "sitecustomize"):
        (tmp_path / f"{name}.py").write_text(
            f"open({str(tmp_path / 'executed')!r}, 'w').close()\nraise SystemExit\n"
        )
    assert said_by_a_child(tmp_path, ["-P"]) == "at work"
    assert said_by_a_child(Path.cwd(), ["-I"], PYTHONPATH=str(tmp_path)) == "at work"
    assert not (tmp_path / "executed").exists()


def test_what_python_passes_over_in_its_path_is_not_told_to_a_child(monkeypatch):
    before = background_compiler.own_path()
    monkeypatch.setattr(background_compiler.sys, "path", [Path("/a"), None, *sys.path, b"/b", 3])
    assert background_compiler.own_path() == before
    json.dumps(before)


@POSIX
@pytest.mark.parametrize("trap", ["link to a file", "link to a folder", "open", "another user's", "a file"])
def test_a_folder_for_locks_that_others_have_made_is_passed_over(trap, tmp_path, monkeypatch):
    aim, place = tmp_path / "aim", tmp_path / "tmp" / f"refsvm-{os.getuid()}"
    place.parent.mkdir()
    monkeypatch.setattr(background_compiler.tempfile, "gettempdir", lambda: str(place.parent))
    if trap == "link to a file":
        place.symlink_to(aim)
    elif trap == "a file":
        place.touch()
    else:
        aim.mkdir(mode=0o700)
        place.symlink_to(aim) if trap == "link to a folder" else place.mkdir(
            0o777 if trap == "open" else 0o700
        )
    if trap == "open":
        place.chmod(0o777)
    if trap == "another user's":
        fstat = os.fstat
        monkeypatch.setattr(
            background_compiler.os,
            "fstat",
            lambda file: os.stat_result([*fstat(file)[:4], 54321, *fstat(file)[5:10]]),
        )
    locks = [background_compiler.lock_file() for _ in range(2)]
    assert None not in locks  # each process has a child then
    assert not any(os.path.isfile(f"/proc/self/fd/{lock}") for lock in locks)  # noqa: PTH113
    assert [*tmp_path.rglob("*.lock")] == []
    assert aim.exists() == (trap not in {"link to a file", "a file"})
    for lock in locks:
        os.close(lock)
