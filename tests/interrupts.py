"""Ctrl-C after a call, and in a solve of an experiment or of the command line."""

from __future__ import annotations

import signal
from collections.abc import Callable
from typing import Any

import pytest

from refsvm.experiment import solve as solve_module


def pressing(call: Callable[..., Any], k: int) -> tuple[Callable[..., Any], list[Any]]:
    """Return the call with a Ctrl-C after its k-th answer, and the list that its answers come to."""
    answers: list[Any] = []

    def pressed(*given: Any, **options: Any) -> Any:
        answers.append(call(*given, **options))
        if len(answers) == k:
            signal.raise_signal(signal.SIGINT)
        return answers[-1]

    return pressed, answers


def press_in_solve(
    monkeypatch: pytest.MonkeyPatch, k: int, *, least: int = 9, times: int = 1, after: bool = False
) -> None:
    """Press Ctrl-C just before, or after, the k-th solve of so many examples; problems that warm up have eight."""
    count, plain = 0, solve_module.solve

    def solve(problem, **options):
        nonlocal count
        count += problem.n >= least
        is_it = count == k and problem.n >= least
        solution = plain(problem, **options) if after else None
        for _ in range(times * is_it):
            signal.raise_signal(signal.SIGINT)
        return solution if after else plain(problem, **options)

    monkeypatch.setattr(solve_module, "solve", solve)
