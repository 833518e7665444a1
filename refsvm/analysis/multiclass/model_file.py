"""The LIBSVM model file: a trained model as text, which every LIBSVM tool can read and which is never unpickled.

    svm_type c_svc            header: one keyword in each line
    kernel_type rbf
    gamma 0.5
    nr_class 2
    total_sv 2
    rho 0                     one value for each pair of classes p < q
    label -1 1
    nr_sv 1 1                 number of support vectors of each class
    SV 115 bytes, SHA-256 …   number and digest of the bytes without these words, which LIBSVM ignores
    1 1:0 2:1                 k − 1 coefficients, then the support vector as index:value
    -1 1:2 2:1

For classes p < q the decision value is h(x) = Σ c k(xᵢ, x) − rho over the support vectors of p and q. c is coefficient
number q − 1 of a support vector of p, or coefficient number p of a support vector of q, counted from 0; h(x) > 0 is a
vote for p. Models of regression (epsilon_svr) and novelty detection (one_class) have one coefficient and one rho, and
lack the lines label and nr_sv.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final

import numpy as np

from refsvm.analysis.multiclass.model import FunctionModel, Model, Scaling
from refsvm.analysis.multiclass.model_text import (
    COLUMNS,
    KERNELS,
    NAMES,
    SCALING,
    VERSION,
    model_of,
    sealed,
    sign,
    unsealed,
)
from refsvm.core._checks import version
from refsvm.core.kernels import RBF, Precomputed
from refsvm.services.files import written_whole
from refsvm.services.printable import printable
from refsvm.services.types import EstimatorLike

SMALLEST: Final = 1e-300
"""A feature's γ is raised to at least this before the feature is scaled by √γ."""


def write_model(
    estimator: EstimatorLike,
    path: str | os.PathLike[str],
    columns: Sequence[str] | None = None,
    scaling: Scaling | None = None,
) -> None:
    """Write a fitted estimator as a LIBSVM model file.

    Parameters
    ----------
    estimator : SVC, SVR or OneClassSVM
        A fitted estimator with one of this package's kernels; see the notes for its labels.
    path : str or path
        The file to write. An existing file is replaced once the new file is complete and on the disk; if writing fails,
        the existing file stays unchanged.
    columns : sequence of str, optional
        Names of the features, by default ``feature_names_in_`` of the estimator.
    scaling : refsvm.analysis.multiclass.model.Scaling, optional
        Scaling that was applied to the features before training. The model that `read_model` returns scales features
        before it predicts; LIBSVM does not.

    Raises
    ------
    ValueError
        If the kernel is not a kernel of this package, labels are numbers but not 32-bit integers, or a feature's name
        is missing or not unique.
    OSError
        If the file cannot be written.

    Notes
    -----
    LIBSVM's labels are integers. If the classes are not numbers, `write_model` numbers them from 0 and stores their
    names in a line after the support vectors. Further lines store the names and the scaling of the features. A line
    with the version of refsvm precedes these lines. LIBSVM ignores all of them.

    For an RBF kernel with one γ for each feature, `write_model` writes LIBSVM's kernel with γ = 1, and multiplies the
    features of the support vectors by √γⱼ. LIBSVM predicts correctly only if you scale the data by `RBF.scaled`; the
    model that `read_model` returns scales the data itself.

    In the line ``SV``, `write_model` states how many other bytes the file has, and their SHA-256 digest. LIBSVM
    ignores this text, but `read_model` refuses the file if its bytes do not match the text. If you edit a file by hand,
    delete the text after ``SV`` in this line.

    `write_model` writes the last feature of the first support vector even if it is zero, so that the file shows the
    number of features. A regression with all targets inside the tube has no support vector; the model file of
    such a regression contains b only.

    References
    ----------
    C.-C. Chang and C.-J. Lin, "LIBSVM: a library for support vector machines", ACM TIST 2 (27), 2011;
    `svm_save_model` in svm.cpp.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from refsvm import SVC
    >>> path = Path(tempfile.mkdtemp(), "two.model")
    >>> write_model(SVC(kernel="linear").fit([[0.0], [2.0]], [-1, 1]), path)
    >>> print(path.read_text())
    svm_type c_svc
    kernel_type linear
    nr_class 2
    total_sv 2
    rho -1
    label -1 1
    nr_sv 1 1
    SV 104 bytes, SHA-256 ...
    0.5 1:0
    -0.5 1:2
    <BLANKLINE>
    """
    kernel, classes = estimator.kernel_, getattr(estimator, "classes_", None)
    scaling = _scaling(kernel, scaling)
    orientation = 1.0 if classes is None else sign(len(classes))
    labels, names = (None, []) if classes is None else whole_numbers(classes)
    header = _header(estimator, labels, orientation)
    known = getattr(estimator, "feature_names_in_", None) if columns is None else columns
    features = [] if known is None or isinstance(kernel, Precomputed) else different_names(known)
    lines = [
        " ".join([*map(_shown, column), *(f"{i}:{_shown(value)}" for i, value in entries)])
        for column, entries in zip(orientation * estimator.dual_coef_.T, _entries(estimator), strict=True)
    ]
    more = {NAMES: names, COLUMNS: features, SCALING: [] if scaling is None else scaling.lists()}
    if any(more.values()):
        lines.append(f"{VERSION}{version()}")
    lines += [f"{mark}{json.dumps(held)}" for mark, held in more.items() if held]
    with written_whole(path) as stream:
        stream.write(sealed([f"{name} {value}" for name, value in header.items()], lines))


