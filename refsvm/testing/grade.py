"""Grades a student's notebook: ``python -m refsvm.testing.grade assignment.ipynb [--seed N] [--json FILE]``.

For each point of the score, the grader runs the answers in a new process (`refsvm.testing.student`), and sends this
process random problems. The oracles of `refsvm.testing.assignments` examine the results. The grader's process
holds oracles, score and seed, and reads only lines of JSON from the student's process.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import secrets
import signal
import subprocess
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Thread, Timer
from typing import Any

import numpy as np

from refsvm.services.files import written_whole
from refsvm.testing import student
from refsvm.testing.assignments import ASSIGNMENTS, Lost, Point

LONGEST_ANSWER = 4_000_000  # bytes
LONGEST_CODE = 40_000  # largest number of characters in all answer cells, less than a copy of a solver has
MOST_OUTPUT = 10_000_000  # number of printed bytes after which a process is killed
PRINTED = 2_000  # number of characters of the student's output that a report keeps
PATIENCE = 6  # longest life of a process, as a multiple of its limit of processor time
GB = 2**30
Row = Callable[[int], np.ndarray]


@dataclass(frozen=True)
class Grade:
    """The points of one notebook.

    Attributes
    ----------
    assignment : str
        Name of the assignment.
    points, out_of : int
        Points reached and points available.
    lost : list of str
        For each lost point, a sentence that says why the student lost it.
    seed : int
        The seed from which, together with the answers, all problems were drawn.
    printed : str
        The beginning of the output of the answers.
    arguments : list of tuple
        For each lost point, the arguments of the last call.
    """

    assignment: str
    points: int
    out_of: int
    lost: list[str]
    seed: int
    printed: str
    arguments: list[tuple[Any, ...]]


class StudentProcess:
    """A process that runs answers and calls one of their functions, and that ends after `seconds` of processor time."""

    def __init__(self, cells: list[str], function: str, seconds: float) -> None:
        if os.name != "posix":
            raise OSError(
                "the grader limits processes, which needs Linux or macOS; on Windows run the grader in WSL."
            )
        self.seconds, self.was_slow, self.printed = seconds, False, b""
        self.arguments: tuple[Any, ...] = ()
        self._code = {"cells": cells, "function": function}
        self._start()

    def _start(self) -> None:
        self._folder = TemporaryDirectory()
        reading, writing = os.pipe()
        program = Path(student.__file__).read_text(encoding="utf-8")
        self._process = subprocess.Popen(
            [sys.executable, "-I", "-S", "-c", program, str(writing)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, pass_fds=[writing],
            cwd=self._folder.name, start_new_session=True,
            env={"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1", "PYTHONHASHSEED": "0"},
        )  # fmt: skip
        os.close(writing)
        self._answers = os.fdopen(reading, "rb")
        self._timer = Timer(PATIENCE * self.seconds, self._end_in_time)
        self._timer.start()
        self._drain = Thread(target=self._keep_output, daemon=True)
        self._drain.start()
        limits = {
            "RLIMIT_CPU": int(self.seconds), "RLIMIT_AS": 2 * GB, "RLIMIT_FSIZE": 0, "RLIMIT_NPROC": 0,
            "RLIMIT_NOFILE": 0, "RLIMIT_CORE": 0,
        }  # fmt: skip
        numpy = str(Path(np.__file__).parents[1])
        self._settings = [self._code | {"limits": limits, "numpy": numpy}]

    def call(self, *arguments: Any, row: Row | None = None, fresh: bool = False) -> Any:
        """Return the plain data that the student's function returns, or raise `Lost` with a sentence.

        With `fresh`, a new process answers this call and the calls after it.
        """
        if fresh:
            self.close()
            self._start()
        self.arguments = arguments
        while self._settings:
            self._send(self._settings.pop())
        self._send([packed(each) for each in arguments] + [{"row": True}] * (row is not None))
        while True:
            line = self._answers.readline(LONGEST_ANSWER)
            try:
                answer = json.loads(line) if line.endswith(b"\n") else None
            except (ValueError, RecursionError):
                raise Lost("the answer is not JSON; return numbers, lists or arrays.") from None
            if not isinstance(answer, dict):
                raise Lost(self._why_it_ended(line))
            if "row" not in answer or row is None:
                break
            self._send(packed(row(answer["row"])))
        if "value" not in answer:
            raise Lost(f"it raised {str(answer.get('error', 'an error'))[:300]}.")
        return answer["value"]

    def close(self) -> None:
        """Kill the student's process and its children."""
        self._timer.cancel()
        self._kill()
        self._drain.join(1.0)
        self._process.wait()
        for file in (self._process.stdin, self._answers):
            with suppress(OSError):
                file.close()  # type: ignore[union-attr]
        self._folder.cleanup()

    def _send(self, message: Any) -> None:
        stream: Any = self._process.stdin
        try:
            stream.write(json.dumps(message).encode() + b"\n")
            stream.flush()
        except OSError:
            raise Lost(self._why_it_ended(b"")) from None

    def _why_it_ended(self, line: bytes) -> str:
        if self.was_slow:
            return f"the answers ran for more than {PATIENCE * self.seconds:g} seconds, probably in an endless loop."
        if len(line) >= LONGEST_ANSWER:
            return f"the answer has more than {LONGEST_ANSWER:,} bytes."
        return (
            "the process ended without an answer: it exited, printed too much, or used "
            f"{self.seconds:g} s of processor time, probably in an endless loop."
        )

    def _end_in_time(self) -> None:
        self.was_slow = True
        self._kill()

    def _kill(self) -> None:
        # kill the group before waiting: after a wait, the number of the process could belong to another process
        with suppress(OSError):
            os.killpg(self._process.pid, signal.SIGKILL)

    def _keep_output(self) -> None:
        stream: Any = self._process.stdout
        length = 0
        while part := stream.read1(65_536):
            self.printed, length = (self.printed + part)[:PRINTED], length + len(part)
            if length > MOST_OUTPUT:
                self._kill()
        stream.close()


