"""All cards of results and all progress lines, in every state, on one page to look at.

    python benchmarks/gallery.py gallery.html            the page; its head has a switch for the dark
    python benchmarks/gallery.py gallery.html --pictures DIR    and pictures of it, light and dark, narrow and wide

The results are those of `tests/test_shown.py`, which checks what can be checked without eyes. The lines are what each
call writes while it runs, in a terminal and in a notebook. Pictures need a browser, chromium, on the PATH.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from html import escape
from pathlib import Path
from typing import Any, Final

import numpy as np

ROOT: Final = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

import refsvm  # noqa: E402
from refsvm.analysis.derivatives import influence, tune_by_gradient  # noqa: E402
from refsvm.analysis.paths import cross_validate_path  # noqa: E402
from refsvm.services import line  # noqa: E402
from tests import test_shown  # noqa: E402

WIDTHS: Final = (390, 1400)
"""Pixels of a telephone and of a wide window."""

LOOKS: Final = {"light": ("#ffffff", "#111111"), "dark": ("#111111", "#dddddd")}

PAGE: Final = """<!doctype html><meta charset="utf-8"><title>Cards and lines</title>
<meta name="viewport" content="width=device-width">
<style>body{{background:{ground};color:{ink};font:14px system-ui,sans-serif;margin:12px}}
h2{{font-size:13px;font-weight:400;opacity:.7;margin:18px 0 2px}}pre{{white-space:pre-wrap;margin:2px 0}}</style>
{body}"""


class Written:
    """A writer that keeps the texts of a line."""

    seconds = 0.0

    def __init__(self) -> None:
        self.texts: list[str] = []

    def write(self, progress: Any, text: str) -> None:
        """Keep a text, unless it differs from the last one in its seconds alone."""
        bare = re.sub(r"[\d.]+ s", "", text)
        if not self.texts or re.sub(r"[\d.]+ s", "", self.texts[-1]) != bare:
            self.texts.append(text)

    def close(self) -> None:
        """Nothing is left open."""


class Slow(refsvm.SecondOrder):
    """Second order, each step of which lets the line be written."""

    def select(self, state: Any) -> Any:
        """Return the pair."""
        time.sleep(0.002)
        return super().select(state)


def calls() -> Iterator[tuple[str, Callable[[], Any]]]:
    """Yield the calls that have a line."""
    X, two, slow = test_shown.X, test_shown.asked("two")["y"], Slow()
    three, real = test_shown.asked("three")["y"], test_shown.X[:, 0]
    grid = {"verbose": True, "cv": 2, "selector": slow}
    rounds = {"progress": True, "engine": "numpy", "selector": slow}

    def look(_: Any) -> None:
        time.sleep(0.004)

    path = {"progress": True, "C_max": 10.0, "callback": look}
    problem = test_shown.problem("two")
    yield "solve", lambda: refsvm.solve(problem, selector=slow, engine="numpy", progress=True)
    yield (
        "solve, with a limit",
        lambda: refsvm.solve(problem, selector=slow, engine="numpy", max_iter=30, progress=True),
    )
    for name, y in (("two classes", two), ("three classes", three)):
        yield f"leave_one_out, {name}", lambda y=y: refsvm.leave_one_out(X, y, **rounds)
        yield f"cross_validate, {name}", lambda y=y: refsvm.cross_validate(X, y, **rounds)
        yield f"regularization_path, {name}", lambda y=y: refsvm.regularization_path(X, y, **path)
    yield "leave_one_out, regression", lambda: refsvm.leave_one_out(X, real, epsilon=0.1, **rounds)
    yield "leave_one_out, novelty", lambda: refsvm.leave_one_out(X, nu=0.3, **rounds)
    yield "leave_one_out, stopped", lambda: refsvm.leave_one_out(X, two, **rounds, time_limit=0.05)
    yield (
        "epsilon_path",
        lambda: refsvm.epsilon_path(X, real, epsilon=(1.0, 0.1), progress=True, callback=look),
    )
    yield "nu_path", lambda: refsvm.nu_path(X, nu=(0.2, 0.4), progress=True, callback=look)
    yield "cost_path", lambda: refsvm.cost_path(X, two, progress=True, callback=look)
    yield "cross_validate_path", lambda: cross_validate_path(X, two, folds=3, C_max=10.0, progress=True)
    yield "influence", lambda: influence(problem, progress=True, callback=look)
    yield (
        "tune_by_gradient",
        lambda: tune_by_gradient(X, np.sign(X[:, 0]), starts=1, max_evaluations=4, progress=True),
    )
    yield "SVC.fit", lambda: refsvm.SVC(selector=slow, engine="numpy", verbose=True).fit(X, two)
    yield "SVCCV.fit", lambda: refsvm.SVCCV(Cs=[1.0, 10.0], gammas=2, **grid).fit(X, two)
    yield "SVRCV.fit", lambda: refsvm.SVRCV(Cs=[1.0, 10.0], gammas=2, **grid).fit(X, real)
    yield (
        "SVC.partial_fit",
        lambda: refsvm.SVC(verbose=True).partial_fit(X[:40], two[:40]).partial_fit(X[40:], two[40:]),
    )


def lines() -> Iterator[tuple[str, list[str]]]:
    """Yield the calls, and up to five texts of the line of each, in a terminal and as the last one in a notebook."""
    line.SHOWN_FROM = line.REFRESH_SECONDS = 0.0  # type: ignore[misc]
    line.LOOK_SECONDS = 0.001  # type: ignore[misc]
    line._place = line.Place()
    for name, call in calls():
        told = []
        for notebook in (False, True):
            writer = Written()
            line.writer = lambda stays, writer=writer: writer  # type: ignore[assignment]
            line.in_notebook = lambda notebook=notebook: notebook
            call()
            places = np.unique(
                np.linspace(0, max(len(writer.texts) - 1, 0), 4 if notebook is False else 3).astype(int)
            )
            told += [writer.texts[k] for k in places] if writer.texts else ["(no line)"]
        yield name, told


def body() -> str:
    """Return all cards and all lines."""
    parts = ["<h1>Progress lines</h1>"]
    parts += [
        f"<h2>{escape(name)}</h2>" + "".join(f"<pre>{escape(text)}</pre>" for text in texts)
        for name, texts in lines()
    ]
    parts.append("<h1>Cards</h1>")
    made = {
        **test_shown.SHOWN,
        **{f"search, {kind}": lambda k=kind: test_shown.fitted(k) for kind in test_shown.SEARCHES},
    }
    for name, make in made.items():
        result = make()
        card = result._found_html() if hasattr(result, "_found_html") else result._repr_html_()
        parts.append(f"<h2>{escape(name)} · {escape(repr(result)[:160])}</h2>{card}")
    return "\n".join(parts)


def main() -> None:
    """Write the page, and its pictures if they are asked for."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("page", type=Path)
    parser.add_argument("--pictures", type=Path, help="folder for pictures")
    given = parser.parse_args()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        inside = body()
    for look, (ground, ink) in LOOKS.items():
        page = given.page.with_name(f"{given.page.stem}_{look}{given.page.suffix}")
        page.write_text(PAGE.format(ground=ground, ink=ink, body=inside), encoding="utf-8")
        for width in WIDTHS if given.pictures else ():
            given.pictures.mkdir(parents=True, exist_ok=True)
            height = 60 * inside.count("<h2>") * (6 if width < 1000 else 4)
            picture = given.pictures / f"{look}_{width}.png"
            subprocess.run(
                ["chromium", "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars",
                 f"--screenshot={picture}", f"--window-size={width},{height}", page.resolve().as_uri()],
                check=True, capture_output=True,
            )  # fmt: skip


if __name__ == "__main__":
    main()
