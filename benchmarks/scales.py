"""Problems of any unit and origin, trained by every caller, until one is silently wrong or says what is not so.

    python benchmarks/scales.py                            3,000 problems: seeds 0 to 2,999
    python benchmarks/scales.py --seed 3000 --problems 500 others; a run that was stopped goes on this way
    python benchmarks/scales.py --only SVC                 of one caller
    python benchmarks/scales.py --seed 17 --problems 1 -v  one of them, in full
    python benchmarks/scales.py --jobs 2                   in two processes

A seed stands for features of unit 1e-6 to 1e6 and origin 0 to 1e9, targets alike, a kernel, dense or sparse data, a
number of examples, seldom one beside a threshold in the code, and a caller (`fuzzing.scaled`). `fuzzing.scale_verdict`
says what is checked: without a warning nothing may be wrong by more than ten times the tolerance, and a warning must be
right. The exit code is 1 if anything is wrong.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from multiprocessing import get_context

from fuzzing.scale_verdict import Verdict, verdict_of
from fuzzing.scaled import CALLERS, any_scaled

SLOW = 60.0
"""Seconds after which a problem is named."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Try the seeds, print what is wrong and a summary; return the exit code."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seed", type=int, default=0, help="first seed")
    parser.add_argument("--problems", type=int, default=3_000, metavar="N", help="number of problems")
    parser.add_argument("--only", choices=CALLERS, metavar="CALLER", help=f"one of {', '.join(CALLERS)}")
    parser.add_argument("--jobs", type=int, default=1, metavar="N", help="processes")
    parser.add_argument("-v", "--verbose", action="store_true", help="describe every problem")
    options = parser.parse_args(arguments)
    seeds = range(options.seed, options.seed + options.problems)
    began, outcomes, kinds, done, bad = time.perf_counter(), Counter[str](), Counter[str](), 0, 0
    tasks = [(seed, options.only, options.verbose) for seed in seeds]
    try:
        for lines, outcome, found, size in tried_by(options.jobs, tasks):
            print(*lines, sep="\n", end="\n" if lines else "", flush=True)
            outcomes.update([outcome, size])
            kinds.update(found)
            done, bad = done + 1, bad + bool(found)
    except KeyboardInterrupt:
        print("Interrupted.", file=sys.stderr)
    seconds = time.perf_counter() - began
    ended = ", ".join(f"{outcomes[name]} {name}" for name in ("silent", "told", "raised"))
    wrong = "".join(f"; {count} {kind}" for kind, count in kinds.most_common())
    print(
        f"{done} problems (seeds from {options.seed}), {bad} bad{wrong}; {ended}; {outcomes['large']} with n ≥ 10,000 "
        f"variables; {seconds:.0f} s."
    )
    return 1 if bad else 0


Tried = tuple[list[str], str, set[str], str]


def tried_by(jobs: int, tasks: list[tuple[int, str | None, bool]]) -> Iterator[Tried]:
    """Try all tasks, in this process or in several, in order."""
    if jobs == 1:
        yield from map(tried, tasks)
        return
    with get_context("spawn").Pool(jobs) as pool:
        yield from pool.imap(tried, tasks)


def tried(task: tuple[int, str | None, bool]) -> Tried:
    """Try one seed; return what to print, how it ended, and the kinds of what is wrong."""
    seed, only, verbose = task
    began, problem = time.perf_counter(), any_scaled(seed, only)
    verdict = verdict_of(problem)
    seconds = time.perf_counter() - began
    lines = (
        [f"seed {seed}: {problem}: {verdict.outcome}, {seconds:.2f} s"] if verbose or seconds > SLOW else []
    )
    lines += [f"    {sentence}" for sentence in verdict.said if verbose]
    lines += list(reports(seed, only, str(problem), verdict))
    variables = problem.n * (2 if problem.task == "regression" else 1)
    size = "large" if variables >= 10_000 else "small"
    return lines, verdict.outcome, {kind for kind, _ in verdict.complaints}, size


def reports(seed: int, only: str | None, described: str, verdict: Verdict) -> Iterable[str]:
    """Return a line for each complaint, and the line that does it again."""
    for kind, sentence in verdict.complaints:
        yield f"seed {seed}: {kind}: {sentence}"
    if verdict.complaints:
        again = "" if only is None else f' --only "{only}"'
        yield f"    {described}\n    python benchmarks/scales.py --seed {seed} --problems 1 -v{again}"


if __name__ == "__main__":
    sys.exit(main())
