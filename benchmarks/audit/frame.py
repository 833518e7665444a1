"""What all audits share: numbered cases, the count of bad ones, what is printed, and the exit code."""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from functools import partial
from importlib import import_module
from multiprocessing import get_context
from typing import Any, Final

__all__ = ["NAMES", "Audit", "Found", "audit_of", "main"]

NAMES: Final = "signs", "open_boxes", "screening", "broken_map"
"""Each audit is the `AUDIT` of the module with its name."""

SLOW: Final = 60.0
"""Seconds after which a case is described."""


@dataclass
class Found:
    """What came of one case.

    Attributes
    ----------
    complaints : list of str
        What is wrong; empty if all is well.
    counts : iterable of str, or mapping from str to int
        What the summary counts.
    shown : str
        What the case is and how it ended.
    """

    complaints: list[str]
    counts: Iterable[str] | Mapping[str, int] = ()
    shown: str = ""


@dataclass(frozen=True)
class Audit:
    """Cases by number, most of them seeds.

    Attributes
    ----------
    question : str
    case : callable
        Takes a number and the options, and returns a `Found`. An exception is wrong, too.
    count : int
        How many cases there are by default.
    flags : dict
        Other options: what `argparse` takes for each.
    all_of_them : callable, optional
        Takes how many cases there were, and the counts; returns what is wrong with all of them together.
    around : callable
        Returns a context manager, in which all cases are tried.
    """

    question: str
    case: Callable[[int, Any], Found]
    count: int
    flags: dict[str, dict[str, Any]] = field(default_factory=dict)
    all_of_them: Callable[[int, Counter[str]], list[str]] | None = None
    around: Callable[[], AbstractContextManager[Any]] = nullcontext


def audit_of(name: str) -> Audit:
    """Return an audit; what it needs is imported now."""
    found: Audit = import_module(f".{name}", __package__).AUDIT
    return found


def main(arguments: Sequence[str] | None = None) -> int:
    """Try the cases of an audit, print what is wrong and a summary; return the exit code: 1 if anything is."""
    given = [*(sys.argv[1:] if arguments is None else arguments)]
    first = argparse.ArgumentParser(prog="python -m benchmarks.audit")
    first.add_argument("name", choices=NAMES, metavar="NAME", help=", ".join(NAMES))
    name = first.parse_args(given[:1]).name
    audit = audit_of(name)
    parser = argparse.ArgumentParser(prog=f"{first.prog} {name}", description=audit.question)
    parser.add_argument(
        "--first", "--seed", type=int, default=0, metavar="CASE", help="number of the first case"
    )
    parser.add_argument("--count", type=int, default=audit.count, metavar="N", help=f"{audit.count} cases")
    parser.add_argument("--jobs", type=int, default=1, metavar="N", help="processes")
    parser.add_argument("-v", "--verbose", action="store_true", help="describe every case")
    for flag, settings in audit.flags.items():
        parser.add_argument(flag, **settings)
    options = parser.parse_args(given[1:])
    if options.jobs > 1 and audit.around is not nullcontext:
        parser.error(
            f"{name} tries its cases in one process, around which it makes a place for them; leave out --jobs"
        )
    return run(name, audit, options)


def run(name: str, audit: Audit, options: Any) -> int:
    """Try the cases that the options ask for."""
    began, counts, bad, done = time.perf_counter(), Counter[str](), 0, 0
    together: list[str] = []
    numbers = range(options.first, options.first + options.count)
    try:
        with audit.around():
            for number, found, took in tried_by(options.jobs, numbers, name, options):
                counts.update(found.counts)
                done, bad = done + 1, bad + bool(found.complaints)
                if found.shown and (options.verbose or found.complaints or took > SLOW):
                    print(f"case {number}: {found.shown}; {took:.2f} s")
                for complaint in found.complaints:
                    print(f"case {number}: {complaint}")
                if found.complaints:
                    print(f"    {again(name, audit, options, number)}")
                sys.stdout.flush()
            together += audit.all_of_them(done, counts) if audit.all_of_them is not None else []
    except KeyboardInterrupt:
        print("Interrupted.", file=sys.stderr)
    print(*together, sep="\n", end="\n" if together else "")
    told = [", ".join(f"{number:,} {what}" for what, number in counts.most_common() if number)]
    told.append(f"{time.perf_counter() - began:.0f} s; go on with --first {options.first + done}.")
    print(f"{name}: {done} cases from {options.first}, {bad} bad; {'; '.join(filter(None, told))}")
    return int(bad > 0 or bool(together))


Tried = tuple[int, Found, float]


def tried_by(jobs: int, numbers: Sequence[int], name: str, options: Any) -> Iterator[Tried]:
    """Try all cases, in this process or in several, in order."""
    work = partial(tried, name, options)
    if jobs == 1:
        yield from map(work, numbers)
        return
    with get_context("spawn").Pool(jobs) as pool:
        yield from pool.imap(work, numbers)


def tried(name: str, options: Any, number: int) -> Tried:
    """Try one case; return its number, what came of it, and the seconds."""
    began = time.perf_counter()
    try:
        found = audit_of(name).case(number, options)
    except Exception as error:  # noqa: BLE001  whatever it is, it is a find
        found = Found([f"{type(error).__name__}: {error}"], ["RAISED"])
    return number, found, time.perf_counter() - began


def again(name: str, audit: Audit, options: Any, number: int) -> str:
    """Return the command that tries one case again."""
    words = ["python -m benchmarks.audit", name, f"--first {number} --count 1 -v"]
    for flag in audit.flags:
        value = getattr(options, flag.strip("-").replace("-", "_"))
        if value:
            words.append(flag if value is True else f'{flag} "{value}"')
    return " ".join(words)
