"""How many times as fast as refits are the questions of docs/questions.md? One table of ratios, some minutes.

    python benchmarks/questions.py                          all of them
    python benchmarks/questions.py --only loo-regressions folds    some of them
    python benchmarks/questions.py --output benchmarks/questions.md    the page

Each question is asked of refsvm and of scikit-learn (of MAPIE for intervals) on the same data at a tolerance of 1e-3,
in turns, with compiled code loaded; the least processor seconds of one thread count. A ratio is the geometric mean over
the sets, of many classes the smaller one. "difference" is the largest one of values, or the share of predictions that
differ. The exit code is 1 if a ratio is below its aim. Without MAPIE its intervals are left out.
"""

from __future__ import annotations

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")
# the first call of each question compiles what it needs, and is not measured
os.environ["REFSVM_COMPILE_BESIDE"] = "0"

import argparse
import warnings
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np
import regressions
from side_by_side.libraries import machine
from sklearn import svm
from sklearn.datasets import load_diabetes, load_digits, load_iris, load_wine, make_friedman3
from sklearn.model_selection import LeaveOneOut, cross_val_predict

from refsvm import RBF, SVC, KKTGap, cross_validate, leave_one_out
from refsvm.datasets import load
from refsvm.experiment import Grid

TOL: Final = 1e-3
STOP: Final = KKTGap(TOL, relative=True)
MOST: Final = 300
"""Examples of a set of classes, at most."""


class Answer(NamedTuple):
    """Seconds of refsvm and of the other, and how far their answers differ, on one set."""

    name: str
    ours: float
    theirs: float
    difference: float


def targets() -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Return six sets of features and targets, standardised."""
    wine, heart = load_wine(return_X_y=True)[0], load("heart").X
    given = {
        "friedman3": make_friedman3(400, noise=0.1, random_state=0),
        "wine, alcohol": (wine[:, 1:], wine[:, 0]),
        "heart, age": (heart[:, 1:], heart[:, 0]),
    }
    made = {name: (standardised(X), standardised(y)) for name, (X, y) in given.items()}
    return regressions.sets() | made


def classes() -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Return six sets of three to ten classes, standardised."""
    (X, y), (Z, t) = load_digits(return_X_y=True), load_diabetes(return_X_y=True)
    given = {
        "iris": load_iris(return_X_y=True),
        "wine": load_wine(return_X_y=True),
        "diabetes, quarters": (Z, np.searchsorted(np.quantile(t, [0.25, 0.5, 0.75]), t)),
        "digits 0-4": (X[y < 5], y[y < 5]),
        "digits 5-9": (X[y > 4], y[y > 4]),
        "digits": (X, y),
    }
    some = {name: np.random.default_rng(0).permutation(len(y))[:MOST] for name, (_, y) in given.items()}
    return {name: (standardised(X[some[name]]), y[some[name]]) for name, (X, y) in given.items()}


def standardised(X: np.ndarray) -> np.ndarray:
    """Return X with columns of mean 0 and variance 1; constant ones are 0."""
    spread = X.std(axis=0)
    return np.asarray((X - X.mean(axis=0)) / np.where(spread > 0.0, spread, 1.0))


def timed(name: str, turns: int, ours: Callable[[], Any], theirs: Callable[[], Any]) -> Answer:
    """Ask both in turns."""
    least, found = regressions.measured({"ours": ours, "theirs": theirs}, turns)
    one, other = found["ours"], found["theirs"]
    is_value = np.asarray(one).dtype.kind == "f"
    difference = float(np.abs(one - other).max() if is_value else np.mean(one != other))
    return Answer(name, least["ours"], least["theirs"], difference)


def left_out_targets(turns: int) -> Iterator[Answer]:
    """Leave-one-out of regressions."""
    for name, (X, y) in targets().items():
        given = {"kernel": RBF(1.0 / X.shape[1]), "C": 1.0, "epsilon": 0.1, "stop": STOP}
        model = svm.SVR(gamma=1.0 / X.shape[1], tol=TOL)
        yield timed(
            name, turns, lambda X=X, y=y, g=given: leave_one_out(X, y, **g).predictions,
            lambda X=X, y=y, m=model: cross_val_predict(m, X, y, cv=LeaveOneOut()),
        )  # fmt: skip


def folds_of_targets(turns: int) -> Iterator[Answer]:
    """Ten folds of regressions."""
    for name, (X, y) in targets().items():
        fold = np.arange(len(y)) % 10
        given = {"kernel": RBF(1.0 / X.shape[1]), "C": 1.0, "epsilon": 0.1, "stop": STOP, "folds": fold}
        splits = [(np.flatnonzero(fold != h), np.flatnonzero(fold == h)) for h in range(10)]
        model = svm.SVR(gamma=1.0 / X.shape[1], tol=TOL)
        yield timed(
            name, turns, lambda X=X, y=y, g=given: cross_validate(X, y, **g).predictions,
            lambda X=X, y=y, m=model, s=splits: cross_val_predict(m, X, y, cv=s),
        )  # fmt: skip


