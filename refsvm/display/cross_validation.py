"""SeedDisplay draws α of a seed against the optimal α; GridDisplay draws the scores of a grid."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from refsvm.analysis.solve import solve
from refsvm.core._checks import shown
from refsvm.core.problem import DualProblem
from refsvm.core.result import Solution
from refsvm.core.seeders import Seeder
from refsvm.core.seeders.exchange import added, removed
from refsvm.display.canvas import Axes, Display, literal, require, write_notes
from refsvm.display.contrast import OWN_GROUND, ink

MARKS = {"shared": ("#999999", "."), "removed": ("#D55E00", "x"), "added": ("#0072B2", "+")}


@dataclass(eq=False)
class SeedDisplay(Display):
    """Draws α of a seed against α of the optimum; a variable on the diagonal has the same α in both.

    Parameters
    ----------
    seed, optimum : ndarrays of shape (n,), float64
        α of the seed and of the optimum.
    member : ndarray of str, shape (n,)
        For each variable, "removed" (absent from the new problem), "added" (absent from the old problem) or "shared".
    name : str
        Name for the title.

    Examples
    --------
    >>> import numpy as np
    >>> from refsvm import ATO, RBF, DualProblem, solve
    >>> from refsvm.datasets import load
    >>> from refsvm.display import SeedDisplay
    >>> heart = load("heart")
    >>> problem = DualProblem.classification(heart.X, heart.y, kernel=RBF(0.005), C=1.0)
    >>> display = SeedDisplay.from_seeder(ATO(budget=np.inf), solve(problem.without(0)), problem.without(1))
    >>> display.member[:3].tolist(), bool(np.abs(display.seed - display.optimum).max() < 0.1)
    (['added', 'removed', 'shared'], True)
    """

    seed: np.ndarray
    optimum: np.ndarray
    member: np.ndarray
    name: str

    @classmethod
    def from_seeder(
        cls, seeder: Seeder, solved: Solution, problem: DualProblem, *, ax: Axes | None = None, **kwargs: Any
    ) -> Self:
        """Make a seed for a problem, solve the problem, and draw α of the seed against α of the solution.

        Parameters
        ----------
        seeder : Seeder
            The rule.
        solved : Solution
            Solution from which the seed is made.
        problem : DualProblem
            The problem for which the seed is made.
        ax : matplotlib Axes, optional
            Axes to draw on; by default a new figure.
        **kwargs
            Passed to `plot`.
        """
        require("seeder", seeder, Seeder, "give one such as ATO()")
        require("solved", solved, Solution, "give the result of solve()")
        require("problem", problem, DualProblem, "give the next problem")
        seed = seeder.seed(solved, problem)
        member = np.full(problem.n, "shared", dtype="<U7")
        member[removed(solved.problem, problem)] = "removed"
        member[added(solved.problem, problem)] = "added"
        optimum = solve(problem, start=seed).alpha
        return cls(seed, optimum, member, repr(seeder)).plot(ax, **kwargs)

    def plot(self, ax: Axes | None = None, **kwargs: Any) -> Self:
        """Draw the seed on `ax` or a new figure; pass further arguments to ``Axes.plot``."""
        self._draw_on(ax, kwargs)
        both = np.concatenate([self.seed, self.optimum, [0.0]])
        ends = [float(both.min()), float(both.max())]
        self.ax_.plot(ends, ends, color="0.8", lw=1, zorder=0)
        for name, (color, marker) in MARKS.items():
            chosen = self.member == name
            if chosen.any():
                look = {"ls": "none", "color": color, "marker": marker, "ms": 6, "label": name, **kwargs}
                self.ax_.plot(self.optimum[chosen], self.seed[chosen], **look)
        return self._labelled(
            xlabel=r"$\alpha_i$ of the optimum", ylabel=r"$\alpha_i$ of the seed", title=literal(self.name)
        )


@dataclass(eq=False)
class GridDisplay(Display):
    """Draws the score over C and γ as colours and numbers, with a ring around the best cell.

    Parameters
    ----------
    Cs, gammas : ndarrays of float64
        Values of the grid, ascending.
    scores, iterations : ndarrays of shape (len(gammas), len(Cs))
        Mean score and mean number of steps of each cell.
    unsolved : ndarray of shape (len(gammas), len(Cs)), optional
        For each cell, the number of splits in which the solve did not converge. A star marks each cell with unsolved
        splits, and a note says how many cells have a star.
    best : (int, int), optional
        Row and column of the best cell; by default, the first cell with the highest score.

    Examples
    --------
    >>> from refsvm import SVCCV
    >>> from refsvm.datasets import load
    >>> from refsvm.display import GridDisplay
    >>> heart = load("heart")
    >>> model = SVCCV(Cs=[1.0, 10.0, 100.0], gammas=[0.01, 0.1], refit=False).fit(heart.X, heart.y)
    >>> GridDisplay.from_results(model.cv_results_).scores.shape
    (2, 3)
    """

    Cs: np.ndarray
    gammas: np.ndarray
    scores: np.ndarray
    iterations: np.ndarray
    unsolved: np.ndarray | None = None
    best: tuple[int, int] | None = None

    @classmethod
    def from_estimator(cls, model: Any, *, ax: Axes | None = None, **kwargs: Any) -> Self:
        """Draw the grid of a fitted search."""
        return cls.from_results(model, ax=ax, **kwargs)

    @classmethod
    def from_results(
        cls, results: Any, *, score: str = "score", ax: Axes | None = None, **kwargs: Any
    ) -> Self:
        """Draw a fitted `SVCCV` or `SVRCV`, or its ``cv_results_``; a cell shows the best score over all ε.

        Parameters
        ----------
        results : search or mapping
            The search, or its ``cv_results_``; the ``params`` of each cell must contain a γ.
        score : str
            Name of the score to draw if the results contain several scores.
        ax : matplotlib Axes, optional
            Axes to draw on; by default a new figure.
        **kwargs
            Passed to `plot`.

        Raises
        ------
        ValueError
            If the kernel has no γ, or the score does not exist.
        """
        wanted = ("params", "mean_iterations")
        chosen = getattr(results, "best_index_", None)
        results = getattr(results, "cv_results_", results)
        if not isinstance(results, Mapping) or any(not len(results.get(name, ())) for name in wanted):
            raise ValueError(
                f"results={shown(results)} has no {', '.join(wanted)}; give cv_results_ of a fitted SVCCV or SVRCV."
            )
        if "gamma" not in results["params"][0]:
            raise ValueError(
                "These results have no gamma and therefore no grid; draw them with SearchDisplay."
            )
        if (mean := f"mean_test_{score}") not in results:
            known = [name.removeprefix("mean_test_") for name in results if name.startswith("mean_test_")]
            raise ValueError(f"score={score!r} is not in these results; give one of {', '.join(known)}.")
        cells = [(each["gamma"], each["C"]) for each in results["params"]]
        # find the row and the column of each cell
        (gammas, row), (Cs, column) = (
            np.unique(axis, return_inverse=True) for axis in zip(*cells, strict=True)
        )
        table, means = np.full((3, len(gammas), len(Cs)), np.nan), np.asarray(results[mean])
        # only results with unsolved splits contain this entry
        unsolved = results.get("unsolved_splits", np.zeros(len(means)))
        for k in np.argsort(np.where(np.isnan(means), -np.inf, means)):  # the best ε overwrites the others
            table[:, row[k], column[k]] = means[k], results["mean_iterations"][k], unsolved[k]
        best = None if chosen is None or score != "score" else (int(row[chosen]), int(column[chosen]))
        scores, iterations, stars = table
        return cls(Cs, gammas, scores, iterations, stars, best).plot(ax, **kwargs)

    def plot(
        self, ax: Axes | None = None, *, scores: bool = True, steps: bool = False, **kwargs: Any
    ) -> Self:
        """Draw the grid on `ax` or a new figure.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Axes to draw on.
        scores, steps : bool
            Whether to write the score, and the steps below it, into the cells.
        **kwargs
            Passed to ``Axes.imshow``.
        """
        self._draw_on(ax)
        look = {"origin": "lower", "aspect": "auto", "cmap": "viridis", **kwargs}
        image = self.ax_.imshow(self.scores, **look)
        bar = self.figure_.colorbar(image, ax=self.ax_, label="mean score")
        self._ticks(self.ax_.set_xticks, self.Cs)
        self._ticks(self.ax_.set_yticks, self.gammas)
        stars = np.zeros(self.scores.shape) if self.unsolved is None else self.unsolved
        size = 8.0 if len(self.Cs) <= 8 else 6.5 if len(self.Cs) <= 12 else 5.0
        for (row, column), count in np.ndenumerate(self.iterations):
            is_there = bool(np.isfinite(count))
            score = f"{self.scores[row, column]:.3f}".replace("0.", ".", 1) * (scores and is_there)
            lines = [score + "*" * bool(stars[row, column] > 0.0), f"{count:,.0f}" * (steps and is_there)]
            if text := "\n".join(filter(None, lines)):
                color = ink(image.to_rgba(self.scores[row, column])[:3])
                look = {"ha": "center", "va": "center", "color": color, "fontsize": size, "gid": OWN_GROUND}
                self.ax_.text(column, row, text, **look)
        self._ring()
        self.ax_.set(xlabel="C", ylabel=r"$\gamma$")
        if starred := int((stars > 0.0).sum()):
            note = f"* {starred} of {np.isfinite(self.iterations).sum()} cells have splits that did not converge."
            write_notes(self.ax_, [note])
        return self._finished(bar.ax)

    def _ticks(self, put: Any, values: np.ndarray) -> None:
        """Label the values on an axis; with many values, label only every second value, or fewer."""
        at = range(0, len(values), -(-len(values) // 10))
        put(at, [f"{float(f'{values[k]:.3g}'):g}" for k in at])

    def _ring(self) -> None:
        """Draw a ring around the best cell, black on white, so that it is visible on every colour."""
        from matplotlib.patches import Rectangle

        if not np.isfinite(self.scores).any():
            return
        row, column = self.best or np.unravel_index(np.nanargmax(self.scores), self.scores.shape)
        for colour, width in (("white", 4.5), ("black", 2.0)):
            corner = (float(column) - 0.46, float(row) - 0.46)
            look: dict[str, Any] = {"fill": False, "ec": colour, "lw": width, "gid": OWN_GROUND, "zorder": 3}
            self.ax_.add_patch(Rectangle(corner, 0.92, 0.92, **look))
