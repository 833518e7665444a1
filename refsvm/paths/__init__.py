"""Path trackers: the optimum for every C, by following it from breakpoint to breakpoint.

==========================================  =======================================================================
`refsvm.trackers`                           the trackers: `SVMP`, `Hastie`
`refsvm.walk`                               the walk, its linear system, and what to do where that is singular
`path`, `error_curve`, `cross_validation`   α, b, h at any C, and the error as a function of C
`regularization_path`, `parametric_path`    the public functions
`lines`                                     lines with a name: of ε, ν, both costs, the weights
`tracked`, `parametric`, `roc_curve`        what comes out of a line: its path, its operating points
`tracking`, `recorder`, `path_file`         how a path is followed, kept and written
`left_out`, `voted`, `several_classes`      each example left out; several classes
`continuing`, `conformal`                   other uses of the walk: one more problem, intervals of targets
`duplicates`                                equal examples as one variable
`audit`                                     the conditions of an optimum along a path, from scratch
==========================================  =======================================================================
"""

from refsvm.paths.audit import PathAudit as PathAudit
from refsvm.paths.continuing import continue_to as continue_to
from refsvm.paths.cross_validation import PathCrossValidation as PathCrossValidation
from refsvm.paths.cross_validation import cross_validate_path as cross_validate_path
from refsvm.paths.error_curve import ErrorCurve as ErrorCurve
from refsvm.paths.lines import *
from refsvm.paths.parametric import ParametricPath as ParametricPath
from refsvm.paths.parametric_path import parametric_path as parametric_path
from refsvm.paths.path import RegularizationPath as RegularizationPath
from refsvm.paths.path_file import load_path as load_path
from refsvm.paths.path_file import save_path as save_path
from refsvm.paths.recorder import EVENT as EVENT
from refsvm.paths.regularization_path import regularization_path as regularization_path
from refsvm.paths.roc_curve import CostPath as CostPath
from refsvm.paths.roc_curve import RocCurve as RocCurve
from refsvm.paths.several_classes import OneVsOnePath as OneVsOnePath
from refsvm.paths.tracking import track as track
from refsvm.rule import export
from refsvm.trackers.base import PathTracker as PathTracker
from refsvm.trackers.hastie import Hastie as Hastie
from refsvm.trackers.svmp import SVMP as SVMP
from refsvm.walk.algebra import SVD as SVD
from refsvm.walk.algebra import ElbowAlgebra as ElbowAlgebra
from refsvm.walk.algebra import PivotedQR as PivotedQR
from refsvm.walk.algebra import UpdatedInverse as UpdatedInverse
from refsvm.walk.breakpoint import Breakpoint as Breakpoint
from refsvm.walk.breakpoint import LinePoint as LinePoint
from refsvm.walk.breakpoint import Move as Move
from refsvm.walk.line import ProblemLine as ProblemLine
from refsvm.walk.state import PathState as PathState
from refsvm.walk.updated_qr import UpdatedQR as UpdatedQR

export(vars(), "EVENT")
