"""PathDisplay, ValidationPathDisplay and LOOPathDisplay: the whole path of C, and errors along it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np

from refsvm.display.canvas import PALETTE, Axes, Curves, Display, require
from refsvm.display.contrast import OWN_GROUND, ink, mixed
from refsvm.paths import ErrorCurve, PathCrossValidation, RegularizationPath
from refsvm.result import Status

NEGATIVE, POSITIVE, INK = PALETTE[0], PALETTE[1], PALETTE[6]


@dataclass(eq=False)
class PathDisplay(Display):
    """α against log C: for each example the share α/(Cw) of its bound, 0 for the right set and 1 for the left.

    Behind the lines a grey step shows how many points the elbow has (right axis), and ticks at the bottom the events.
    Between two breakpoints a line is straight in 1/C, so on this axis it is slightly bent.

    Parameters
    ----------
    C : ndarray of shape (m,)
        Where the lines have points.
    shares : ndarray of shape (m, k)
        α/(Cw) of k examples.
    labels : ndarray of shape (k,)
        Their classes, for the colour.
    elbow : ndarray of shape (b, 2)
        Breakpoints C, and the size of the elbow beyond each.
    notes : tuple of str
        Sentences above the picture: that the path ended early.

    Attributes
    ----------
    ax_, elbow_ax_ : matplotlib.axes.Axes
    figure_ : matplotlib.figure.Figure
    lines_ : list of matplotlib.lines.Line2D

    Examples
    --------
    >>> from refsvm import RBF, regularization_path
    >>> from refsvm.datasets import make_banana
    >>> from refsvm.display import PathDisplay
    >>> data = make_banana(40, rng=0)
    >>> path = regularization_path(data.X, data.y, kernel=RBF(0.25), C_min=0.1, C_max=100.0)
    >>> display = PathDisplay.from_path(path)
    >>> display.ax_.get_xlabel()
    'C'
    """

    C: np.ndarray
    shares: np.ndarray
    labels: np.ndarray
    elbow: np.ndarray
    notes: tuple[str, ...] = ()
    elbow_ax_: Axes = field(init=False, repr=False)
    lines_: list[Any] = field(init=False, repr=False, default_factory=list)

    @classmethod
    def from_path(
        cls, path: RegularizationPath, *, examples: Any = None, points: int = 400, ax: Axes | None = None
    ) -> Self:
        """Draw a path.

        Parameters
        ----------
        path : RegularizationPath
        examples : array-like of int, optional
            Which examples; by default the 100 whose α/C changes most.
        points : int
            Points of each line besides the breakpoints.
        ax : matplotlib Axes, optional
            Where to draw; a new figure by default.

        Returns
        -------
        PathDisplay

        Raises
        ------
        ValueError
            If it is no path of C of one machine.
        ImportError
            If matplotlib is not installed.
        """
        advice = "of several classes draw one of .paths; of another line plot path.alpha(t) against t"
        require("path", path, RegularizationPath, advice)
        path.check_not_empty()
        first, last = float(path.C[0]), float(path.C[-1])
        C = np.unique(np.append(path.C, np.geomspace(first, last, points).clip(first, last)))
        # an example whose C is 0 keeps α = 0, and its share is 0
        weight = np.where(path.merged.weight == 0.0, np.inf, path.merged.weight)
        shares = np.array([path.alpha(float(value)) / (value * weight) for value in C])
        if examples is None:
            examples = np.sort(np.argsort(-np.ptp(shares, axis=0), kind="stable")[:100])
        chosen = np.asarray(examples, dtype=np.int64)
        elbow = np.column_stack([path.C, path.record.elbow])
        ended = path.status is not Status.CONVERGED
        notes = (f"The path ended at C = {last:.6g} ({path.status.name}).",) if ended else ()
        return cls(C, shares[:, chosen], np.sign(path.merged.weight[chosen]), elbow, notes).plot(ax)

    def plot(self, ax: Axes | None = None) -> Self:
        """Draw into `ax`, or into a new figure; return the display itself."""
        self._draw_on(ax)
        self.elbow_ax_ = self.ax_.twinx()
        self.elbow_ax_.step(*self.elbow.T, where="post", color="0.75", lw=1.2)
        self.elbow_ax_.set_ylim(bottom=0)
        self.elbow_ax_.set_ylabel("points on the elbow (grey)")
        # the lines of α above the grey step of the other axes, which shines through
        self.ax_.set_zorder(self.elbow_ax_.get_zorder() + 1)
        self.ax_.patch.set_visible(False)
        self.lines_ = []
        for label, colour in ((-1.0, NEGATIVE), (1.0, POSITIVE)):
            of_class = self.shares[:, self.labels == label]
            if of_class.shape[1]:
                lines = self.ax_.plot(self.C, of_class, color=colour, lw=0.8, alpha=0.7)
                lines[0].set_label(f"class {int(label):+d}")
                self.lines_ += lines
        self.ax_.plot(self.elbow[:, 0], np.full(len(self.elbow), -0.03), "|", color=INK, ms=5, label="events")
        self.ax_.plot([], [], color="0.75", label="on the elbow")
        look = {"frameon": False, "loc": "lower center", "bbox_to_anchor": (0.5, 1.0), "ncols": 4}
        look |= {"bbox_to_anchor": (0.5, 1.0 if not self.notes else 1.08)}
        self._labelled(look, xscale="log", xlabel="C", ylabel=r"$y_i\alpha_i/C$", ylim=(-0.06, 1.04))
        return self._noted(self.notes)._finished(self.elbow_ax_)


@dataclass(eq=False)
class ValidationPathDisplay(Curves):
    """The error as a step function of C, with the interval in which it is least.

    Parameters
    ----------
    curves : dict of str to ErrorCurve

    Attributes
    ----------
    ax_, figure_
        As of `Display`.
    lines_ : dict of str to matplotlib.lines.Line2D

    Examples
    --------
    >>> import numpy as np
    >>> from refsvm.display import ValidationPathDisplay
    >>> from refsvm.paths import ErrorCurve
    >>> curve = ErrorCurve(np.array([0.1, 1.0, 10.0]), np.array([4, 3]), 20)
    >>> ValidationPathDisplay({"held out": curve}).plot().ax_.get_ylabel()
    'error'
    """

    example, kind = "ErrorCurve, such as {'validation': …}", ErrorCurve
    curves: dict[str, ErrorCurve]

    def _line(self, curve: ErrorCurve, look: dict[str, Any]) -> Any:
        values = np.append(curve.error, curve.error[-1])
        (line,) = self.ax_.step(curve.C, values, where="post", **{"lw": 1.6, **look})
        low, high, error = curve.best()
        self.ax_.axvspan(low, high, color=line.get_color(), alpha=0.15, lw=0, label=f"least: {error:.3f}")
        self.ax_.plot([low, high], [error, error], color=line.get_color(), lw=4, solid_capstyle="butt")
        return line

    def _labels(self) -> dict[str, Any]:
        return {"xscale": "log", "xlabel": "C", "ylabel": "error"}


@dataclass(eq=False)
class LOOPathDisplay(Display):
    """The values of C at which the machine without an example errs on it, for each example, and the C of least error.

    One line for each example that is wrong for some C; those that are wrong for most C lie at the bottom.

    Parameters
    ----------
    curve : ErrorCurve
        The error on all examples.
    curves : tuple of ErrorCurve
        That on each of them.

    Attributes
    ----------
    ax_, figure_
        As of `Display`.

    Examples
    --------
    >>> from refsvm import RBF
    >>> from refsvm.datasets import make_banana
    >>> from refsvm.display import LOOPathDisplay
    >>> from refsvm.paths import cross_validate_path
    >>> data = make_banana(30, rng=0)
    >>> found = cross_validate_path(data.X, data.y, kernel=RBF(0.25), C_min=0.1, C_max=10.0, folds="loo")
    >>> LOOPathDisplay.from_result(found).ax_.get_ylabel()
    'examples'
    """

    curve: ErrorCurve
    curves: tuple[ErrorCurve, ...]

    @classmethod
    def from_result(cls, found: PathCrossValidation, *, ax: Axes | None = None) -> Self:
        """Draw a result of ``cross_validate_path(…, folds="loo")``."""
        require("found", found, PathCrossValidation, 'give what cross_validate_path(…, folds="loo") returns')
        return cls(found.curve, found.curves).plot(ax)

    def plot(self, ax: Axes | None = None) -> Self:
        """Draw into `ax`, or into a new figure; return the display itself.

        Raises
        ------
        ImportError
            If matplotlib is not installed.
        """
        self._draw_on(ax)
        low, high, error = self.curve.best()
        ground = self.ax_.get_facecolor()
        self.ax_.axvspan(
            low,
            high,
            color=mixed(ground, ink(ground), 0.15),
            lw=0,
            label=f"least error: {error:.3f}",
            gid=OWN_GROUND,
        )
        shares = [float(np.diff(np.log(each.C)) @ each.error) for each in self.curves]
        often = [each for each in np.argsort(shares)[::-1].tolist() if shares[each] > 0.0]
        for height, number in enumerate(often):
            C, wrong = self.curves[number].C, self.curves[number].errors > 0
            self.ax_.hlines(
                np.full(int(wrong.sum()), height), C[:-1][wrong], C[1:][wrong], color=NEGATIVE, lw=1.0
            )
        self.ax_.plot([], [], color=NEGATIVE, label="wrong without it")
        self._labelled(xscale="log", xlabel="C", ylabel="examples")
        ended = self.curve.status
        return self._noted([] if ended is Status.CONVERGED else [f"A path ended early ({ended.name})."])