def packed(value: Any) -> Any:
    """Return an argument in a form that JSON can hold."""
    if isinstance(value, np.ndarray):
        return {"values": value.tolist(), "dtype": value.dtype.name}
    return value


def answers_of(notebook: str | Path) -> tuple[str, list[str]]:
    """Return the name of the assignment and the answer cells: code cells that begin with the comment ``# answer``.

    Raises
    ------
    ValueError
        If the file is not a notebook, or if its answers are too long.
    """
    try:
        book = json.loads(Path(notebook).read_bytes())
        cells = ["".join(cell["source"]) for cell in book["cells"] if cell["cell_type"] == "code"]
        name = str(book["metadata"].get("refsvm", {}).get("assignment", ""))
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        raise ValueError(f"{notebook} is not a notebook; save it again as .ipynb.") from None
    answers = [cell for cell in cells if cell.lstrip().lower().startswith("# answer")]
    if sum(map(len, answers)) > LONGEST_CODE:
        raise ValueError(
            f"{notebook} has answers of more than {LONGEST_CODE:,} characters; a solution needs far fewer."
        )
    return name, answers


def grade(
    notebook: str | Path,
    *,
    assignment: str | None = None,
    seed: int | None = None,
    report: Callable[[str], object] | None = None,
) -> Grade:
    """Run the hidden tests of an assignment on a notebook.

    Parameters
    ----------
    notebook : path
        The notebook that a student handed in.
    assignment : str, optional
        Name of the assignment; by default the name that the notebook's metadata hold. Pass a name, because a student
        can write the name of an easier assignment into the notebook.
    seed : int, optional
        Seed of the random problems; by default a new seed, which the result holds. The problems also depend on the
        answers: a student who learns a seed cannot prepare for its problems, because changing an answer changes the
        problems.
    report : callable, optional
        Function that is called with a line of text after each point.

    Returns
    -------
    Grade
        The points, and a sentence for each lost point.

    Raises
    ------
    ValueError
        If the file is not a notebook, or if no such assignment exists.

    Notes
    -----
    The grader tests each point in a new process, so an answer that hangs, exits or fills the memory loses this point
    only. The process may not import refsvm, open files or start processes. The process may use 2 GB of memory. These
    limits protect the grade, not your computer. The grader cannot detect code that was not written by the student. An
    audit hook refuses forbidden calls, but cannot stop an answer that corrupts the memory of its own interpreter. Such
    an answer still cannot open files or start processes, but could end the grader or delete files. To grade strangers,
    run the grader in a container or as another user; if root runs the grader, the answers run as user number 65534.
    """
    name, cells = answers_of(notebook)
    name = assignment or name
    if name not in ASSIGNMENTS:
        names = ", ".join(ASSIGNMENTS)
        raise ValueError(
            f"{notebook} belongs to the assignment {name!r}, which does not exist; choose from {names}."
        )
    seed = secrets.randbits(32) if seed is None else seed
    code = int.from_bytes(sha256("\n".join(cells).encode("utf-8", "replace")).digest())
    reached, lost, printed, causes, calls = 0, [], b"", set(), []
    for number, point in enumerate(ASSIGNMENTS[name]):
        reason, output, arguments = examine(point, cells, np.random.default_rng([seed, number, code]))
        reached += 0 if reason else point.worth
        printed = (printed or output)[:PRINTED]
        if reason:
            # replace control codes, which a student may write, by blanks
            shown = "".join(sign if sign.isprintable() else " " for sign in reason)
            if cause := re.search(r" \(answer cell \d+ raised .*\)", shown):
                shown = shown.replace(cause[0], "; see above") if cause[0] in causes else shown
                causes.add(cause[0])
            lost.append(f"{point.function}, {point.what} ({point.worth}): {shown}")
            calls.append(arguments)
        if report:
            report(lost[-1] if reason else f"{point.function}, {point.what} ({point.worth}): earned")
    out_of = sum(point.worth for point in ASSIGNMENTS[name])
    return Grade(name, reached, out_of, lost, seed, printed.decode("utf-8", "replace"), calls)


