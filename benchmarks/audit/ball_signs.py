"""The audit "ball_signs": the signs that the ball proves, beside those of machines trained to 1e-10.

Of random small problems, noisy labels, equal examples and weights among them, one to four examples are left out. Each
round is ended by `BallRule`; the check `Ball` is asked about single examples too. A sign counts as wrong if it is not
that of h of the machine trained without the examples, to a KKT gap of 1e-10; one that this does not tell either is
counted apart.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np

from refsvm import RBF, TOP, BallRule, DualProblem, KKTGap, Linear, Polynomial, Solution, solve
from refsvm.core.kernels.cached_rows import stored_rows
from refsvm.core.rounds.sufficiency import Ball

from .frame import Audit, Found

EXACT = KKTGap(1e-10)
MOST = 1_000_000
"""Steps after which a machine is not as exact as it should be, and its signs are not compared."""


def checked_signs(full: Solution) -> np.ndarray:
    """What the check says of each support vector."""
    rows = stored_rows(full.problem.gram, 200.0, np.float64, 2)
    rows.fetch(np.arange(full.problem.n))
    return Ball().decide(full, rows)


def compared(full: Solution, out: np.ndarray, rule: BallRule, checked: int) -> Counter[str]:
    """Count a round: whether it was proved, without a step, and whether rightly."""
    problem = full.problem.without(out)
    if len(np.unique(problem.v[problem.lower < problem.upper])) < 2:
        return Counter()
    rule = BallRule(rule.tol, rule.every, solved=full)
    ended = solve(problem, start=TOP().seed(full, problem), stop=rule, shrinking=False, max_iter=MOST)
    code = rule.reasons.index(ended.reason) + 1 if ended.reason in rule.reasons else 0
    found = Counter(rounds=1, proved=int(code > 1), at_once=int(code > 1 and ended.iterations == 0))
    if code <= 1 and not checked:
        return found
    exact = solve(problem, stop=EXACT, start=ended.alpha, max_iter=MOST)
    h, far = exact.decision_values[out], margin(exact, out)
    says: Any = {2: np.ones(1), 3: -np.ones(1), 4: np.sign(ended.decision_values[out])}.get(code)
    for signs in (each for each in (says, checked * np.ones(1) if checked else None) if each is not None):
        found += Counter(
            signs=len(out), wrong=int((signs * h < -far).sum()), close=int((np.abs(h) <= far).sum())
        )
    found["checked"] += bool(checked)
    return found


def margin(exact: Solution, out: np.ndarray) -> np.ndarray:
    """How far h may be from that of the optimum: (w − w*)·(φᵣ − φᵢ) for the ends of b's interval, ‖w − w*‖² ≤ 2 gap."""
    reach = 2.0 * np.sqrt(np.abs(exact.problem.gram.diagonal()).max())
    far = float(np.sqrt(2.0 * max(exact.duality_gap, 0.0)) * reach + max(exact.kkt_gap, 0.0))
    return np.full(len(out), far)


def case(seed: int, options: Any) -> Found:
    """Four rounds of a small problem: noisy labels, equal examples, weights in every other one."""
    rng, found = np.random.default_rng([seed, 22]), Counter[str]()
    n = int(rng.integers(8, 30))
    X = rng.normal(size=(n, int(rng.integers(1, 4))))
    X[: n // 6] = X[n // 6 : n // 6 * 2]
    y = np.where(X[:, 0] + rng.normal(size=n) > 0, 1, -1)
    y[:4] = 1, -1, 1, -1
    kernel: Any = [RBF(0.5), Linear(), Polynomial(degree=2, coef0=1.0)][int(rng.integers(3))]
    C = 10.0 ** rng.integers(-2, 3) * (rng.uniform(0.2, 3.0, n) if rng.random() < 0.5 else np.ones(n))
    problem = DualProblem.classification(X, y, kernel=kernel, C=C)
    full = solve(problem, stop=KKTGap(10.0 ** -int(rng.integers(2, 6))))
    checked = checked_signs(full)
    for _ in range(4):
        out = rng.choice(np.arange(4, n), size=int(rng.choice([1, 1, 2, 4])), replace=False)
        rule = BallRule(1e-9, every=int(rng.integers(1, 7)))
        found += compared(full, out, rule, int(checked[out[0]]) if len(out) == 1 else 0)
    wrong = found.pop("wrong", 0)
    return Found([f"{wrong} signs are wrong"] * bool(wrong), found, f"{n} examples, {kernel}: {dict(found)}")


AUDITS = {"ball_signs": Audit("Are the signs that the ball proves those of the optimum?", case, 1250)}
