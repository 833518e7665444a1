"""The published figures of Glasmachers (2008): Table 1 and Table 2."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["PUBLISHED", "Published"]


@dataclass(frozen=True)
class Published:
    """A line of Table 1 and of Table 2."""

    n: int
    sv: int
    bsv: int
    seconds: tuple[float, float]
    iterations: tuple[int, int]

    @property
    def ratio(self) -> float:
        """Iterations of PA-SMO over those of SMO."""
        return self.iterations[1] / self.iterations[0]


PUBLISHED = {
    "ida_banana": Published(5300, 1223, 1199, (2.07, 2.08), (23295, 19721)),
    "ida_breast-cancer": Published(277, 178, 131, (0.02, 0.02), (313, 292)),
    "ida_diabetis": Published(768, 445, 414, (0.08, 0.10), (361, 358)),
    "ida_flare-solar": Published(1066, 744, 709, (0.18, 0.19), (792, 744)),
    "ida_german": Published(1000, 620, 426, (0.20, 0.19), (908, 879)),
    "ida_heart": Published(270, 158, 149, (0.02, 0.02), (113, 112)),
    "ida_image": Published(2310, 301, 84, (0.45, 0.46), (6553, 6359)),
    "ida_ringnorm": Published(7400, 625, 86, (2.41, 2.27), (1569, 1537)),
    "ida_splice": Published(3175, 1426, 7, (4.04, 3.92), (6643, 5854)),
    "ida_thyroid": Published(215, 17, 3, (0.02, 0.01), (744, 667)),
    "ida_titanic": Published(2201, 934, 915, (0.54, 0.47), (3375, 1653)),
    "ida_twonorm": Published(7400, 734, 662, (2.67, 2.65), (641, 642)),
    "ida_waveform": Published(5000, 1262, 980, (3.03, 2.99), (1610, 1539)),
    "chessboard-1000": Published(1000, 41, 3, (3.86, 2.98), (1883310, 1186963)),
    "tic_tac_toe": Published(958, 104, 0, (0.10, 0.10), (8321, 7786)),
    "ionosphere": Published(351, 190, 8, (0.03, 0.04), (411, 408)),
    "spambase": Published(4601, 1982, 583, (8.36, 8.36), (9641, 9171)),
    "internet_ads_adbench": Published(2358, 1350, 6, (2.38, 2.31), (2785, 2750)),
    "chessboard-10000": Published(10000, 129, 84, (76.72, 75.36), (32130476, 24997371)),
    "chessboard-100000": Published(100000, 556, 504, (475.37, 428.18), (145364030, 105199379)),
    "connect-4": Published(61108, 13485, 5994, (1268.04, 1243.56), (82076, 77690)),
    "king-rook-vs-king": Published(28056, 5815, 206, (272.80, 273.06), (69410, 64067)),
}
