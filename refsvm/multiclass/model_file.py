"""The LIBSVM model file: a trained classifier as text, read by every LIBSVM tool and unpickled by none.

    svm_type c_svc            header: one keyword a line
    kernel_type rbf
    gamma 0.5
    nr_class 2
    total_sv 2
    rho 0                     one for each pair of classes p < q
    label -1 1
    nr_sv 1 1                 support vectors of each class
    SV
    1 1:0 2:1                 k − 1 coefficients, then the support vector as index:value
    -1 1:2 2:1

For classes p < q the decision value is h(x) = Σ c k(xᵢ, x) − rho over the support vectors of p and q, where c is
coefficient q − 1 for those of p and coefficient p for those of q; h(x) > 0 is a vote for p.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any, Final

import numpy as np

from refsvm.kernels import RBF, Linear, Polynomial, Precomputed, Sigmoid
from refsvm.multiclass.model import Model

__all__ = ["read_model", "whole_numbers", "write_model"]

_KERNELS: Final[dict[str, Any]] = {
    "linear": Linear,
    "polynomial": Polynomial,
    "rbf": RBF,
    "sigmoid": Sigmoid,
    "precomputed": Precomputed,
}
"""LIBSVM's names; its parameters have the names of ours."""

_NAMES: Final = "# names "
"""Begins the line, behind the support vectors and unread by LIBSVM, of classes that are no numbers."""


def write_model(estimator: Any, path: str | os.PathLike[str]) -> None:
    """Write a fitted SVC as a LIBSVM model file.

    Parameters
    ----------
    estimator : SVC
        Fitted, with one of this package's kernels; see Notes for its labels.
    path : str or path
        The file to write; an existing one is replaced.

    Raises
    ------
    ValueError
        If the kernel is another callable, or the labels are numbers but not whole ones of 32 bits.
    OSError
        If the file cannot be written.

    Notes
    -----
    LIBSVM's labels are whole numbers. Other classes are numbered from 0, and a last line, which LIBSVM does
    not read, keeps their names. The last feature of the first support vector is written even if it is zero,
    so that the file tells how many features there were.

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
    SV
    0.5 1:0
    -0.5 1:2
    <BLANKLINE>
    """
    kernel, k = estimator.kernel_, len(estimator.classes_)
    name = _name_of(kernel)
    labels, names = whole_numbers(estimator.classes_)
    sign = _sign(k)
    header = {
        "svm_type": "c_svc",
        "kernel_type": name,
        **{key: _shown(value) for key, value in asdict(kernel).items()},
        "nr_class": str(k),
        "total_sv": str(len(estimator.support_)),
        "rho": " ".join(_shown(-sign * b) for b in estimator.intercept_),
        "label": " ".join(map(str, labels)),
        "nr_sv": " ".join(map(str, estimator.n_support_.tolist())),
    }
    with Path(path).open("w", encoding="utf-8") as stream:
        stream.writelines(f"{name} {value}\n" for name, value in header.items())
        stream.write("SV\n")
        stream.writelines(
            " ".join([*map(_shown, column), *(f"{i}:{_shown(value)}" for i, value in entries)]) + "\n"
            for column, entries in zip(sign * estimator.dual_coef_.T, _entries(estimator), strict=True)
        )
        if names:
            stream.write(_NAMES + json.dumps(names) + "\n")


