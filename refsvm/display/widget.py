"""The widget of a `Stepper`, which sends states to its scripts; anywidget is imported with the first widget."""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from typing import Any, Final
from uuid import uuid4

import numpy as np

from refsvm.analysis.recording import RecordedState, Recording
from refsvm.core.problem import DualProblem
from refsvm.core.state import TAU
from refsvm.display.strip import thinned

SCRIPTS: Final = ("picture.js", "panels.js", "widget.js")

HISTORY: Final = 500
"""Largest number of points of the curve of ψ."""


def source(*names: str) -> str:
    """Return the scripts, or the styles, of the stepper, joined into one text.

    Examples
    --------
    >>> from refsvm.display.widget import source
    >>> source("stepper.css").startswith("/*")
    True
    """
    folder = files("refsvm.display") / "static" / "stepper"
    return "\n".join((folder / name).read_text(encoding="utf-8") for name in names)


def examples_of(stepper: Any) -> dict[str, Any]:
    """Return the parts of the problem that the pictures need; arrays become bytes, because JSON has no infinity."""
    task, rules = stepper.task, stepper.rules[0]
    problem, in_plane = task.problem, task.in_plane
    return {
        "y": task.signs.tobytes(),
        "X": task.X.astype(np.float64).tobytes() if in_plane else None,
        "box": np.concatenate([problem.lower, problem.upper]).tobytes(),
        "numbers": np.array([np.nan if x is None else x for x in (task.C, task.gamma)]).tobytes(),
        "tolerance": max(float(rules.stop.tolerance), 1e-12),
        "ranges": task.ranges.T.tolist() if in_plane and task.ranges is not None else None,
        "levels": list(task.levels),
        "labels": task.levels != (0,),
    }


def run_of(stepper: Any, run: int, reach: float) -> dict[str, Any]:
    """Return the parts of a run's present state that the pictures need."""
    state, task = stepper.now[run], stepper.task
    states, step, grid = stepper.recordings[run].states[: stepper.k + 1], state.next, None
    if task.in_plane:
        grid = task.decision_values(state.alpha, state.intercept).astype(np.float32).tobytes()
    shown_states = [states[k] for k in thinned(len(states), HISTORY)]
    numbers = (
        state.iteration, state.gap, state.intercept, state.objective, state.primal_objective, state.kernel_rows, reach,
    )  # fmt: skip
    taken = None if step is None else np.array(
        [step.i, step.j, step.length, step.slope, step.curvature, step.raw_curvature, step.low, step.high, step.carry,
         step.along, step.planned, *step.diagonal, *step.after]
    ).tobytes()  # fmt: skip
    return {
        "title": stepper.rules_of(run),
        "numbers": np.array(numbers, dtype=np.float64).tobytes(),
        "next": taken,
        "alpha": state.alpha.tobytes(),
        "gradient": state.gradient.tobytes(),
        "grid": grid,
        "history": np.array(
            [(each.iteration, each.objective, each.primal_objective, each.gap) for each in shown_states]
        ).tobytes(),
        "rivals": rivals_of(task.problem, state).tobytes(),
        "ending": stepper.ending(run),
        "failure": stepper.failure(run),
    }


