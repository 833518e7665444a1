"""refsvm: SVM training algorithms that can be read, swapped and trusted.

================  =========================================================================
`core`            the reference: the algorithms of the papers in NumPy; it imports nothing outside itself
`compiled`        copies of the rules and loops of `core`, compiled by Numba, file by file
`analysis`        solves any task; cross-validation, grids, paths of solutions, derivatives, several classes
`estimators`      SVC, SVR, OneClassSVM and their searches, with scikit-learn's conventions
`services`        code for all other folders: checks of a solve, progress line, workers, the file of finished runs
`experiment`      strategies × problems × permutations → a resumable store → tables
`datasets`        bundled sets, published generators, loaders
`display`         plots of convergence, a working set, planned steps, leave-one-out, seeds, grids and paths
`testing`         check_strategy(): checks any rule, and its compiled copy against the rule
`cli`             the command line
================  =========================================================================
"""

from importlib.util import find_spec as _find_spec
from typing import TYPE_CHECKING
from typing import Any as _Any

# this import adds derivative and pullback to Solution
from refsvm.analysis.derivatives import influence as influence
from refsvm.analysis.paths.cross_validation import cross_validate_path as cross_validate_path
from refsvm.analysis.paths.lines import *
from refsvm.analysis.paths.parametric_path import parametric_path as parametric_path
from refsvm.analysis.paths.regularization_path import regularization_path as regularization_path
from refsvm.analysis.recording import Recording as Recording
from refsvm.analysis.resampling import cross_validate as cross_validate
from refsvm.analysis.resampling import leave_one_out as leave_one_out
from refsvm.analysis.solve import solve as solve
from refsvm.core.kernels.functions import *
from refsvm.core.problem import DualProblem as DualProblem
from refsvm.core.result import Solution as Solution
from refsvm.core.result import Status as Status
from refsvm.core.rounds.rounds import Rounds as Rounds
from refsvm.core.rounds.sufficiency import Ball as Ball
from refsvm.core.rounds.sufficiency import Check as Check
from refsvm.core.rounds.sufficiency import TrainingError as TrainingError
from refsvm.core.rounds.sufficiency import XiAlphaBound as XiAlphaBound
from refsvm.core.rounds.sufficiency import ZeroAlpha as ZeroAlpha
from refsvm.core.rule import Rule as Rule
from refsvm.core.rule import export as _export
from refsvm.core.seeders import *
from refsvm.core.selectors import *
from refsvm.core.shown import Shown as _Shown
from refsvm.core.solver.decomposition import Decomposition as Decomposition
from refsvm.core.solver.libsvm_shrinking import LIBSVMShrinking as LIBSVMShrinking
from refsvm.core.solver.loop import iterate as iterate
from refsvm.core.solver.safe_screening import SafeScreening as SafeScreening
from refsvm.core.solver.shrinking import NoShrinking as NoShrinking
from refsvm.core.solver.shrinking import Restriction as Restriction
from refsvm.core.solver.shrinking import Shrinking as Shrinking
from refsvm.core.steps import *
from refsvm.core.stopping import *
from refsvm.core.trackers import *
from refsvm.doors import open_doors as _open_doors
from refsvm.moved import install as _install_old_places
from refsvm.moved import place as _place

if TYPE_CHECKING:  # __getattr__ imports these modules at their first use
    from refsvm.analysis.multiclass.model_file import read_model as read_model
    from refsvm.analysis.multiclass.model_file import write_model as write_model
    from refsvm.estimators import SVC as SVC
    from refsvm.estimators import SVCCV as SVCCV
    from refsvm.estimators import SVR as SVR
    from refsvm.estimators import SVRCV as SVRCV
    from refsvm.estimators import OneClassSVM as OneClassSVM
    from refsvm.estimators import SVCGradientCV as SVCGradientCV
    from refsvm.estimators import SVRGradientCV as SVRGradientCV
    from refsvm.experiment.race import compare as compare

__version__ = "0.5.0"

_ESTIMATORS = ("OneClassSVM", "SVC", "SVCCV", "SVCGradientCV", "SVR", "SVRCV", "SVRGradientCV")
_FILES = ("read_model", "write_model")
_LATER = {"compare": "experiment.race", **dict.fromkeys(_FILES, "analysis.multiclass.model_file")}
_FOLDERS = ("datasets", "display", "experiment")
# the module of each deprecated name; __getattr__ warns with the text `LEAVES` of this module
_LEAVING = {"CacheAware": "services.cache_aware"}
_ELSEWHERE = {
    "NuSVC": "use SVC and choose C, or sklearn.svm.NuSVC",
    "NuSVR": "use SVR and choose epsilon, or sklearn.svm.NuSVR",
    "LinearSVC": 'use SVC(kernel="linear"), which penalises no intercept, or sklearn.svm.LinearSVC',
    "LinearSVR": 'use SVR(kernel="linear"), which penalises no intercept, or sklearn.svm.LinearSVR',
}

if _find_spec("refsvm.compiled"):  # without this folder, refsvm computes with NumPy alone
    import refsvm.compiled.auto  # noqa: F401  registers itself as a backend
    from refsvm.compiled.warming import warm_up as warm_up


def _plot(result: object, *ax: _Any, **look: _Any) -> object:
    """Draw the result; see `refsvm.display.of_result.plot`, which is imported at its first use."""
    from refsvm.display.of_result import plot

    return plot(result, *ax, **look)


_Shown.plot = _plot
_open_doors()
_install_old_places()
# a star import includes estimators only if scikit-learn is installed
_export(vars(), *_LATER, *(_ESTIMATORS if _find_spec("sklearn") else ()))


if not TYPE_CHECKING:  # type checkers must report unknown names

    def __dir__() -> list[str]:
        """Return the names that completion offers, including folders that are not imported yet."""
        return sorted([*globals()["__all__"], *_FOLDERS, "__version__"])

    def __getattr__(name: str) -> object:
        """Import the folder or object `name` at its first use; the modules of these objects need more than NumPy."""
        from importlib import import_module

        if name in _FOLDERS or _place(f"refsvm.{name}"):
            return import_module(f"refsvm.{name}")
        if name in _ELSEWHERE:  # ``from refsvm import …`` would hide the message of an AttributeError
            raise ImportError(f"refsvm has no {name}; {_ELSEWHERE[name]}.")
        if name in _LEAVING:
            from warnings import warn

            place = import_module(f"refsvm.{_LEAVING[name]}")
            warn(place.LEAVES, DeprecationWarning, stacklevel=2)
            return getattr(place, name)
        if name not in (*_LATER, *_ESTIMATORS):
            raise AttributeError(f"module 'refsvm' has no attribute {name!r}")
        folder = _LATER.get(name, "estimators")
        try:
            globals()[name] = value = getattr(import_module(f"refsvm.{folder}"), name)
        except ModuleNotFoundError as error:
            if name in _LATER or (error.name or "").partition(".")[0] != "sklearn":
                raise
            raise ImportError(
                f"refsvm.{name} needs scikit-learn, which is not installed; run: pip install scikit-learn"
            ) from None
        return value
