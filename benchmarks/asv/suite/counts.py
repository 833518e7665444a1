"""Steps and kernel rows, which no busy machine changes: a rule that needs more of them than before shows at once."""

from itertools import product

from refsvm import (
    ATO,
    RBF,
    SIR,
    TOP,
    ConjugateStep,
    DualProblem,
    HybridMaximumGain,
    LIBSVMShrinking,
    MostViolatingPair,
    NewtonStep,
    PlanningAheadStep,
    Restriction,
    cross_validate,
    leave_one_out,
    regularization_path,
    solve,
)
from refsvm.datasets import load, make_banana, make_chessboard

SETS = {
    "heart": (lambda: load("heart"), 0.005, 100.0),
    "banana": (lambda: make_banana(400, rng=0), 0.5, 100.0),
    "chessboard": (lambda: make_chessboard(200, rng=0), 0.5, 1e4),
}
STRATEGIES = {
    "MVP": {"selector": MostViolatingPair(), "step": NewtonStep()},
    "SMO": {"step": NewtonStep()},
    "planned": {"step": PlanningAheadStep()},
    "conjugate": {"step": ConjugateStep()},
    "HMG": {"selector": HybridMaximumGain(), "step": NewtonStep()},
    "SMO, restriction": {"step": NewtonStep(), "shrinking": Restriction()},
    "SMO, LIBSVM's shrinking": {"step": NewtonStep(), "shrinking": LIBSVMShrinking()},
}
SEEDERS = {"SIR": SIR(), "ATO": ATO(), "TOP": TOP()}


class Solve:
    """One solve, memory for a tenth of the kernel rows."""

    params = (list(SETS), list(STRATEGIES))
    param_names = ("set", "strategy")
    timeout = 300

    def setup_cache(self):
        """Solve all of them once, in one process; the tracks read what was counted."""
        return {place: solved(*place) for place in product(*self.params)}

    def track_iterations(self, found, *place):
        """Steps."""
        return found[place][0]

    def track_kernel_rows(self, found, *place):
        """Kernel rows computed."""
        return found[place][1]


def solved(name, strategy):
    """Steps and kernel rows of one solve."""
    make, gamma, C = SETS[name]
    data = make()
    problem = DualProblem.classification(data.X, data.y, kernel=RBF(gamma), C=C)
    cache_mb = 0.1 * problem.n**2 * 8 / 2**20
    chosen = {"shrinking": False, **STRATEGIES[strategy]}
    solution = solve(problem, engine="numba", cache_mb=cache_mb, **chosen)
    return solution.iterations, solution.kernel_rows


class Rounds:
    """Ten folds and leave-one-out on heart."""

    params = list(SEEDERS)
    param_names = ("seeder",)

    def setup(self, seeder):
        """Load the set."""
        self.heart = load("heart")

    def track_folds(self, seeder):
        """Steps of ten folds, the full solution counted."""
        data = self.heart
        return cross_validate(data.X, data.y, kernel=RBF(0.005), C=10.0, seeder=SEEDERS[seeder]).iterations

    def track_leave_one_out(self, seeder):
        """Steps of all rounds, the full solution counted."""
        data = self.heart
        return leave_one_out(data.X, data.y, kernel=RBF(0.005), C=1.0, seeder=SEEDERS[seeder]).iterations


def track_breakpoints():
    """Breakpoints of the path on heart."""
    data = load("heart")
    return len(regularization_path(data.X, data.y, kernel=RBF(0.005), C_min=0.01, C_max=100.0).C)
