"""Run as a script: every writer is killed at each of its system calls, at random moments, and at limits of file size.

    python -m tests.services.writers FOLDER NUMBER     prints what was found, as JSON

Each try is a forked process that replaces an old file by a new one. What it leaves has to be one of the two, whole.
"""

from __future__ import annotations

import builtins
import json
import os
import resource
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from refsvm import RBF, SVC, regularization_path, write_model
from refsvm.analysis.paths import save_path
from refsvm.compiled.interface import code_files
from refsvm.services import files
from refsvm.services.store import RunStore

RNG = np.random.default_rng(0)
X = RNG.normal(size=(40, 3))
Y = np.where(X[:, 0] + 0.3 * RNG.normal(size=40) > 0, 1, -1)
LARGE = 20_000_000
"""Bytes that a writer writes at least, where it is killed at random."""


def models(large: bool) -> Callable[[Path, int], None]:
    """Write models with support vectors of many features."""
    d = LARGE // (18 * 40) if large else 3
    fitted = [SVC(C=C, engine="numpy", gamma=0.1 / d).fit(RNG.normal(size=(40, d)), Y) for C in (1.0, 5.0)]
    return lambda file, k: write_model(fitted[k], file)


def paths(large: bool) -> Callable[[Path, int], None]:
    """Write paths over examples of many features."""
    d = LARGE // (7 * 40) if large else 3
    found = [
        regularization_path(
            RNG.normal(size=(40, d)), Y, kernel=RBF(0.5 / d), C_min=0.1, C_max=C, engine="numpy"
        )
        for C in (0.5, 1.0)
    ]
    return lambda file, k: save_path(found[k], file)


def predictions(large: bool) -> Callable[[Path, int], None]:
    """Write labels as `refsvm predict` does."""
    words = ("oak", "elm") if not large else ("oak" * 400, "elm" * 400)
    texts = [("\n".join([word] * 17_000) + "\n").encode() if large else word.encode() for word in words]

    def write(file: Path, k: int) -> None:
        with files.written_whole(file) as stream:
            for begin in range(0, len(texts[k]), 1 << 16):
                stream.write(texts[k][begin : begin + (1 << 16)])

    return write


def pictures(large: bool) -> Callable[[Path, int], None]:
    """Draw pictures as ``--plot`` does, without compression."""
    import matplotlib as mpl

    from refsvm.cli.pictures import picture

    mpl.rcParams["savefig.dpi"] = 420 if large else 20

    def write(file: Path, k: int) -> None:
        with picture(file) as axes:
            axes[0].plot([0, 1 + k])

    return write


def code(large: bool) -> Callable[[Path, int], None]:
    """Keep compiled code."""
    contents = [RNG.bytes(LARGE if large else 5000) for _ in range(2)]

    def write(file: Path, k: int) -> None:
        code_files.folders_of = lambda source: (file.parent,)  # type: ignore[assignment]
        code_files.save("source.py", file.name, "key", contents[k])

    return write


WRITERS = {
    "a.model": models, "a.npz": paths, "a.txt": predictions, "a.rgba": pictures, "a.nbc": code
}  # fmt: skip


def forked(work: Callable[[], Any], after: Callable[[int], None] = lambda pid: None) -> int:
    """Run in a process of its own, and return its status."""
    pid = os.fork()
    if pid == 0:
        try:
            os.close(2)
            work()
        except BaseException:  # noqa: BLE001
            os._exit(1)
        os._exit(0)
    after(pid)
    return os.waitpid(pid, 0)[1]


