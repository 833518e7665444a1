"""What a stepper needs in its page: the data as JSON, and a strip of pictures for readers without JavaScript.

Nothing here needs Sphinx; `stepper` makes the directives of it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import asdict, dataclass, fields, replace
from html import escape
from itertools import count
from pathlib import Path
from typing import Self

import numpy as np

import refsvm
from refsvm import (
    RBF,
    ConjugateSecondOrder,
    ConjugateStep,
    DualProblem,
    HybridMaximumGain,
    Linear,
    MaximumGain,
    MostViolatingPair,
    NewtonStep,
    OverrelaxedNewtonStep,
    PlanningAheadStep,
    SecondOrder,
    iterate,
    regularization_path,
    solve,
)
from refsvm.analysis.paths import RegularizationPath
from refsvm.datasets import Dataset, make_banana, make_chessboard
from refsvm.display.strip import SIDE, nodes, ranges_around
from refsvm.display.strip import picture as draw

SCRIPTS = {
    "stepper": ("smo.js", "rounds.js", "picture.js", "panels.js", "stepper.js"),
    "path-stepper": ("picture.js", "path_stepper.js"),
    "line-stepper": ("picture.js", "line_stepper.js"),
}
"""The scripts that each directive needs, in order; stepper.css serves all."""

FOLDERS = (
    Path(__file__).parents[1] / "_static" / "stepper",
    Path(refsvm.__file__).parent / "display" / "static" / "stepper",
)
"""Where the scripts are: the algorithms with the pages, the drawing code in the package, for notebooks too."""


def make_clouds(n: int, *, rng: int) -> Dataset:
    """Make two clouds of points that a line separates, with one label turned round: the examples of chapter 2."""
    generator = np.random.default_rng(rng)
    y = np.repeat([-1, 1], n // 2)
    X = generator.normal(scale=0.6, size=(n, 2)) + np.outer(y, [1.0, 0.8])
    y[2] = 1
    return Dataset("clouds", X, y.astype(np.float64), "two clouds of points", "this package", "")


DATA = {"banana": make_banana, "chessboard": make_chessboard, "clouds": make_clouds}
SELECTORS = {
    "mvp": MostViolatingPair(),
    "second-order": SecondOrder(),
    "maximum-gain": MaximumGain(),
    "hybrid": HybridMaximumGain(),
    "conjugate": ConjugateSecondOrder(),
}
STEPS = {
    "newton": NewtonStep(),
    "overrelaxed": OverrelaxedNewtonStep(),
    "planning-ahead": PlanningAheadStep(),
    "conjugate": ConjugateStep(),
}

CELL = """\
def stepper():  # that of the page; its buttons need anywidget
    {numpy}from refsvm import {names}
    {datasets}from refsvm.display import Stepper

    {points}
    rules = {{"selector": {selector}, "step": {step}}}
    return Stepper(X, y, kernel={kernel}, C={C}, **rules)