def read_model(path: str | os.PathLike[str]) -> Model:
    """Read a LIBSVM model file of a classifier (c_svc or nu_svc). Nothing is unpickled.

    Parameters
    ----------
    path : str or path
        A file written by `write_model` or another LIBSVM tool.

    Returns
    -------
    Model

    Raises
    ------
    FileNotFoundError
        If path is not a file.
    ValueError
        If the file is not a model of a classifier, or is cut off or inconsistent; if labels or counts are not
        whole numbers, or a label stands twice.

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
        lines = path.read_text(encoding="utf-8-sig").splitlines()  # a byte order mark is passed over
        header, body = _header(lines)
        return _model(header, body)
    except (ValueError, OverflowError, RecursionError) as error:
        said = {UnicodeDecodeError: "it is not text", RecursionError: "the names of the classes are nested"}
        reason = said.get(type(error), str(error).rstrip("."))
        raise ValueError(
            f"path={str(path)!r} is not a LIBSVM model file of a classifier ({reason}); "
            "give a model written by 'refsvm fit' or LIBSVM's svm-train."
        ) from None


def whole_numbers(classes: np.ndarray) -> tuple[list[int], list[str]]:
    """Return the classes as a model file has them.

    Parameters
    ----------
    classes : ndarray of shape (k,)
        Different labels.

    Returns
    -------
    labels : list of int
        The labels, or 0 … k − 1 if they are not numbers.
    names : list of str
        The labels if they are not numbers, otherwise nothing.

    Raises
    ------
    ValueError
        If they are numbers, but not whole ones of 32 bits.

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
            f"y holds the labels {', '.join(map(repr, classes[:5].tolist()))}{', …' if len(classes) > 5 else ''}, but "
            "those of a LIBSVM model are whole numbers of 32 bits; recode them."
        )
    return labels, []


# -- writing -------------------------------------------------------------------------------------------------


def _shown(number: Any) -> str:
    """Seventeen digits, which tell every float64 from its neighbours."""
    return f"{number:.17g}"


def _sign(k: int) -> float:
    """Two classes have opposite signs in the file: LIBSVM's h is positive for the first class, ours for the second."""
    return -1.0 if k == 2 else 1.0


def _name_of(kernel: Any) -> str:
    for name, known in _KERNELS.items():
        if type(kernel) is known:
            return name
    raise ValueError(
        f"kernel={kernel!r} has no name in a LIBSVM model file; train with one of linear, poly, rbf, sigmoid or "
        "precomputed."
    )


def _entries(estimator: Any) -> Iterator[list[tuple[int, float]]]:
    """Each support vector as (index from 1, value), zeros left out; if precomputed, (0, number)."""
    if isinstance(estimator.kernel_, Precomputed):
        yield from ([(0, float(serial) + 1)] for serial in estimator.support_)
        return
    from scipy.sparse import csr_matrix

    vectors = csr_matrix(estimator.support_vectors_)
    vectors.sort_indices()
    for row in range(vectors.shape[0]):
        vector = vectors[row]
        entries = list(zip((vector.indices + 1).tolist(), vector.data.tolist(), strict=True))
        if row == 0 and (not entries or entries[-1][0] < vectors.shape[1]):
            entries.append((vectors.shape[1], 0.0))
        yield entries


# -- reading -------------------------------------------------------------------------------------------------


def _header(lines: list[str]) -> tuple[dict[str, list[str]], list[str]]:
    """Split at the line SV; the header as keyword → words."""
    header: dict[str, list[str]] = {}
    for number, line in enumerate(lines):
        words = line.split()
        if words == ["SV"]:
            return header, lines[number + 1 :]
        if not words or number > 100:
            break
        header[words[0]] = words[1:]
    raise ValueError("there is no line 'SV'")


def _one(header: dict[str, list[str]], keyword: str) -> str:
    words = header.get(keyword, [])
    if len(words) != 1:
        raise ValueError(f"the keyword {keyword} with one value is missing")
    return words[0]


def _finite(words: Iterable[str], keyword: str, size: int) -> np.ndarray:
    """Return `size` finite numbers."""
    try:
        values = np.array([float(word) for word in words])
    except ValueError:
        raise ValueError(f"{keyword} holds something else than numbers") from None
    if values.shape != (size,) or not np.isfinite(values).all():
        raise ValueError(f"{keyword} should hold {size} finite numbers")
    return values


def _whole(words: Iterable[str], keyword: str, size: int) -> np.ndarray:
    """Return `size` whole numbers of 32 bits, as LIBSVM's are."""
    values = _finite(words, keyword, size)
    wrong = (values != np.floor(values)) | (np.abs(values) >= 2**31)
    if wrong.any():
        raise ValueError(f"{keyword} holds {values[wrong][0]:g}, which is not a whole number of 32 bits")
    return values.astype(np.int64)