class Killer:
    """Ends the process before or after its n-th write, sync or rename; counts them."""

    def __init__(self, at: float) -> None:
        self.at, self.count, self.began = at, 0, False

    def around(self, call: Callable[..., Any]) -> Callable[..., Any]:
        """Return the call, before and after which the process may end."""

        def counted(*given: Any, **more: Any) -> Any:
            self.tick()
            found = call(*given, **more)
            self.tick()
            return found

        return counted

    def tick(self) -> None:
        """Count a moment, and end the process if it is the one."""
        self.count += 1
        if self.count > self.at:
            os.kill(os.getpid(), signal.SIGKILL)

    def install(self) -> None:
        """Count what the writers call."""
        real = builtins.open

        def opened(*given: Any, **more: Any) -> Any:
            stream = real(*given, **more, buffering=0)
            wrapped = self.around(stream.write)
            return type("Stream", (), {
                "write": lambda _, data: wrapped(data), "flush": lambda _: None, "fileno": lambda _: stream.fileno(),
                "tell": lambda _: stream.tell(), "seek": lambda _, *where: stream.seek(*where),
                "close": lambda _: stream.close(), "seekable": lambda _: True, "writable": lambda _: True,
                "__enter__": lambda it: it, "__exit__": lambda _, *failure: stream.close(), "closed": False,
                "read": lambda _, *size: b"", "mode": "wb",
            })()  # fmt: skip

        files.open = opened  # type: ignore[attr-defined]
        for name in ("fsync", "replace"):
            setattr(files.os, name, self.around(getattr(os, name)))


class Trial:
    """One writer, which replaces an old file by a new one again and again."""

    def __init__(self, folder: Path, name: str, large: bool = False) -> None:
        self.file, self.name, self.wrong = folder / name, name, list[str]()
        self.writer, self.contents, self.seconds = WRITERS[name](large), list[bytes](), 0.0
        for k in (1, 0):
            began = time.perf_counter()
            self.writer(self.file, k)
            self.seconds = time.perf_counter() - began
            self.contents.insert(0, self.file.read_bytes())
        assert self.contents[0] != self.contents[1]

    def write(self) -> None:
        """Write the new file."""
        self.writer(self.file, 1)

    def look(self, how: str) -> None:
        """Note a file that is neither the old one nor the new one, and begin anew."""
        if self.file.read_bytes() not in self.contents:
            self.wrong.append(f"{self.name} {how}")
        for left in self.file.parent.glob(".*.part"):
            left.unlink()
        self.writer(self.file, 0)

    def at_each_call(self) -> int:
        """Kill the writer before and after each write, sync and rename; return their number."""
        reader, writer = os.pipe()

        def count() -> None:
            killer = Killer(10**9)
            killer.install()
            self.write()
            os.write(writer, str(killer.count).encode())

        assert forked(count) == 0, self.name
        assert self.file.read_bytes() == self.contents[1]
        moments = int(os.read(reader, 20))
        for at in range(moments):
            assert forked(lambda at=at: (Killer(at).install(), self.write())) == signal.SIGKILL
            self.look(f"killed at moment {at}")
        return moments

    def at_limits(self, number: int) -> int:
        """Let the writer meet limits of file size, as of a full disk."""

        def small(limit: int) -> None:
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
            self.write()

        for limit in np.linspace(0, max(map(len, self.contents)) - 1, number).astype(int).tolist():
            forked(partial(small, limit))
            self.look(f"at a limit of {limit} bytes")
        return number

    def at_random(self, number: int, rng: np.random.Generator) -> int:
        """Kill the writer at random moments."""
        for delay in rng.uniform(0.0, 1.2 * self.seconds, number).tolist():
            forked(self.write, partial(kill_after, delay))
            self.look(f"killed after {delay:.3f} s")
        return number


def kill_after(seconds: float, pid: int) -> None:
    """Kill a process after some time."""
    time.sleep(seconds)
    os.kill(pid, signal.SIGKILL)