def left_out_classes(turns: int) -> Iterator[Answer]:
    """Leave-one-out of several classes."""
    for name, (X, y) in classes().items():
        given = {"kernel": RBF(1.0 / X.shape[1]), "C": 1.0}
        model = svm.SVC(gamma=1.0 / X.shape[1], tol=TOL)
        yield timed(
            name, turns, lambda X=X, y=y, g=given: leave_one_out(X, y, **g).predictions,
            lambda X=X, y=y, m=model: cross_val_predict(m, X, y, cv=LeaveOneOut()),
        )  # fmt: skip


def searches(turns: int) -> Iterator[Answer]:
    """SVRCV on 5 x 5 x 3 cells."""
    for name, (X, y) in regressions.sets().items():
        least, difference = regressions.search(X[:250], y[:250], turns)
        yield Answer(name, *least.values(), difference)


def jackknife(turns: int) -> Iterator[Answer]:
    """Jackknife+ intervals beside MAPIE's."""
    for name, (X, y) in regressions.sets().items():
        least, difference = regressions.intervals(X, y, turns)
        yield Answer(name, *least.values(), difference)


def many_classes(turns: int) -> Iterator[Answer]:
    """One fit of 150 classes of 3 examples, and of 300 classes of 2."""
    for k, each in ((150, 3), (300, 2)):
        rng = np.random.default_rng(0)
        X = np.repeat(rng.normal(size=(k, 128)), each, axis=0) + 0.5 * rng.normal(size=(k * each, 128))
        X, y = X / np.linalg.norm(X, axis=1)[:, None], np.repeat(np.arange(k), each)
        ours, theirs = (made(kernel="linear", tol=TOL) for made in (SVC, svm.SVC))
        least, _ = regressions.measured(
            {"ours": lambda m=ours, X=X, y=y: m.fit(X, y), "theirs": lambda m=theirs, X=X, y=y: m.fit(X, y)},
            turns,
        )
        yield Answer(f"{k} of {each}", *least.values(), float(np.mean(ours.predict(X) != theirs.predict(X))))


QUESTIONS: Final[dict[str, tuple[float, Callable[[int], Iterator[Answer]]]]] = {
    "loo-regressions": (25.0, left_out_targets),
    "loo-classes": (12.0, left_out_classes),
    "searches": (5.0, searches),
    "folds": (5.0, folds_of_targets),
    "jackknife+": (15.0, jackknife),
    "many-classes": (0.2, many_classes),
}
"""The ratio that is aimed at, and the measurements."""


def page(table: str, answers: list[tuple[str, Answer]]) -> str:
    """Return the page: the ratios, then what was measured."""
    rows = tuple(
        (
            question,
            a.name,
            f"{a.ours:.4f}",
            f"{a.theirs:.4f}",
            f"{a.theirs / a.ours:.1f}",
            f"{a.difference:.1e}",
        )
        for question, a in answers
    )
    columns = ("question", "set", "refsvm, s", "refits, s", "times as fast", "difference")
    return (
        "# Every question beside refits\n\n"
        "Written by `python benchmarks/questions.py --output benchmarks/questions.md`, which says what is compared.\n"
        f"Measured on {machine()}.\n\n{table}\n\n{Grid(columns, rows).to_markdown()}\n"
    )


def main() -> int:
    """Print a line for each set as it is done, and the table of ratios; return the exit code."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--only", nargs="*", choices=QUESTIONS, default=[*QUESTIONS])
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--output", type=Path, help="where the page goes, beside what is printed")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    lines, every, is_short = [], [], False
    for question in options.only:
        if question == "jackknife+" and find_spec("mapie") is None:
            print("jackknife+: left out, as MAPIE is not installed")
            continue
        aim, ask = QUESTIONS[question]
        answers, ratios = [], []
        for answer in ask(options.turns):
            answers.append(answer)
            ratios.append(answer.theirs / answer.ours)
            print(
                f"{question}, {answer.name}: {answer.ours:.4f} s, theirs {answer.theirs:.4f} s, "
                f"ratio {ratios[-1]:.2f}, difference {answer.difference:.1e}",
                flush=True,
            )
        every += [(question, answer) for answer in answers]
        # of many classes each size has to be within the aim
        ratio = min(ratios) if ask is many_classes else float(np.exp(np.mean(np.log(ratios))))
        is_short = is_short or ratio < aim
        worst = max(answer.difference for answer in answers)
        lines.append((question, str(len(answers)), f"{ratio:.2f}", f"{aim:g}", f"{worst:.1e}"))
    columns = ("question", "sets", "times as fast", "aim", "largest difference")
    table = Grid(columns, tuple(lines)).to_markdown()
    print(table)
    if options.output is not None:
        options.output.write_text(page(table, every), encoding="utf-8")
    return int(is_short)


if __name__ == "__main__":
    raise SystemExit(main())
