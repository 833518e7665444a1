"""The widget of a `Stepper`: what its state is to the scripts that draw it. anywidget is imported when one is made."""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from typing import Any, Final
from uuid import uuid4

import numpy as np

from refsvm.display.strip import thinned
from refsvm.solver.recording import Recording

SCRIPTS: Final = ("picture.js", "panels.js", "widget.js")

HISTORY: Final = 500
"""Points of the curve of ψ, at most."""


def source(*names: str) -> str:
    """Return the text of scripts or styles of the steppers, one after another.

    Examples
    --------
    >>> from refsvm.display.widget import source
    >>> source("stepper.css").startswith("/*")
    True
    """
    folder = files("refsvm.display") / "static" / "stepper"
    return "\n".join((folder / name).read_text(encoding="utf-8") for name in names)


def examples_of(stepper: Any) -> dict[str, Any]:
    """Return what the pictures know of the problem; arrays are bytes of float64, because JSON has no infinity."""
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
    """Return what the pictures know of the present state of one run."""
    state, task = stepper.now[run], stepper.task
    gaps, step, grid = stepper.gaps(run), state.next, None
    if task.in_plane:
        grid = task.decision_values(state.alpha, state.intercept).astype(np.float32).tobytes()
    kept = thinned(len(gaps), HISTORY)
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
        "gaps": np.column_stack([kept, gaps[kept]]).tobytes(),
        "ending": stepper.ending(run),
        "failure": stepper.failure(run),
    }


class Reach:
    """Largest |Gᵢ − b| of the states of a recording so far, which scales its bars; each state is looked at once."""

    def __init__(self) -> None:
        self._recording: Recording | None = None
        self._largest, self._seen = 1.0, 0

    def of(self, recording: Recording) -> float:
        """Return it for this recording."""
        if recording is not self._recording:
            self._recording, self._largest, self._seen = recording, 1.0, 0
        for state in recording.states[self._seen :]:
            self._largest = max(self._largest, float(np.abs(state.gradient - state.intercept).max()))
        self._seen = len(recording.states)
        return self._largest


def widget_of(stepper: Any) -> Any:
    """Return a new widget.

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
    """Make the class: its base is there only if anywidget is."""
    import anywidget
    import traitlets

    class StepperWidget(anywidget.AnyWidget):
        """Shows a stepper, and hands on what its buttons say."""

        _esm = source(*SCRIPTS)
        _css = source("stepper.css")

        examples: Any = traitlets.Dict().tag(sync=True)
        runs: Any = traitlets.List().tag(sync=True)
        words: Any = traitlets.Dict().tag(sync=True)
        serial: Any = traitlets.Int(0).tag(sync=True)  # states sent so far
        hides: Any = traitlets.Unicode().tag(
            sync=True
        )  # class of the strip that stands for it without a kernel

        def __init__(self, stepper: Any) -> None:
            self._stepper = stepper
            self._task: Any = None
            self._reaches = [Reach() for _ in stepper.recordings]
            super().__init__(hides=f"stepper-strip-{uuid4().hex}", **self._content())
            self.on_msg(lambda _, message, __: stepper.receive(message))

        def __repr__(self) -> str:  # what is shown of it without a kernel
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
            """Send the present state."""
            content = self._content()
            with self.hold_sync():
                for name, value in content.items():
                    setattr(self, name, value)
                self.serial += 1

    return StepperWidget
