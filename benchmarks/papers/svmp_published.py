"""The published figures of Ong, Shao & Yang (2010): Tables II, III and IV."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["GAUSSIAN", "LARGE", "LARGE_GAUSSIAN", "LINEAR", "SECOND_COST", "There"]


@dataclass(frozen=True)
class There:
    """A line of Table II or III: what the paper found."""

    elbow: int
    events: int
    nullity: int
    seconds: tuple[float, float, float]
    cost: float
    special: int
    repairs: int


LINEAR = {
    "sonar": There(42, 207, 0, (1.046, 1.030, 1.290), 0.2153, 1, 0),
    "heart": There(14, 336, 0, (1.593, 1.625, 1.891), 0.003, 1, 0),
    "ionosphere": There(34, 388, 0, (1.968, 1.935, 2.437), 0.0233, 1, 0),
    "wbc": There(11, 507, 6, (4.328, 4.297, 4.515), 0.0075, 30, 0),
    "monk 1": There(105, 52, 98, (5.703, 11.82, 12.29), 0.0012, 7, 0),
    "monk 2": There(290, 1, 283, (2.687, 2.328, 2.359), 0.0004, 0, 0),
    "monk 3": There(119, 74, 86, (5.765, 6.062, 6.000), 0.0033, 24, 0),
    "diabetes": There(9, 350, 0, (3.578, 3.687, 3.906), 0.0004, 1, 0),
    "HillValley": There(17, 610, 0, (9.453, 9.312, 9.931), 0.0003, 2, 0),
    "german": There(28, 440, 3, (12.97, 13.18, 13.85), 0.0003, 0, 4),
}
GAUSSIAN = {
    "sonar": There(104, 8, 0, (0.265, 0.265, 0.312), 0.0823, 2, 1),
    "heart": There(170, 55, 0, (2.031, 1.218, 1.468), 0.0832, 6, 1),
    "ionosphere": There(193, 13, 1, (4.015, 2.328, 2.312), 0.2073, 0, 1),
    "wbc": There(195, 285, 29, (28.17, 20.62, 20.73), 0.0683, 3, 0),
    "monk 1": There(432, 32, 0, (21.43, 3.312, 3.708), 0.0089, 32, 0),
    "monk 2": There(432, 143, 0, (173.1, 20.65, 13.42), 0.1818, 0, 1),
    "monk 3": There(432, 270, 0, (211.1, 27.18, 20.62), 0.0965, 7, 1),
    "diabetes": There(457, 180, 0, (214.5, 27.97, 18.10), 0.0674, 1, 3),
    "HillValley": There(172, 641, 2, (42.65, 23.65, 27.21), 0.0016, 18, 11),
    "german": There(800, 112, 0, (728.2, 92.20, 41.48), 0.2456, 15, 1),
}
LARGE = {"svmguide3": (22, 920, 0, 58.28), "madelon": (501, 4061, 0, 754.8), "splice": (62, 6340, 3, 674.1)}
LARGE_GAUSSIAN = {"svmguide3": (1223, 266, 0), "madelon": (2000, 2, 0), "splice": (3149, 156, 179)}
SECOND_COST = {"sonar": 30.06, "heart": 11.00, "ionosphere": 10.82, "wbc": 0.0657, "monk 1": 0.0088, "monk 2": 13.74,
               "monk 3": 3.667, "diabetes": 7.703, "HillValley": 0.0198, "german": 22.256}  # fmt: skip
"""c^SL2 of Table III: the check turned off."""