def read_model(path: str | os.PathLike[str]) -> Model | FunctionModel:
    """Read a model file of any of LIBSVM's five types; no data are unpickled.

    Parameters
    ----------
    path : str or path
        A file written by `write_model` or by a LIBSVM tool.

    Returns
    -------
    Model or FunctionModel
        A classifier, or a model that predicts values (epsilon_svr, nu_svr) or +1 and −1 (one_class).

    Raises
    ------
    FileNotFoundError
        If path does not exist or is not a file.
    ValueError
        If the file is not a model, or is truncated, changed or inconsistent; if labels or counts are not integers, or a
        label occurs twice; or if the file contains an entry of a later refsvm that this version cannot read.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from refsvm import SVC
    >>> path = Path(tempfile.mkdtemp(), "two.model")
    >>> write_model(SVC(kernel="linear").fit([[0.0], [2.0]], [-1, 1]), path)
    >>> model = read_model(path)
    >>> model.kernel, model.predict([[0.5], [3.0]]), model.decision_function([[0.5], [3.0]])
    (Linear(), array([-1,  1]), array([-0.5,  2. ]))
    """
    path = Path(path)
    if not path.is_file():
        raise FileNotFoundError(
            f"path={str(path)!r} is not a file; give a model written by 'refsvm fit' or LIBSVM."
        )
    try:
        # split only at line feeds, because class names may contain other line separators of Unicode
        return model_of(unsealed(path.read_bytes()).replace("\r\n", "\n").split("\n"))
    except (ValueError, OverflowError, RecursionError) as error:
        reasons = {
            UnicodeDecodeError: "it is not text",
            RecursionError: "the names of the classes are nested",
        }
        reason = printable(reasons.get(type(error), str(error).rstrip(".")))
        raise ValueError(
            f"path={str(path)!r} is not a LIBSVM model file ({reason}); "
            "give a model written by 'refsvm fit' or LIBSVM's svm-train."
        ) from None


def whole_numbers(classes: np.ndarray) -> tuple[list[int], list[str]]:
    """Return the classes as a model file stores them: as integers, or as class numbers and class names.

    Parameters
    ----------
    classes : ndarray of shape (k,)
        Different labels.

    Returns
    -------
    labels : list of int
        The labels, or 0 … k − 1 if they are not numbers.
    names : list of str
        The labels if they are not numbers, otherwise an empty list.

    Raises
    ------
    ValueError
        If the labels are numbers, but not 32-bit integers.

    Examples
    --------
    >>> import numpy as np
    >>> whole_numbers(np.array([-1.0, 1.0])), whole_numbers(np.array(["elm", "oak"]))
    (([-1, 1], []), ([0, 1], ['elm', 'oak']))
    """
    if classes.dtype.kind not in "biuf":
        return list(range(len(classes))), [str(name) for name in classes]
    labels = [int(label) for label in classes]
    if labels != classes.tolist() or max(map(abs, labels)) >= 2**31:
        raise ValueError(
            f"y holds the labels {', '.join(map(repr, classes[:5].tolist()))}{', …' if len(classes) > 5 else ''}, "
            "but labels of a LIBSVM model are 32-bit integers; recode them."
        )
    return labels, []


