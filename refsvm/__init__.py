"""refsvm: SVM training algorithms that can be read, swapped and trusted.

================  =========================================================================
`problem`         DualProblem: max vᵀα − ½αᵀKα, 1ᵀα = z, L ≤ α ≤ U
`primal`          F(α, b) and the best b, hard margins included
`state`           SolverState: what changes during a solve, and its invariants
`result`          Solution, Status, Trace
`rule`            Rule: what all strategies have in common
`store`           RunStore: finished runs in one SQLite file, and what makes two runs the same run
`kernels`         Linear, RBF, Polynomial, Sigmoid, Precomputed, any callable; kernel rows on demand
`selectors`       which pair moves next
`steps`           how far it moves
`stopping`        when the point is good enough
`seeders`         where the next of several similar problems starts
`rounds`          many related problems at the price of a few: leave-one-out, cross-validation, grids
`trackers`        SVMP, Hastie: follow an optimum while its problem moves
`solver`          iterate(): the readable loop; solve(): run it, or its compiled twin
`walk`            what trackers stand on: events, the elbow and its inverse, the linear program
`paths`           the optimum along any line of problems, for every C above all, and what it tells
`multiclass`      pairs of classes, prediction, trained models and their files
`estimators`      SVC, SVR, OneClassSVM and SVCCV, with scikit-learn's conventions
`engine`          limits, Ctrl-C and workers
`compiled`        the Numba twins; it mirrors the rooms above, path for path
`experiment`      strategies × problems × permutations → a resumable store → tables
`display`         convergence, one working set, planned steps, leave-one-out, seeds, grids and paths, drawn
`datasets`        bundled sets, published generators, loaders
`testing`         check_strategy(): contract and twin checks for any rule
`cli`             the command line
================  =========================================================================
"""

from importlib.util import find_spec
from typing import TYPE_CHECKING

from refsvm.kernels import RBF, Linear, Polynomial, Precomputed, Sigmoid
from refsvm.paths.lines import cost_path, epsilon_path, nu_path, weight_path
from refsvm.paths.parametric_path import parametric_path
from refsvm.paths.regularization_path import regularization_path
from refsvm.problem import DualProblem
from refsvm.result import Solution, Status
from refsvm.rounds import cross_validate, leave_one_out
from refsvm.rounds.rounds import Rounds
from refsvm.rounds.sufficiency import Ball, Check, TrainingError, XiAlphaBound, ZeroAlpha
from refsvm.rule import Rule
from refsvm.seeders import ATO, AVG, MIR, SIR, TOP, ActiveSet, Cold, Seeder
from refsvm.selectors import (
    ConjugateSecondOrder,
    Greedy,
    HybridMaximumGain,
    MaximumGain,
    MostViolatingPair,
    SecondOrder,
    WorkingSetSelector,
)
from refsvm.solver import LIBSVMShrinking, NoShrinking, Restriction, Shrinking, iterate, solve
from refsvm.steps import ConjugateStep, NewtonStep, OverrelaxedNewtonStep, PlanningAheadStep, StepRule
from refsvm.stopping import BallRule, KKTGap, LOODualityGap, StoppingRule, WorkingSetGap
from refsvm.trackers import SVMP, Hastie, PathTracker

if TYPE_CHECKING:  # __getattr__ imports these when they are asked for
    from refsvm.estimators import SVC, SVCCV, SVR, OneClassSVM
    from refsvm.multiclass.model_file import read_model, write_model

__version__ = "0.2.0"

__all__ = [
    "ATO", "AVG", "MIR", "RBF", "SIR", "SVC", "SVCCV", "SVMP", "SVR", "TOP", "ActiveSet", "Ball", "BallRule",
    "Check", "Cold", "ConjugateSecondOrder", "ConjugateStep", "DualProblem", "Greedy", "Hastie",
    "HybridMaximumGain", "KKTGap", "LIBSVMShrinking", "LOODualityGap", "Linear", "MaximumGain", "MostViolatingPair",
    "NewtonStep", "NoShrinking", "OneClassSVM", "OverrelaxedNewtonStep", "PathTracker", "PlanningAheadStep",
    "Polynomial", "Precomputed", "Restriction", "Rounds", "Rule", "SecondOrder", "Seeder", "Shrinking",
    "Sigmoid", "Solution", "Status", "StepRule", "StoppingRule", "TrainingError", "WorkingSetGap",
    "WorkingSetSelector", "XiAlphaBound", "ZeroAlpha", "cost_path", "cross_validate", "epsilon_path", "iterate",
    "leave_one_out", "nu_path", "parametric_path", "read_model", "regularization_path", "solve", "warm_up",
    "weight_path", "write_model",
]  # fmt: skip


_ESTIMATORS = ("OneClassSVM", "SVC", "SVCCV", "SVR")
_FILES = ("read_model", "write_model")
_ELSEWHERE = {
    "NuSVC": "use SVC and choose C, or sklearn.svm.NuSVC",
    "NuSVR": "use SVR and choose epsilon, or sklearn.svm.NuSVR",
    "LinearSVC": 'use SVC(kernel="linear"), which penalises no intercept, or sklearn.svm.LinearSVC',
    "LinearSVR": 'use SVR(kernel="linear"), which penalises no intercept, or sklearn.svm.LinearSVR',
}

_missing = [] if find_spec("sklearn") else [*_ESTIMATORS]
if find_spec("refsvm.compiled"):  # without this folder the package is a complete NumPy package
    import refsvm.compiled.auto  # noqa: F401  which enters itself among the backends
    from refsvm.compiled.warming import warm_up
else:
    _missing.append("warm_up")
for _name in _missing:  # a star import takes what is there
    __all__.remove(_name)


if not TYPE_CHECKING:  # a name that is not there is a mistake to a type checker

    def __getattr__(name: str) -> object:
        """Import what needs scikit-learn or SciPy when first asked for."""
        from importlib import import_module

        if name in _ELSEWHERE:  # an ImportError, so that its sentence survives ``from refsvm import …``
            raise ImportError(f"refsvm has no {name}; {_ELSEWHERE[name]}.")
        room = "multiclass.model_file" if name in _FILES else "estimators"
        if name not in _FILES + _ESTIMATORS:
            raise AttributeError(f"module 'refsvm' has no attribute {name!r}")
        try:
            globals()[name] = found = getattr(import_module(f"refsvm.{room}"), name)
        except ModuleNotFoundError as error:
            if name in _FILES or (error.name or "").partition(".")[0] != "sklearn":
                raise
            raise ImportError(
                f"refsvm.{name} needs scikit-learn, which is not installed; run: pip install scikit-learn"
            ) from None
        return found
