"""PathDisplay, ValidationPathDisplay and LOOPathDisplay: draw the whole path of C, and errors along the path."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np

from refsvm.analysis.paths import (
    ErrorCurve,
    OneVsOnePath,
    ParametricPath,
    PathCrossValidation,
    RegularizationPath,
    cross_validate_path,
    regularization_path,
)
from refsvm.analysis.scheme import OneVsOne
from refsvm.core.result import Status
from refsvm.display.canvas import PALETTE, Axes, Curves, Display, literal, require
from refsvm.display.contrast import OWN_GROUND, ink, mixed
from refsvm.display.machine import machine_of, name_of_class

NEGATIVE, POSITIVE, INK = PALETTE[0], PALETTE[1], PALETTE[6]


@dataclass(eq=False)
class PathDisplay(Display):
    """Draws the share α/(Cw) of each example against log C, where w is the signed weight of the example.

    The share is 0 for examples outside the margin, and 1 for examples inside it. The elbow is the set of points on the
    margin. A grey step function (right axis) shows the elbow's size, and ticks at the bottom show the events. Between
    two breakpoints the share is linear in 1/C, so its curve against log C bends slightly. For a path along another
    parameter, straight lines show α.

    Parameters
    ----------
    C : ndarray of shape (m,)
        C at each point of the curves; for a path along another parameter, the value of this parameter.
    shares : ndarray of shape (m, k)
        α/(Cw) of k examples; for a path along another parameter, α.
    labels : ndarray of shape (k,)
        Class −1 or 1 of each example, which decides its colour; 0 without classes.
    elbow : ndarray of shape (b, 2)
        C of each breakpoint, and the size of the elbow after the breakpoint.
    notes : tuple of str
        Sentences above the plot, for instance that the path ended early.
    classes : tuple of str
        The names of both classes.
    is_c_path : bool
        Whether the path is a path of C.
    parameter : str
        Name of the parameter.

    Attributes
    ----------
    ax_, elbow_ax_ : matplotlib.axes.Axes
        The axes of α, and the axes of the elbow's size.
    figure_ : matplotlib.figure.Figure
        The figure.
    lines_ : list of matplotlib.lines.Line2D
        The lines that show α.

    Examples
    --------
    >>> from refsvm import RBF, regularization_path
    >>> from refsvm.datasets import make_banana
    >>> from refsvm.display import PathDisplay
    >>> data = make_banana(40, rng=0)
    >>> path = regularization_path(data.X, data.y, kernel=RBF(0.25), C_min=0.1, C_max=100.0)
    >>> display = PathDisplay.from_result(path)
    >>> display.ax_.get_xlabel()
    'C'
    """

    C: np.ndarray
    shares: np.ndarray
    labels: np.ndarray
    elbow: np.ndarray
    notes: tuple[str, ...] = ()
    classes: tuple[str, str] = ("−1", "+1")
    is_c_path: bool = True
    parameter: str = "C"
    elbow_ax_: Axes = field(init=False, repr=False)
    lines_: list[Any] = field(init=False, repr=False, default_factory=list)

    @classmethod
    def from_result(
        cls,
        result: RegularizationPath | ParametricPath | OneVsOnePath,
        *,
        pair: int = 0,
        ax: Axes | None = None,
        **look: Any,
    ) -> Self:
        """Draw a path.

        Parameters
        ----------
        result : RegularizationPath, ParametricPath or OneVsOnePath
            The path.
        pair : int
            For several classes, the index of the path in ``result.paths``.
        ax : matplotlib Axes, optional
            Axes to draw on; by default a new figure.
        **look
            ``examples`` and ``points``, as in `from_path`.

        Raises
        ------
        ValueError
            If `result` is not a path, or the pair does not exist.
        """
        kinds = (RegularizationPath, ParametricPath, OneVsOnePath)
        require("result", result, kinds, "give the result of regularization_path() or parametric_path()")
        if not isinstance(result, OneVsOnePath):
            return cls.from_path(result, ax=ax, **look)
        if not 0 <= pair < len(result.paths):
            raise ValueError(
                f"pair={pair!r} does not exist in this path; give a number below {len(result.paths)}."
            )
        drawn = cls.from_path(result.paths[pair], ax=ax, **look)
        names = [*OneVsOne(len(result.classes)).named(result.classes)][pair]
        note = f"{' against '.join(map(name_of_class, names))}: pair {pair} of {len(result.paths)}."
        drawn.notes = (note, *drawn.notes)
        drawn.classes = (name_of_class(names[0]), name_of_class(names[1]))
        return drawn._redrawn()

    @classmethod
    def from_estimator(cls, model: Any, X: Any, y: Any, *, ax: Axes | None = None, **options: Any) -> Self:
        """Follow the path of C with the kernel of a model, and draw the path.

        Parameters
        ----------
        model : SVC, SVCCV
            A model, or a fitted search, whose best model is used.
        X, y : array-like
            As in `refsvm.regularization_path`.
        ax : matplotlib Axes, optional
            Axes to draw on.
        **options
            Passed to `refsvm.regularization_path`. By default, C ranges from a hundredth to a hundred times the C of
            the model.
        """
        arguments = machine_of(model)
        C = arguments.pop("C")
        path = regularization_path(X, y, **{**arguments, "C_min": C / 100.0, "C_max": 100.0 * C, **options})
        return cls.from_result(path, ax=ax)

    @classmethod
    def from_path(
        cls,
        path: RegularizationPath | ParametricPath,
        *,
        examples: Any = None,
        points: int = 400,
        ax: Axes | None = None,
    ) -> Self:
        """Draw a path along C, or along another parameter.

        Parameters
        ----------
        path : RegularizationPath or ParametricPath
            The path.
        examples : array-like of int, optional
            Indices of the examples to draw; by default the 100 examples whose α/C (or α, for another parameter) changes
            most.
        points : int
            Number of points on each curve in addition to the breakpoints.
        ax : matplotlib Axes, optional
            Axes to draw on; by default a new figure.

        Returns
        -------
        PathDisplay

        Raises
        ------
        ValueError
            If `path` is not the path of a single model.
        ImportError
            If matplotlib is not installed.
        """
        advice = "for several classes draw one of .paths"
        require("path", path, (RegularizationPath, ParametricPath), advice)
        path.check_not_empty()
        at = path.record.t
        if isinstance(path, RegularizationPath):
            first, last = float(at[0]), float(at[-1])
            C = np.unique(np.append(at, np.geomspace(first, last, points).clip(first, last)))
            # divide by ∞ for an example with weight 0, so that its share is 0
            weight = np.where(path.merged.weight == 0.0, np.inf, path.merged.weight)
            shares = np.array([path.alpha(float(value)) / (value * weight) for value in C])
            signs = np.sign(path.merged.weight)
        else:
            C = at  # α is linear in any other parameter between two breakpoints
            shares = np.array([path.alpha(float(value)) for value in C])
            signs = np.sign(path.start.v) if path.start.has_labels else np.zeros(path.n)
        if examples is None:
            examples = np.sort(np.argsort(-np.ptp(shares, axis=0), kind="stable")[:100])
        chosen = np.asarray(examples, dtype=np.int64)
        elbow = np.column_stack([at, path.record.elbow])
        name, last = path.along.name, float(at[-1])
        ended = path.status is not Status.CONVERGED
        notes = (f"The path ended at {name} = {last:.6g} ({path.status.name}).",) if ended else ()
        low, high = map(name_of_class, path.classes)
        drawn = cls(
            C, shares[:, chosen], signs[chosen], elbow, notes, (low, high), path.along.is_c_path, name
        )
        return drawn.plot(ax)

    def _redrawn(self) -> Self:
        """Draw the display again on the same axes."""
        self.elbow_ax_.remove()
        self.ax_.clear()
        return self.plot(self.ax_)

    def plot(self, ax: Axes | None = None) -> Self:
        """Draw the path on `ax` or a new figure; return the display."""
        self._draw_on(ax)
        self.elbow_ax_ = self.ax_.twinx()
        self.elbow_ax_.step(*self.elbow.T, where="post", color="0.75", lw=1.2)
        self.elbow_ax_.set_ylim(bottom=0)
        self.elbow_ax_.set_ylabel("points on the elbow (grey)")
        # draw the curves of α in front of the grey steps of the elbow's axes
        self.ax_.set_zorder(self.elbow_ax_.get_zorder() + 1)
        self.ax_.patch.set_visible(False)
        self.lines_ = []
        names = (*(f"class {literal(each)}" for each in self.classes), "variables")
        for label, colour, name in zip((-1.0, 1.0, 0.0), (NEGATIVE, POSITIVE, NEGATIVE), names, strict=True):
            of_class = self.shares[:, self.labels == label]
            if of_class.shape[1]:
                lines = self.ax_.plot(self.C, of_class, color=colour, lw=0.8, alpha=0.7)
                lines[0].set_label(name)
                self.lines_ += lines
        low, high = (0.0, 1.0) if self.is_c_path else (float(self.shares.min()), float(self.shares.max()))
        room = (high - low) or 1.0
        ticks = np.full(len(self.elbow), low - 0.03 * room)
        self.ax_.plot(self.elbow[:, 0], ticks, "|", color=INK, ms=5, label="events")
        self.ax_.plot([], [], color="0.75", label="on the elbow")
        self._labelled(
            xscale="log" if self.is_c_path else "linear", xlabel=self.parameter,
            ylabel=r"$y_i\alpha_i/C$" if self.is_c_path else r"$\alpha_i$",
            ylim=(low - 0.06 * room, high + 0.04 * room),
        )  # fmt: skip
        return self._noted(self.notes)._finished(self.elbow_ax_)


@dataclass(eq=False)
class ValidationPathDisplay(Curves):
    """Draws the error as a step function of C, and marks the interval of C with the smallest error.

    Parameters
    ----------
    curves : dict of str to ErrorCurve
        The curves by name.

    Attributes
    ----------
    ax_, figure_
        As in `Display`.
    lines_ : dict of str to matplotlib.lines.Line2D
        The curves of the latest drawing.

    Examples
    --------
    >>> import numpy as np
    >>> from refsvm.display import ValidationPathDisplay
    >>> from refsvm.analysis.paths import ErrorCurve
    >>> curve = ErrorCurve(np.array([0.1, 1.0, 10.0]), np.array([4, 3]), 20)
    >>> ValidationPathDisplay({"held out": curve}).plot().ax_.get_ylabel()
    'error'
    """

    example, kind = "ErrorCurve, such as {'validation': …}", ErrorCurve
    curves: dict[str, ErrorCurve]

    @classmethod
    def from_result(
        cls, result: ErrorCurve | PathCrossValidation, *, name: str = "", ax: Axes | None = None, **look: Any
    ) -> Self:
        """Draw an error as a function of C.

        Parameters
        ----------
        result : ErrorCurve or PathCrossValidation
            The result.
        name : str
            Name in the legend; by default "examples", or the number of folds.
        ax : matplotlib Axes, optional
            Axes to draw on.
        **look
            Settings of the lines, as in `plot`.
        """
        kinds = (ErrorCurve, PathCrossValidation)
        require(
            "result", result, kinds, "give the result of cross_validate_path() or path.validation_error(X, y)"
        )
        if isinstance(result, PathCrossValidation):
            return cls({name or f"{len(result.curves)} folds": result.curve}).plot(ax, **look)
        return cls({name or "examples": result}).plot(ax, **look)

    @classmethod
    def from_estimator(
        cls, model: Any, X: Any, y: Any, *, folds: Any = 10, ax: Axes | None = None, **options: Any
    ) -> Self:
        """Cross-validate with a model's kernel for every C, and draw the error; a dashed line marks the model's C.

        Parameters
        ----------
        model : SVC or SVCCV
            A model, or a fitted search, whose best model is used.
        X, y : array-like
            Examples and labels.
        folds : int, "loo" or as in `refsvm.analysis.paths.cross_validate_path`
            The folds.
        ax : matplotlib Axes, optional
            Axes to draw on.
        **options
            Passed to `refsvm.analysis.paths.cross_validate_path`. By default, C ranges from a hundredth to a hundred
            times the C of the model.

        Examples
        --------
        >>> from refsvm import SVC
        >>> from refsvm.datasets import make_banana
        >>> from refsvm.display import ValidationPathDisplay
        >>> data = make_banana(60, rng=0)
        >>> drawn = ValidationPathDisplay.from_estimator(SVC(C=10.0, gamma=0.25), data.X, data.y, folds=3)
        >>> [*drawn.curves], drawn.ax_.get_xlabel()
        (['3 folds'], 'C')
        """
        arguments = machine_of(model)
        C = arguments.pop("C")
        path_arguments = {**arguments, "C_min": C / 100.0, "C_max": 100.0 * C, "folds": folds, **options}
        drawn = cls.from_result(cross_validate_path(X, y, **path_arguments), ax=ax)
        drawn.ax_.axvline(C, color=INK, lw=1.0, ls="--", label="the model")
        return drawn._labelled(**drawn._labels())

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
    """Draws for each example all C at which the model trained without the example predicts it wrongly.

    The display draws a line for each example that is predicted wrongly for some C, and marks the C of the smallest
    error. The wider the range of log C over which an example is predicted wrongly, the lower its line.

    Parameters
    ----------
    curve : ErrorCurve
        The error on all examples.
    curves : tuple of ErrorCurve
        The error on each example.

    Attributes
    ----------
    ax_, figure_
        As in `Display`.

    Examples
    --------
    >>> from refsvm import RBF
    >>> from refsvm.datasets import make_banana
    >>> from refsvm.display import LOOPathDisplay
    >>> from refsvm.analysis.paths import cross_validate_path
    >>> data = make_banana(30, rng=0)
    >>> found = cross_validate_path(data.X, data.y, kernel=RBF(0.25), C_min=0.1, C_max=10.0, folds="loo")
    >>> LOOPathDisplay.from_result(found).ax_.get_ylabel()
    'examples'
    """

    curve: ErrorCurve
    curves: tuple[ErrorCurve, ...]

    @classmethod
    def from_result(cls, found: PathCrossValidation, *, ax: Axes | None = None) -> Self:
        """Draw the result of ``cross_validate_path(…, folds="loo")``."""
        require("found", found, PathCrossValidation, 'give the result of cross_validate_path(…, folds="loo")')
        return cls(found.curve, found.curves).plot(ax)

    def plot(self, ax: Axes | None = None) -> Self:
        """Draw the error on `ax` or a new figure; return the display.

        Raises
        ------
        ImportError
            If matplotlib is not installed.
        """
        self._draw_on(ax)
        low, high, error = self.curve.best()
        ground = self.ax_.get_facecolor()
        grey, label = mixed(ground, ink(ground), 0.15), f"least error: {error:.3f}"
        self.ax_.axvspan(low, high, color=grey, lw=0, label=label, gid=OWN_GROUND)
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
