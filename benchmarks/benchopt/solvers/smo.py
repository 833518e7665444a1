"""refsvm.solve, watched: the observer sees α between two chunks of steps, and changes none."""

from benchopt import BaseSolver

from refsvm import RBF, DualProblem, KKTGap, NewtonStep, PlanningAheadStep, Restriction, solve

STEPS = {"newton": NewtonStep(), "planned": PlanningAheadStep()}


class Watcher:
    """Shows benchopt the α of all variables, also while a restricted problem is solved."""

    only_watches = True  # a restricted solve is not ended early for its sake

    def __init__(self, solver, go_on):
        self.solver, self.go_on = solver, go_on

    def __call__(self, state):
        """Take α; a true result ends the solve."""
        delta = state.alpha
        while state.parent is not None:  # a restricted problem counts α from where it began
            state, A = state.parent
            moved = state.alpha.copy()
            moved[A] += delta
            delta = moved
        self.solver.alpha = delta.copy()
        return not self.go_on()


class Solver(BaseSolver):
    """SMO, by the step and with or without shrinking."""

    name = "refsvm"
    sampling_strategy = "callback"
    parameters = {"step": list(STEPS), "shrinking": [False, True]}

    def set_objective(self, X, y, gamma, C):
        """Make the problem, and load what is compiled."""
        self.problem = DualProblem.classification(X, y, kernel=RBF(gamma), C=C)
        solve(self.problem, step=STEPS[self.step], engine="numba", max_iter=1)

    def run(self, callback):
        """Solve to a tolerance that is tighter than what is drawn."""
        shrinking = Restriction() if self.shrinking else False
        self.alpha = self.problem.feasible([0.0] * self.problem.n)
        watcher = Watcher(self, callback)
        callback()
        solution = solve(
            self.problem,
            step=STEPS[self.step],
            stop=KKTGap(1e-8),
            shrinking=shrinking,
            engine="numba",
            callback=watcher,
        )
        self.alpha = solution.alpha
        callback()

    def get_result(self):
        """The latest α."""
        return {"alpha": self.alpha}
