"""Path trackers: the optimum for every C, by following it from breakpoint to breakpoint.

`base`                the contract of a tracker
`hastie`, `svmp`      the trackers
`state`, `events`     the scaled variables, and the search for the next event
`elbow`, `algebra`    one step, and the linear system behind it
`inverse`, `updated_inverse`   its inverse, kept up to date as the elbow changes
`ordinary`, `runs`    many events of one example each, in one call
`linear_program`, `special_events`, `backup`     what SVMP does where the elbow is singular, or examples block the way
`path`, `error_curve`, `cross_validation`        what a path tells: α, b, h at any C, and the error as a function of C
`regularization_path` the front door
"""

from refsvm.paths.algebra import SVD, ElbowAlgebra, PivotedQR, UpdatedQR
from refsvm.paths.audit import PathAudit
from refsvm.paths.base import PathTracker
from refsvm.paths.breakpoint import Breakpoint, Move
from refsvm.paths.cross_validation import PathCrossValidation, cross_validate_path
from refsvm.paths.error_curve import ErrorCurve
from refsvm.paths.hastie import Hastie
from refsvm.paths.path import RegularizationPath
from refsvm.paths.path_file import load_path, save_path
from refsvm.paths.recorder import EVENT
from refsvm.paths.regularization_path import regularization_path, track
from refsvm.paths.state import PathState
from refsvm.paths.svmp import SVMP
from refsvm.paths.updated_inverse import UpdatedInverse

__all__ = [
    "EVENT",
    "SVD",
    "SVMP",
    "Breakpoint",
    "ElbowAlgebra",
    "ErrorCurve",
    "Hastie",
    "Move",
    "PathAudit",
    "PathCrossValidation",
    "PathState",
    "PathTracker",
    "PivotedQR",
    "RegularizationPath",
    "UpdatedInverse",
    "UpdatedQR",
    "cross_validate_path",
    "load_path",
    "regularization_path",
    "save_path",
    "track",
]
