"""Path trackers: the optimum for every C, by following it from breakpoint to breakpoint.

==========================================  =======================================================================
`refsvm.trackers`                           the trackers: `SVMP`, `Hastie`
`refsvm.walk`                               the walk, its linear system, and what to do where that is singular
`path`, `error_curve`, `cross_validation`   what a path tells: α, b, h at any C, and the error as a function of C
`regularization_path`, `parametric_path`    the front doors
==========================================  =======================================================================
"""

from refsvm.paths.audit import PathAudit
from refsvm.paths.continuing import continue_to
from refsvm.paths.cross_validation import PathCrossValidation, cross_validate_path
from refsvm.paths.error_curve import ErrorCurve
from refsvm.paths.lines import cost_path, epsilon_path, nu_path, weight_path
from refsvm.paths.parametric import ParametricPath
from refsvm.paths.parametric_path import parametric_path
from refsvm.paths.path import RegularizationPath
from refsvm.paths.path_file import load_path, save_path
from refsvm.paths.recorder import EVENT
from refsvm.paths.regularization_path import regularization_path, track
from refsvm.paths.roc_curve import CostPath, RocCurve
from refsvm.trackers.base import PathTracker
from refsvm.trackers.hastie import Hastie
from refsvm.trackers.svmp import SVMP
from refsvm.walk.algebra import SVD, ElbowAlgebra, PivotedQR, UpdatedInverse
from refsvm.walk.breakpoint import Breakpoint, LinePoint, Move
from refsvm.walk.line import ProblemLine
from refsvm.walk.state import PathState

__all__ = [
    "EVENT",
    "SVD",
    "SVMP",
    "Breakpoint",
    "CostPath",
    "ElbowAlgebra",
    "ErrorCurve",
    "Hastie",
    "LinePoint",
    "Move",
    "ParametricPath",
    "PathAudit",
    "PathCrossValidation",
    "PathState",
    "PathTracker",
    "PivotedQR",
    "ProblemLine",
    "RegularizationPath",
    "RocCurve",
    "UpdatedInverse",
    "continue_to",
    "cost_path",
    "cross_validate_path",
    "epsilon_path",
    "load_path",
    "nu_path",
    "parametric_path",
    "regularization_path",
    "save_path",
    "track",
    "weight_path",
]