def examine(point: Point, cells: list[str], rng: np.random.Generator) -> tuple[str, bytes, tuple[Any, ...]]:
    """Return the reason why a point is lost (or ""), the output of the answers, and the arguments of the last call."""
    process, reason = StudentProcess(cells, point.function, point.seconds), ""
    try:
        with np.errstate(all="ignore"):  # ignore overflow, because an answer may contain huge numbers
            point.run(process.call, rng)
    except Lost as why:
        reason = str(why)
    except Exception as error:  # noqa: BLE001  one answer must not end the grading of all others
        reason = f"the answer could not be examined ({type(error).__name__}: {error})."
    finally:
        process.close()
    return reason, process.printed, process.arguments


def main(arguments: Sequence[str] | None = None) -> int:
    """Grade one notebook from the command line; the exit code is 0 if the notebook could be graded."""
    parser = argparse.ArgumentParser(
        prog="python -m refsvm.testing.grade", description="Grade a student's notebook."
    )
    parser.add_argument("notebook", help="the notebook that a student handed in")
    parser.add_argument("--assignment", help="name of the assignment; by default the name in the notebook")
    parser.add_argument("--seed", type=int, help="seed of the random problems; by default a new seed")
    parser.add_argument("--json", metavar="FILE", help="write the grade to this file")
    parser.add_argument(
        "--show", metavar="FILE", help="write the arguments of each lost point to this file, as JSON"
    )
    options = parser.parse_args(arguments)

    def report(line: str) -> None:
        code = sys.stdout.encoding or "utf-8"  # this terminal may lack characters of a report
        sys.stdout.write(f"{line}\n".encode(code, "backslashreplace").decode(code))
        sys.stdout.flush()

    try:
        result = grade(options.notebook, assignment=options.assignment, seed=options.seed, report=report)
    except (OSError, ValueError) as error:
        sys.stderr.write(f"{error}\n")
        return 2
    # hide a seed that the lecturer chose, because students may read the output
    seed = f" (seed {result.seed})" if options.seed is None else ""
    report(f"{result.assignment}: {result.points} of {result.out_of} points{seed}")
    kept = asdict(result)
    failing = dict(zip(result.lost, kept.pop("arguments"), strict=True))
    for file, content in ((options.json, kept), (options.show, failing)):
        if file:
            with written_whole(file) as stream:
                stream.write(json.dumps(content, indent=1, default=np.ndarray.tolist).encode())
    return 0


if __name__ == "__main__":
    sys.exit(main())