stepper()"""
CLOUDS = """\
y = np.repeat([-1, 1], {n} // 2)
    X = np.random.default_rng({seed}).normal(scale=0.6, size=({n}, 2)) + np.outer(y, [1.0, 0.8])
    y[2] = 1"""
OTHERS = """\
data = make_{data}({n}, rng={seed})
    X, y = data.X, data.y"""
"""A stepper as the cell of a notebook, and its points, those of `DATA`."""

GRID = 61  # nodes across a picture of the strip
numbers = count()


@dataclass(frozen=True)
class Stepper:
    """Options of ``.. stepper::``, with the names that the scripts use; γ = 0 is the linear kernel.

    With ``at`` the stepper begins after so many steps, and shows the picture, two buttons and C first.
    """

    data: str = "banana"
    n: int = 40
    seed: int = 1
    gamma: float = 0.5
    C: float = 10.0
    selector: str = "second-order"
    step: str = "newton"
    tol: float = 1e-3
    at: int = 0

    def shipped(self) -> dict:
        """Return what the page holds: the options, the examples, and K from its diagonal to the right."""
        examples = DATA[self.data](self.n, rng=self.seed)
        K = gram(examples.X, self.gamma)
        return asdict(self) | {
            "X": examples.X.tolist(),
            "y": examples.y.tolist(),
            "K": [K[i, i:].tolist() for i in range(self.n)],
        }

    def code(self) -> str:
        """Return a cell that shows the same examples and rules in a notebook, where Python takes the steps."""
        rules, is_drawn = (SELECTORS[self.selector], STEPS[self.step]), self.data == "clouds"
        kernel = f"RBF({self.gamma!r})" if self.gamma else "Linear()"
        return CELL.format(
            numpy="import numpy as np\n\n    " if is_drawn else "",
            datasets="" if is_drawn else f"from refsvm.datasets import make_{self.data}\n    ",
            names=", ".join(["RBF" if self.gamma else "Linear", *(type(rule).__name__ for rule in rules)]),
            points=(CLOUDS if is_drawn else OTHERS).format(**asdict(self)),
            selector=repr(rules[0]), step=repr(rules[1]), kernel=kernel, C=self.C,
        )  # fmt: skip

    @classmethod
    def of_directive(cls, text: str) -> Self:
        """Return that of the options of a directive, one on each line: `` :C: 2``."""
        types = {
            field.name: {"str": str, "int": int, "float": float}[str(field.type)] for field in fields(cls)
        }
        return cls(
            **{name: types[name](value) for name, value in re.findall(r"(?m)^ *:(\w+): *(.*?)\s*$", text)}
        )

    def html(self) -> str:
        """Return the stepper as a fragment of a page."""
        examples = DATA[self.data](self.n, rng=self.seed)
        states = list(alphas(gram(examples.X, self.gamma), examples.y, self))
        moments = sorted({0, 1, 4, 16, len(states) - 1} & set(range(len(states))))
        strip = "".join(
            picture(
                examples, self.gamma, *states[k], self.C, f"after {k} steps" if k != 1 else "after 1 step"
            )
            for k in moments
        )
        words = (
            f"The decision boundary after {', '.join(map(str, moments[:-1]))} and {moments[-1]} steps, "
            f"at which the KKT gap is at most {self.tol:g}. With JavaScript this is a stepper."
        )
        return fragment("stepper", self.shipped(), strip, words)


@dataclass(frozen=True)
class PathStepper:
    """Options of ``.. path-stepper::``."""

    data: str = "banana"
    n: int = 40
    seed: int = 1
    gamma: float = 0.5
    C_min: float = 0.05
    C_max: float = 100.0

    def path(self) -> RegularizationPath:
        """Return the path, with one variable for each example."""
        examples = DATA[self.data](self.n, rng=self.seed)
        # compiling takes longer than a path of forty examples
        line = {"C_min": self.C_min, "C_max": self.C_max, "merge": False, "engine": "numpy"}
        return regularization_path(examples.X, examples.y, kernel=RBF(self.gamma), **line)

    def shipped(self) -> dict:
        """Return what the page holds: the options, the examples, and the breakpoints with what changes at each."""
        examples = DATA[self.data](self.n, rng=self.seed)
        record = self.path().record
        return asdict(self) | {
            "X": examples.X.tolist(),
            "y": examples.y.tolist(),
            "breakpoints": record.t.tolist(),
            "intercepts": record.intercept.tolist(),
            "start": record.start.tolist(),
            "changed": record.changed.tolist(),
            "values": record.value.tolist(),
        }

    def html(self) -> str:
        """Return the path stepper as a fragment of a page."""
        examples = DATA[self.data](self.n, rng=self.seed)
        path = self.path()
        middle = float(np.sqrt(self.C_min * self.C_max))
        strip = "".join(
            picture(examples, self.gamma, path.alpha(C), path.intercept(C), C, f"C = {C:.3g}")
            for C in (self.C_min, middle, self.C_max)
        )
        words = (
            f"The decision boundary at three values of C. Between C = {self.C_min:g} and {self.C_max:g} the path has "
            f"{len(path.C)} breakpoints. With JavaScript C can be dragged."
        )
        return fragment("path-stepper", self.shipped(), strip, words)


@dataclass(frozen=True)
class LineStepper:
    """Options of ``.. line-stepper::``: two clouds that a line separates, those of chapter 1."""

    n: int = 20
    seed: int = 3

    def examples(self) -> Dataset:
        """Return the clouds with each label as it was drawn."""
        clouds = make_clouds(self.n, rng=self.seed)
        return replace(clouds, y=np.repeat([-1.0, 1.0], self.n // 2))

    def shipped(self) -> dict:
        """Return what the page holds: the options and the examples."""
        examples = self.examples()
        return asdict(self) | {"X": examples.X.tolist(), "y": examples.y.tolist()}

    def html(self) -> str:
        """Return the line stepper as a fragment of a page."""
        examples, C = self.examples(), 1e3
        found = solve(DualProblem.classification(gram=gram(examples.X, 0.0), y=examples.y, C=C))
        strip = picture(examples, 0.0, found.alpha, found.intercept, C, "the widest street")
        words = (
            "Two clouds and the widest street between them. With JavaScript a line can be turned and shifted."
        )
        return fragment("line-stepper", self.shipped(), strip, words)


def script(name: str) -> Path:
    """Return the file of a script or style of the steppers."""
    return next(folder / name for folder in FOLDERS if (folder / name).is_file())


def kernel(gamma: float) -> RBF | Linear:
    """Return the Gaussian kernel, or the linear one for γ = 0."""
    return RBF(gamma) if gamma else Linear()


def gram(X: np.ndarray, gamma: float) -> np.ndarray:
    """K, exactly symmetric: its upper triangle is what the page holds."""
    upper = np.triu(kernel(gamma)(X, X))
    return upper + np.triu(upper, 1).T


def alphas(K: np.ndarray, y: np.ndarray, options: Stepper) -> Iterator[tuple[np.ndarray, float]]:
    """(α, b) before the first step and after each."""
    problem = DualProblem.classification(gram=K, y=y, C=options.C)
    yield np.zeros(len(y)), 0.0
    for state in iterate(problem, selector=SELECTORS[options.selector], step=STEPS[options.step]):
        yield state.alpha.copy(), problem.intercept(state.alpha, state.gradient)


def picture(
    examples: Dataset, gamma: float, alpha: np.ndarray, intercept: float, C: float, caption: str
) -> str:
    """One picture of the strip: the examples, filled by their share of C, the boundary and the margins."""
    X, ranges = examples.X, ranges_around(examples.X)
    h = kernel(gamma)(nodes(ranges, GRID), X) @ alpha + intercept
    drawn = draw(X, examples.y, np.abs(alpha) / C, h, ranges, (-1, 0, 1))
    return (
        f'<figure><svg viewBox="0 0 {SIDE} {SIDE}" aria-hidden="true">{drawn}</svg>'
        f"<figcaption>{escape(caption)}</figcaption></figure>"
    )


def fragment(kind: str, shipped: dict, strip: str, words: str) -> str:
    """The element that the scripts take over; until then it shows the strip."""
    data = json.dumps(shipped, separators=(",", ":"))
    return (
        f'<div class="stepper" data-kind="{kind}" id="{kind}-{next(numbers)}">'
        f'<div class="stepper-strip" role="img" aria-label="{escape(words)}">{strip}</div>'
        f'<p class="stepper-words">{escape(words)}</p>'
        f'<script type="application/json">{data}</script></div>'
    )