def _model(header: dict[str, list[str]], body: list[str]) -> Model:
    """Check the header, then read the support vectors."""
    svm_type, name = _one(header, "svm_type"), _one(header, "kernel_type")
    if svm_type not in ("c_svc", "nu_svc"):
        raise ValueError(f"svm_type {svm_type} is not a classifier")
    if name not in _KERNELS:
        raise ValueError(f"kernel_type {name} is unknown")
    parameters = {field.name: float(_one(header, field.name)) for field in fields(_KERNELS[name])}
    k, total = (int(_whole([_one(header, word)], word, 1)[0]) for word in ("nr_class", "total_sv"))
    if k < 2 or total < 1:
        raise ValueError(f"nr_class {k} and total_sv {total} do not make a classifier")
    n_support = _whole(header.get("nr_sv", []), "nr_sv", k)
    if len(body) < total or n_support.sum() != total or (n_support < 0).any():
        raise ValueError(
            f"total_sv is {total}, nr_sv adds up to {n_support.sum()} and {len(body)} lines follow SV"
        )
    intercept = -_sign(k) * _finite(header.get("rho", []), "rho", k * (k - 1) // 2)
    classes = _classes(_whole(header.get("label", []), "label", k), body[total:])
    coefficients, vectors = _support_vectors(body[:total], k, name == "precomputed")
    return Model(
        kernel=_KERNELS[name](**parameters),
        support_vectors=vectors,
        dual_coef=_sign(k) * coefficients,
        intercept=intercept,
        classes=classes,
        n_support=n_support,
    )


def _classes(labels: np.ndarray, rest: list[str]) -> np.ndarray:
    """Labels as whole numbers, or the names kept behind the support vectors."""
    for line in rest:
        if line.startswith(_NAMES):
            names = json.loads(line.removeprefix(_NAMES))
            if not isinstance(names, list) or len(names) != len(labels):
                raise ValueError(f"the last line should name {len(labels)} classes")
            if len({name for name in names if isinstance(name, str)}) < len(names):
                raise ValueError("the last line should name the classes by different texts")
            return np.array(names)
    if len(set(labels.tolist())) < len(labels):
        raise ValueError("label holds the same label twice")
    return labels


def _support_vectors(lines: list[str], k: int, precomputed: bool) -> tuple[np.ndarray, Any]:
    """Return coefficients of shape (k − 1, m) and support vectors of shape (m, d), CSR."""
    from scipy.sparse import csr_matrix

    lowest = 0 if precomputed else 1
    coefficients: list[np.ndarray] = []  # line by line: a file cannot claim more than it holds
    rows: list[int] = []
    words: list[list[str]] = []
    for row, line in enumerate(lines):
        cells = line.split()
        coefficients.append(_finite(cells[: k - 1], f"support vector {row + 1}", k - 1))
        pairs = [cell.split(":") for cell in cells[k - 1 :]]
        if any(len(pair) != 2 for pair in pairs):
            raise ValueError(f"support vector {row + 1} is not a list of index:value")
        rows += [row] * len(pairs)
        words += pairs
    columns = _whole((index for index, _ in words), "SV", len(words)) - lowest
    values = _finite((value for _, value in words), "SV", len(words))
    if len(columns) == 0 or columns.min() < 0 or (precomputed and columns.any()):
        raise ValueError(f"the support vectors need indices from {lowest}")
    if precomputed and (values.min() < 1 or (values != np.floor(values)).any()):
        raise ValueError("the support vectors of a precomputed kernel need whole numbers from 1")
    if ((np.diff(rows) == 0) & (np.diff(columns) <= 0)).any():
        raise ValueError("the indices of a support vector should rise")
    shape = (len(lines), int(columns.max()) + 1)
    return np.array(coefficients).T.copy(), csr_matrix((values, (np.array(rows), columns)), shape=shape)
