"""Ctrl-C in a solve of an experiment, for tests of experiments and of the command line."""

from __future__ import annotations

import signal

import pytest

from refsvm.experiment import solve as solve_module


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