def rivals_of(problem: DualProblem, state: RecordedState) -> np.ndarray:
    """Return two pairs (i, j) with i = argmax G over I_up: the pair with the largest gain, and the steepest pair.

    The gain is ½ℓ²/q, for the slope ℓ = Gᵢ − Gⱼ and the curvature q = Kᵢᵢ + Kⱼⱼ − 2Kᵢⱼ. If the pair with the largest
    gain is also the steepest pair, the second pair has the second largest gain.

    Returns
    -------
    ndarray of shape (r, 6)
        i, j, ℓ, q, the largest step in the box, and the gain; fewer than two rows if fewer than two pairs have a gain.

    Examples
    --------
    >>> import numpy as np
    >>> from refsvm import RBF, DualProblem, Recording
    >>> from refsvm.display.widget import rivals_of
    >>> X, y = np.array([[0.0], [1.0], [3.0]]), np.array([1, -1, -1])
    >>> problem = DualProblem.classification(X, y, kernel=RBF(1.0), C=10.0)
    >>> rivals_of(problem, Recording(problem).at(0)).round(2).tolist()
    [[0.0, 1.0, 2.0, 1.26, 10.0, 1.58], [0.0, 2.0, 2.0, 2.0, 10.0, 1.0]]
    """
    alpha, G, K = state.alpha, state.gradient, problem.gram
    down = alpha > problem.lower
    i = int(np.argmax(np.where(alpha < problem.upper, G, -np.inf)))
    slope, diagonal = G[i] - G, K.diagonal()
    q = diagonal[i] + diagonal - 2.0 * K.block(np.array([i]))[0]
    q = np.where(q > 0.0, q, TAU)
    gains = np.flatnonzero(down & (slope > 0.0)) if state.gap > 0.0 else np.empty(0, dtype=np.int64)
    gain = 0.5 * slope * slope / q
    ordered = gains[np.lexsort((gains, -gain[gains]))]
    steepest = gains[np.argmax(slope[gains])] if len(gains) else -1
    chosen = ordered[:2] if steepest in ordered[:1] else np.array([*ordered[:1], steepest])[: len(gains)]
    room = np.minimum(problem.upper[i] - alpha[i], alpha - problem.lower)
    columns = (np.full(len(chosen), i), chosen, *(each[chosen] for each in (slope, q, room, gain)))
    return np.column_stack(columns).astype(np.float64)


class Reach:
    """Computes the largest |Gᵢ − b| in a recording so far (the scale of the bars of G); reads each state only once."""

    def __init__(self) -> None:
        self._recording: Recording | None = None
        self._largest, self._seen = 1.0, 0

    def of(self, recording: Recording) -> float:
        """Return the largest |Gᵢ − b| in a recording so far."""
        if recording is not self._recording:
            self._recording, self._largest, self._seen = recording, 1.0, 0
        for state in recording.states[self._seen :]:
            self._largest = max(self._largest, float(np.abs(state.gradient - state.intercept).max()))
        self._seen = len(recording.states)
        return self._largest


def widget_of(stepper: Any) -> Any:
    """Return a new widget for a stepper.

    Raises
    ------
    ImportError
        If anywidget is not installed.
    """
    try:
        kind = _widget_class()
    except ImportError:
        raise ImportError(
            'The widget of a Stepper needs anywidget, which is not installed; run: pip install "refsvm[notebook]"'
        ) from None
    return kind(stepper)


@cache
def _widget_class() -> Any:
    """Create the class of the widget, whose base class exists only if anywidget is installed."""
    import anywidget
    import traitlets

    class StepperWidget(anywidget.AnyWidget):
        """Widget that shows a stepper, and passes the messages of its buttons to the stepper."""

        _esm = source(*SCRIPTS)
        _css = source("stepper.css")

        examples: Any = traitlets.Dict().tag(sync=True)
        runs: Any = traitlets.List().tag(sync=True)
        words: Any = traitlets.Dict().tag(sync=True)
        serial: Any = traitlets.Int(0).tag(sync=True)  # counts the states sent
        hides: Any = traitlets.Unicode().tag(sync=True)  # CSS class of the hidden strip

        def __init__(self, stepper: Any) -> None:
            self._stepper = stepper
            self._task: Any = None
            self._reaches = [Reach() for _ in stepper.recordings]
            super().__init__(hides=f"stepper-strip-{uuid4().hex}", **self._content())
            self.on_msg(lambda _, message, __: stepper.receive(message))

        def __repr__(self) -> str:  # a notebook without a running kernel shows this text
            return "<StepperWidget: run the cell to step through it>"

        def _content(self) -> dict[str, Any]:
            stepper = self._stepper
            reaches = [
                each.of(recording) for each, recording in zip(self._reaches, stepper.recordings, strict=True)
            ]
            content: dict[str, Any] = {
                "runs": [run_of(stepper, run, reach) for run, reach in enumerate(reaches)],
                "words": {"note": stepper.note, "log": stepper.log},
            }
            if stepper.task is not self._task:
                self._task = stepper.task
                content["examples"] = examples_of(stepper)
            return content

        def refresh(self) -> None:
            """Send the present state of the stepper to the scripts of the widget."""
            content = self._content()
            with self.hold_sync():
                for name, value in content.items():
                    setattr(self, name, value)
                self.serial += 1

    return StepperWidget
