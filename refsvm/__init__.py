"""refsvm: SVM training algorithms that can be read, swapped and trusted.

================  =========================================================================
`problem`         DualProblem: max vᵀα − ½αᵀKα, 1ᵀα = z, L ≤ α ≤ U
`primal`          F(α, b) and the best b, hard margins included
`state`           SolverState: what changes during a solve, and its invariants
`result`          Solution, Status, Trace
`kernels`         Linear, RBF, Polynomial, Sigmoid, Precomputed, any callable; kernel rows on demand
`selectors`       which pair moves next
`steps`           how far it moves
`stopping`        when the point is good enough
`seeders`         where the next of several similar problems starts
`resampling`      leave-one-out and cross-validation: many rounds of training at the price of a few
`paths`           following the optimum along C
`solver`          iterate(): the readable loop; solve(): run it, or its compiled twin; Rounds: many related solves
`multiclass`      pairs of classes, prediction, trained models and their files
`estimators`      SVC, SVR, OneClassSVM and SVCCV, with scikit-learn's conventions
`fast`            the Numba twins and the compiled loop
`experiment`      strategies × problems × permutations → a resumable store → tables
`display`         convergence, one working set, planned steps, leave-one-out, seeds, grids and paths, drawn
`datasets`        bundled sets, published generators, loaders
`testing`         check_strategy(): contract and twin checks for any rule
`cli`             the command line
================  =========================================================================
"""

from refsvm.kernels import RBF, Linear, Polynomial, Precomputed, Sigmoid
from refsvm.paths import SVMP, Hastie, PathTracker, regularization_path
from refsvm.problem import DualProblem
from refsvm.resampling import cross_validate, leave_one_out
from refsvm.result import Solution, Status
from refsvm.seeders import ATO, AVG, MIR, SIR, TOP, ActiveSet, Cold, Seeder
from refsvm.selectors import (
    Greedy,
    HybridMaximumGain,
    MaximumGain,
    MostViolatingPair,
    SecondOrder,
    WorkingSetSelector,
)
from refsvm.solver import Rounds, iterate, solve
from refsvm.steps import NewtonStep, OverrelaxedNewtonStep, PlanningAheadStep, StepRule
from refsvm.stopping import KKTGap, LOODualityGap, StoppingRule, WorkingSetGap

__version__ = "0.1.0"

__all__ = [
    "ATO",
    "AVG",
    "MIR",
    "RBF",
    "SIR",
    "SVC",
    "SVCCV",
    "SVMP",
    "SVR",
    "TOP",
    "ActiveSet",
    "Cold",
    "DualProblem",
    "Greedy",
    "Hastie",
    "HybridMaximumGain",
    "KKTGap",
    "LOODualityGap",
    "Linear",
    "MaximumGain",
    "MostViolatingPair",
    "NewtonStep",
    "OneClassSVM",
    "OverrelaxedNewtonStep",
    "PathTracker",
    "PlanningAheadStep",
    "Polynomial",
    "Precomputed",
    "Rounds",
    "SecondOrder",
    "Seeder",
    "Sigmoid",
    "Solution",
    "Status",
    "StepRule",
    "StoppingRule",
    "WorkingSetGap",
    "WorkingSetSelector",
    "cross_validate",
    "iterate",
    "leave_one_out",
    "read_model",
    "regularization_path",
    "solve",
    "write_model",
]


_ESTIMATORS = ("OneClassSVM", "SVC", "SVCCV", "SVR")
_FILES = ("read_model", "write_model")


def __getattr__(name: str) -> object:
    """Import what needs scikit-learn or SciPy when first asked for."""
    from importlib import import_module

    if name in _FILES:
        return getattr(import_module("refsvm.multiclass.model_file"), name)
    if name not in _ESTIMATORS:
        raise AttributeError(f"module 'refsvm' has no attribute {name!r}")
    try:
        return getattr(import_module("refsvm.estimators"), name)
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] != "sklearn":
            raise
        raise ImportError(
            f"refsvm.{name} needs scikit-learn, which is not installed; run: pip install 'refsvm[sklearn]'"
        ) from None
