"""Paths: the optimum for every C (or another parameter), followed from breakpoint to breakpoint.

==========================================  =======================================================================
`regularization_path`, `parametric_path`    the public functions
`error_curve`, `cross_validation`           the error as a function of C
`lines`                                     paths along ε, ν, the costs of both classes, and the weights
`parametric`, `roc_curve`, `path_file`      the path between two problems; the ROC curve; files of paths
`left_out`, `several_classes`               paths without one example; paths of several classes
`continuing`, `conformal`                   tracking to the solution of another problem; prediction intervals
`extending`, `merging`                      appending examples to a problem; merging duplicates
`novelty`                                   b of a one-class problem, with a margin for rounding errors
==========================================  =======================================================================

`refsvm.core.paths` tracks, records and audits a path, and `refsvm.core.trackers` contains the trackers.
"""

from refsvm.analysis.paths.continuing import continue_to as continue_to
from refsvm.analysis.paths.cross_validation import PathCrossValidation as PathCrossValidation
from refsvm.analysis.paths.cross_validation import cross_validate_path as cross_validate_path
from refsvm.analysis.paths.error_curve import ErrorCurve as ErrorCurve
from refsvm.analysis.paths.extending import extended as extended
from refsvm.analysis.paths.lines import *
from refsvm.analysis.paths.parametric import ParametricPath as ParametricPath
from refsvm.analysis.paths.parametric_path import parametric_path as parametric_path
from refsvm.analysis.paths.path_file import load_path as load_path
from refsvm.analysis.paths.path_file import save_path as save_path
from refsvm.analysis.paths.regularization_path import regularization_path as regularization_path
from refsvm.analysis.paths.roc_curve import CostPath as CostPath
from refsvm.analysis.paths.roc_curve import RocCurve as RocCurve
from refsvm.analysis.paths.several_classes import OneVsOnePath as OneVsOnePath
from refsvm.core.paths.audit import PathAudit as PathAudit
from refsvm.core.paths.path import RegularizationPath as RegularizationPath
from refsvm.core.paths.recorder import EVENT as EVENT
from refsvm.core.paths.tracking import track as track
from refsvm.core.rule import export
from refsvm.core.trackers.base import PathTracker as PathTracker
from refsvm.core.trackers.hastie import Hastie as Hastie
from refsvm.core.trackers.svmp import SVMP as SVMP
from refsvm.core.walk.algebra import SVD as SVD
from refsvm.core.walk.algebra import ElbowAlgebra as ElbowAlgebra
from refsvm.core.walk.algebra import PivotedQR as PivotedQR
from refsvm.core.walk.algebra import UpdatedInverse as UpdatedInverse
from refsvm.core.walk.breakpoint import Breakpoint as Breakpoint
from refsvm.core.walk.breakpoint import LinePoint as LinePoint
from refsvm.core.walk.breakpoint import Move as Move
from refsvm.core.walk.line import ProblemLine as ProblemLine
from refsvm.core.walk.state import PathState as PathState
from refsvm.core.walk.updated_qr import UpdatedQR as UpdatedQR

export(vars(), "EVENT")