def different_names(columns: Iterable[Any]) -> list[str]:
    """Return the names of features as texts; raise an error if a name is missing or not unique.

    Parameters
    ----------
    columns : iterable of str

    Returns
    -------
    list of str

    Raises
    ------
    ValueError
        If a name is empty or occurs twice.

    Examples
    --------
    >>> different_names(["width", "height"])
    ['width', 'height']
    """
    names = [str(name) for name in columns]
    known: set[str] = set()
    for place, name in enumerate(names):
        if not name:
            raise ValueError(
                f"columns: feature {place + 1} has no name by which predictions can find it; name this "
                "column, or delete it if it only numbers the rows."
            )
        if name in known:
            raise ValueError(
                f"columns contains {name!r} twice, so predictions cannot distinguish the two features; rename one."
            )
        known.add(name)
    return names


# -- writing -------------------------------------------------------------------------------------------------


def _shown(number: Any) -> str:
    """Return the text of a number with 17 digits, from which every float64 can be read back exactly."""
    return f"{number:.17g}"


def _header(estimator: Any, labels: list[int] | None, orientation: float) -> dict[str, str]:
    """Return the lines of the file before the line SV; `labels` is None unless the estimator is a classifier."""
    name = {kernel: name for name, kernel in KERNELS.items()}.get(type(estimator.kernel_))
    if name is None:
        raise ValueError(
            f"kernel={estimator.kernel_!r} cannot be stored in a LIBSVM model file; train with linear, poly, rbf, "
            "sigmoid or precomputed, or pickle the estimator."
        )
    function = "one_class" if hasattr(estimator, "offset_") else "epsilon_svr"
    header = {
        "svm_type": function if labels is None else "c_svc",
        "kernel_type": name,
        **{key: _shown(value) for key, value in _parameters(estimator.kernel_).items()},
        # LIBSVM writes 2 for a single decision function
        "nr_class": str(2 if labels is None else len(labels)),
        "total_sv": str(len(estimator.support_)),
        "rho": " ".join(_shown(-orientation * b) for b in estimator.intercept_),
    }
    if labels is not None:
        header |= {
            "label": " ".join(map(str, labels)),
            "nr_sv": " ".join(map(str, estimator.n_support_.tolist())),
        }
    return header


def _parameters(kernel: Any) -> dict[str, Any]:
    """Return the kernel's parameters as LIBSVM names them; γ is 1 if each feature has its own γ."""
    return asdict(kernel) | ({"gamma": 1.0} if _has_gammas(kernel) else {})


def _has_gammas(kernel: Any) -> bool:
    return isinstance(kernel, RBF) and isinstance(kernel.gamma, tuple)


def _scaling(kernel: Any, scaling: Scaling | None) -> Scaling | None:
    """Return the scaling that LIBSVM's kernel needs: the scaling before training, then the factor √γⱼ of feature j."""
    if not _has_gammas(kernel):
        return scaling
    # multiply a feature with γ = 0 by √SMALLEST instead of 0, because its scale 1/√γ must be finite
    scale = 1.0 / np.sqrt(np.maximum(kernel.gamma, SMALLEST))
    mean = np.zeros(len(scale))
    if scaling is not None:
        columns = slice(None) if scaling.columns is None else scaling.columns
        mean[columns] = scaling.mean
        scale[columns] *= scaling.scale
    return Scaling(mean, scale)


def _entries(estimator: Any) -> Iterator[list[tuple[int, float]]]:
    """Yield (index from 1, value) of each support vector's nonzero features; for `Precomputed`, (0, example number)."""
    if isinstance(estimator.kernel_, Precomputed):
        yield from ([(0, float(serial) + 1)] for serial in estimator.support_)
        return
    from scipy.sparse import csr_matrix

    vectors = csr_matrix(estimator.kernel_.scaled(estimator.support_vectors_))
    vectors.sort_indices()
    for row in range(vectors.shape[0]):
        vector = vectors[row]
        entries = list(zip((vector.indices + 1).tolist(), vector.data.tolist(), strict=True))
        if row == 0 and (not entries or entries[-1][0] < vectors.shape[1]):
            entries.append((vectors.shape[1], 0.0))
        yield entries