def tried(folder: Path, name: str, number: int, rng: np.random.Generator) -> dict[str, Any]:
    """Kill one writer in all ways; return counts, and what was neither the old file nor the new one."""
    trial = Trial(folder, name)
    found: dict[str, Any] = {"moments": trial.at_each_call(), "limits": trial.at_limits(number // 4)}
    found["wrong"] = trial.wrong
    if number >= 200:
        large = Trial(folder, name, large=True)
        found |= {"random": large.at_random(number, rng), "bytes": min(map(len, large.contents))}
        found["wrong"] += large.wrong
    return found


def tried_store(folder: Path, number: int, rng: np.random.Generator) -> dict[str, Any]:
    """Kill processes that store runs, and let others meet a limit of file size; all confirmed runs stay."""
    store, wrong, confirmed = RunStore(folder / "s.sqlite"), [], set()
    store.prepare()
    text = "x" * 1_000_000

    def add(reader: int, writer: int, limit: int | None, begin: int) -> None:
        os.close(reader)
        if limit is not None:
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
        for k in range(20):
            run = f"{begin}-{k}"
            store.add(run, config={}, problem="p", strategy="s", metrics={"run": run, "text": text})
            os.write(writer, f"{run}\n".encode())

    for begin in range(number + number // 4):
        reader, writer = os.pipe()
        limit = None if begin < number else int(rng.uniform(0, 25e6))
        end = (lambda pid: None) if limit is not None else partial(kill_after, float(rng.uniform(0.0, 0.5)))
        forked(lambda r=reader, w=writer, m=limit, b=begin: add(r, w, m, b), end)
        os.close(writer)
        with os.fdopen(reader) as told:
            confirmed |= {line.strip() for line in told if line.endswith("\n")}
        found = store.metrics(confirmed)
        if lost := [run for run in confirmed if found.get(run, {}).get("run") != run]:
            wrong.append(f"{len(lost)} confirmed runs are lost after process {begin}")
        if len(confirmed) > 40:  # a small file again
            for each in folder.glob("s.sqlite*"):
                each.unlink()
            store.prepare()
            confirmed = set()
    return {"processes": number + number // 4, "wrong": wrong}


ADDING = """
import sys
from pathlib import Path
from refsvm.services.store import RunStore
store = RunStore(Path(sys.argv[1]))
store.prepare()
for k in range(3):
    store.add(str(k), config={}, problem="p", strategy="s", metrics={"run": k, "text": "x" * 5000})
    print(k, flush=True)
"""
CHANGES = "pwrite64,write,fsync,fdatasync,ftruncate,unlink,rename"
"""Calls of the system by which SQLite changes a store; it is not in Python, so that strace has to count them."""


def tried_store_at_each_call(folder: Path, every: int) -> dict[str, Any]:
    """Kill a process that makes a store and adds runs at each of its calls; all confirmed runs stay."""
    file, log, wrong = folder / "t.sqlite", folder / "calls", list[str]()
    names = [f"{file}{end}" for end in ("", "-wal", "-shm", "-journal")]
    within = [word for name in names for word in ("-P", name)]

    def run(*options: str) -> list[str]:
        for name in names:
            Path(name).unlink(missing_ok=True)
        command = ["strace", "-f", "-qq", "-o", log, *options, *within, sys.executable, "-c", ADDING, file]
        return subprocess.run(command, capture_output=True, text=True, check=False).stdout.split()

    if shutil.which("strace") is None or len(run("-e", f"trace={CHANGES}")) != 3:
        return {"moments": 0, "wrong": []}
    moments = range(1, len(log.read_text().splitlines()) + 1, every)
    for at in moments:
        confirmed = run("-e", f"inject={CHANGES}:signal=KILL:when={at}")
        store = RunStore(file)
        store.prepare()
        found = store.metrics(list("0123"))
        if not set(confirmed) <= set(found) or any(each["run"] != int(k) for k, each in found.items()):
            wrong.append(f"killed at call {at}: {confirmed} were confirmed, {[*found]} are there")
        store.add("3", config={}, problem="p", strategy="s", metrics={"run": 3})
    return {"moments": len(moments), "wrong": wrong}


def main(folder: Path, number: int) -> dict[str, Any]:
    """Kill all writers."""
    rng = np.random.default_rng(1)
    found = {name: tried(folder, name, number, rng) for name in WRITERS}
    found |= {"store": tried_store(folder, number, rng)}
    return found | {"store at each call": tried_store_at_each_call(folder, 1 if number >= 200 else 40)}


if __name__ == "__main__":
    print(json.dumps(main(Path(sys.argv[1]), int(sys.argv[2]))))
