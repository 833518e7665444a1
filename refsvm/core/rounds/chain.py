"""Lists the rounds for folds, and the solution from which each round starts: Wen et al. (2017), Algorithms 1 to 3.

`refsvm.core.rounds.runner` runs the rounds: for each round, it sets the bounds of the held-out examples to 0, computes
the seed and solves the problem.
"""

from __future__ import annotations

import numpy as np

from refsvm.core.rounds.machine import Machine
from refsvm.core.rounds.round import Round
from refsvm.core.rounds.walked import ORIGIN
from refsvm.core.seeders import Cold, Seeder


def planned(machine: Machine, held_out: list[np.ndarray], seeder: Seeder, from_full: bool) -> list[Round]:
    """Return one round for each fold of one machine (one model), as in the loop of Wen et al., Algorithms 1 to 3."""
    # --- a round starts from the solution on all examples or, in a chain, from the previous round's solution ---
    origin = None if isinstance(seeder, Cold) else ORIGIN
    first = [Round(keep=origin)] if origin and from_full else []
    keep = None if from_full else origin
    evaluated = held_out if machine.copies > 1 else [None] * len(held_out)
    return first + [
        Round(machine.variables(out), origin, keep, evaluate=each)
        for out, each in zip(held_out, evaluated, strict=True)
    ]
