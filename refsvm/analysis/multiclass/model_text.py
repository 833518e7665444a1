"""Reads the lines of a LIBSVM model file and checks every word."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from dataclasses import fields
from hashlib import sha256
from typing import Any, Final

import numpy as np

from refsvm.analysis.multiclass.model import FunctionModel, Model, Scaling
from refsvm.core._checks import version
from refsvm.core.kernels import RBF, Linear, Polynomial, Precomputed, Sigmoid

KERNELS: Final[dict[str, Any]] = {
    "linear": Linear, "polynomial": Polynomial, "rbf": RBF, "sigmoid": Sigmoid, "precomputed": Precomputed,
}  # fmt: skip
"""LIBSVM's kernels by their names in its files; their parameters have the same names in this package."""

NAMES: Final = "# names "
"""Start of the line with class names that are not numbers; LIBSVM ignores all lines after the support vectors."""

COLUMNS: Final = "# columns "
"""Start of the line with the names of the features, if they are known."""

SCALING: Final = "# scaling "
"""Start of the line with the means and scales of the features, if they were scaled; LIBSVM needs scaled data."""

VERSION: Final = "# refsvm "
"""Start of the line with the version of refsvm, which precedes the names and the scaling."""

TASKS: Final = {"epsilon_svr": "regression", "nu_svr": "regression", "one_class": "novelty"}
"""LIBSVM's names for models with one decision function, and the task of each."""


KEYWORDS: Final = (
    "svm_type", "kernel_type", "degree", "gamma", "coef0", "nr_class", "total_sv", "rho", "label", "probA", "probB",
    "prob_density_marks", "nr_sv",
)  # fmt: skip
"""All keywords of LIBSVM's header."""

_SEAL: Final = re.compile(rb"^SV([^\n]*)", re.MULTILINE)
_REAL: Final = re.compile(r"[-+.eE0-9]+").fullmatch
_WHOLE: Final = re.compile(r"[-+]?[0-9]+").fullmatch


def sealed(header: Iterable[str], body: Iterable[str]) -> bytes:
    """Return the bytes of a model file, whose line SV states how many other bytes the file has, and their digest.

    Parameters
    ----------
    header, body : iterable of str
        The lines before and after the line SV.
    """
    before, after = ("".join(f"{line}\n" for line in lines).encode() for lines in (header, body))
    return before + b"SV" + _seal(before + b"SV\n" + after) + b"\n" + after


def unsealed(content: bytes) -> str:
    """Return the text of a model file without its seal (the number of bytes and the digest after SV).

    Raises
    ------
    ValueError
        If the content does not match the seal, or the file has no seal and ends without a line end.
    """
    seal = _SEAL.search(content)
    if seal is None or not seal[1].strip():
        # a file of LIBSVM or of an earlier refsvm has no digest; only a missing line end shows that it was cut off
        text = content.decode("utf-8-sig")
        if seal is not None and not text.endswith("\n"):
            raise ValueError("the last line has no end, so the file may be cut off; copy it again")
        return text
    whole = content[: seal.start(1)] + content[seal.end(1) :]
    if seal[1] != _seal(whole):
        raise ValueError(
            "the digest after SV does not match the content: the file was cut off or changed, or its line ends were "
            "converted; copy it again, or, if you changed it on purpose, delete the text after SV"
        )
    return whole.decode()


def _seal(whole: bytes) -> bytes:
    return f" {len(whole)} bytes, SHA-256 {sha256(whole).hexdigest()}".encode()


def sign(k: int) -> float:
    """Return −1 for two classes, because LIBSVM's h is then refsvm's −h; return 1 otherwise."""
    return -1.0 if k == 2 else 1.0


def _header(lines: list[str]) -> tuple[dict[str, list[str]], list[str]]:
    """Return the lines of a file before the line SV, as a dict from keyword to words, and the lines after SV."""
    header: dict[str, list[str]] = {}
    for number, line in enumerate(lines):
        keyword, *words = line.split(" ")
        if keyword == "SV" and not any(words):
            return header, lines[number + 1 :]
        # stop after 100 lines without SV: the file is not a model, and need not be read to its end
        if not keyword or number > 100:
            break
        if keyword not in KEYWORDS or keyword in header:
            problem = "occurs twice" if keyword in header else "is not a keyword of LIBSVM"
            raise ValueError(f"the keyword {keyword:.40} {problem}")
        header[keyword] = [word for word in words if word]
    raise ValueError("there is no line 'SV'")


def _one(header: dict[str, list[str]], keyword: str) -> str:
    words = header.get(keyword, [])
    if len(words) != 1:
        raise ValueError(f"the keyword {keyword} must have exactly one value")
    return words[0]


def _finite(words: Iterable[str], keyword: str, size: int) -> np.ndarray:
    """Return the words after a keyword as an array; raise an error unless these are `size` finite numbers."""
    words = [*words]
    try:
        # refuse 1_0 and digits of other scripts, which `float` accepts: a file that contains them is damaged
        values = np.array([float(word) if _REAL(word) else float("") for word in words])
    except ValueError:
        raise ValueError(f"{keyword} contains words that are not numbers") from None
    if values.shape != (size,) or not np.isfinite(values).all():
        raise ValueError(f"{keyword} must contain {size} finite numbers")
    return values


def _whole(words: Iterable[str], keyword: str, size: int) -> np.ndarray:
    """Return the words after a keyword as an array; raise an error unless they are `size` 32-bit integers."""
    words = [*words]
    values = _finite(words, keyword, size)
    # refuse labels that LIBSVM would misread: larger integers overflow, and 1e3 or 1.0 would become 1
    for word, is_large in zip(words, np.abs(values) >= 2**31, strict=True):
        if is_large or not _WHOLE(word):
            raise ValueError(f"{keyword} contains {word:.40}, which is not a 32-bit integer")
    return values.astype(np.int64)


def model_of(lines: list[str]) -> Model | FunctionModel:
    """Return the model that the lines of a file describe, after checking its header and its support vectors."""
    header, body = _header(lines)
    svm_type, name = _one(header, "svm_type"), _one(header, "kernel_type")
    if svm_type not in ("c_svc", "nu_svc", *TASKS):
        raise ValueError(f"svm_type {svm_type} is unknown to LIBSVM")
    if name not in KERNELS:
        raise ValueError(f"kernel_type {name} is unknown to LIBSVM")
    # a missing parameter is an error, because this package's default may differ from the value used in training
    parameters = {
        field.name: float(_finite([_one(header, field.name)], field.name, 1)[0])
        for field in fields(KERNELS[name])
    }
    k, total = (int(_whole([_one(header, word)], word, 1)[0]) for word in ("nr_class", "total_sv"))
    # LIBSVM writes no support vectors if the data have one class or all targets lie inside the tube
    is_function = svm_type in TASKS
    if (is_function and (k != 2 or "label" in header)) or k < (2 if total else 1) or total < 0:
        raise ValueError(
            f"nr_class {k}, total_sv {total} and the labels contradict each other in a model of type {svm_type}"
        )
    counts = np.array([total]) if is_function else _whole(header.get("nr_sv", []), "nr_sv", k)
    lines, rest = body[:total], body[total:]
    if len(body) <= total or counts.sum() != total or (counts < 0).any() or any(map(_is_vector, rest)):
        added = "" if is_function else f" and nr_sv adds up to {counts.sum()}"
        raise ValueError(f"total_sv is {total}{added}, but the number of lines after SV is {len(body) - 1}")
    pairs = 1 if is_function else k * (k - 1) // 2
    rho = _finite(header.get("rho", []), "rho", pairs)
    for unused, size in (("probA", pairs), ("probB", pairs), ("prob_density_marks", 10)):
        if unused in header:
            _finite(header[unused], unused, size)
    _refuse_later(rest)
    coefficients, vectors = _support_vectors(lines, 2 if is_function else k, name == "precomputed")
    if not total and (names := _after(COLUMNS, rest)) and isinstance(names[0], list):
        vectors.resize(0, len(names[0]))  # without support vectors, column names show the number of features
    parts: dict[str, Any] = {"kernel": KERNELS[name](**parameters), "support_vectors": vectors}
    parts |= {"columns": _columns(rest, vectors), "scaling": _scaling(rest, vectors)}
    if is_function:
        return FunctionModel(dual_coef=coefficients, intercept=-rho, task=TASKS[svm_type], **parts)
    classes = _classes(_whole(header.get("label", []), "label", k), rest)
    orientation = sign(k)
    return Model(
        dual_coef=orientation * coefficients,
        intercept=-orientation * rho,
        classes=classes,
        n_support=counts,
        **parts,
    )


def _classes(labels: np.ndarray, rest: list[str]) -> np.ndarray:
    """Return the integers after `label`, or the class names that the file stores after the support vectors."""
    names = _names_after(rest, NAMES, len(labels), "classes")
    if names is not None:
        return np.array(names)
    # refuse equal labels, because predictions could not distinguish their two classes
    if len(set(labels.tolist())) < len(labels):
        raise ValueError("label contains a label twice")
    return labels


def _columns(rest: list[str], vectors: Any) -> tuple[str, ...] | None:
    """Return the feature names that the file stores after the support vectors, or None."""
    names = _names_after(rest, COLUMNS, vectors.shape[1], "features")
    return None if names is None else tuple(names)


def _scaling(rest: list[str], vectors: Any) -> Scaling | None:
    """Return the feature scaling that the file stores after the support vectors, or None."""
    if not (lines := _after(SCALING, rest)):
        return None
    lists = lines[0]
    if not (
        isinstance(lists, list) and 2 <= len(lists) <= 3 and all(isinstance(part, list) for part in lists)
    ):
        raise ValueError("the scaling line must contain two or three lists")
    *some, mean, scale = ([str(number) for number in part] for part in lists)
    size = len(some[0]) if some else vectors.shape[1] or len(mean)
    columns = _whole(some[0], "scaling", size) - 1 if some else None
    if columns is not None and (np.diff(columns, prepend=-1) <= 0).any():
        raise ValueError("the scaling line must list the scaled features in ascending order, from 1")
    scales = _finite(scale, "scaling", size)
    if (scales <= 0.0).any():
        raise ValueError("the scales of the features must be positive")
    return Scaling(_finite(mean, "scaling", size), scales, columns)


def _is_vector(line: str) -> bool:
    return bool(line.strip()) and not line.startswith("#")


def _refuse_later(rest: list[str]) -> None:
    """Raise an error for a line of a later version, because a model read without this line might predict wrongly."""
    for line in rest:
        if line.startswith("# ") and not line.startswith((NAMES, COLUMNS, SCALING, VERSION)):
            writer = next((each.removeprefix(VERSION) for each in rest if each.startswith(VERSION)), "?")
            raise ValueError(
                f"refsvm {writer} wrote the line {line[:20]!r}, which refsvm {version()} cannot read"
            )


def _after(mark: str, rest: list[str]) -> list[Any]:
    """From each line that begins with `mark`, return the JSON value that follows `mark`."""
    return [json.loads(line.removeprefix(mark)) for line in rest if line.startswith(mark)]


def _names_after(rest: list[str], mark: str, size: int, things: str) -> list[str] | None:
    """Return the names in the line that begins with `mark`, or None if no line does."""
    if not (lines := _after(mark, rest)):
        return None
    names = lines[0]
    if not isinstance(names, list) or len(names) != size:
        raise ValueError(f"the line with the names of {things} must contain {size} names")
    if len({name for name in names if isinstance(name, str)}) < len(names):
        raise ValueError(f"the line with the names of {things} must contain different names")
    return names


def _support_vectors(lines: list[str], k: int, precomputed: bool) -> tuple[np.ndarray, Any]:
    """Return coefficients of shape (k − 1, m), and support vectors of shape (m, d) as CSR."""
    from scipy.sparse import csr_matrix

    lowest = 0 if precomputed else 1
    coefficients: list[np.ndarray] = []  # use lists, because a damaged header might state a huge size
    rows: list[int] = []
    words: list[list[str]] = []
    for row, line in enumerate(lines):
        cells = [cell for cell in line.replace("\t", " ").split(" ") if cell]
        coefficients.append(_finite(cells[: k - 1], f"support vector {row + 1}", k - 1))
        pairs = [cell.split(":") for cell in cells[k - 1 :]]
        if any(len(pair) != 2 for pair in pairs):
            raise ValueError(f"support vector {row + 1} is not a list of index:value")
        rows += [row] * len(pairs)
        words += pairs
    columns = _whole((index for index, _ in words), "SV", len(words)) - lowest
    values = _finite((value for _, value in words), "SV", len(words))
    if (columns < 0).any() or (precomputed and (columns.any() or len(columns) < len(lines))):
        needed = "the index 0 and no other index" if precomputed else "indices of 1 or larger"
        raise ValueError(f"each support vector needs {needed}")
    for r in np.flatnonzero(precomputed & ((values < 1) | (values != np.floor(values)) | (values >= 2**31))):
        found = f"support vector {rows[r] + 1} is 0:{words[r][1]:.20}"
        raise ValueError(
            f"{found}, but the value after 0: must be the number of a training example, from 1 on"
        )
    if ((np.diff(rows) == 0) & (np.diff(columns) <= 0)).any():
        raise ValueError("the indices of a support vector must ascend")
    shape = (len(lines), int(columns.max(initial=-1)) + 1)
    return np.reshape(coefficients, (len(lines), k - 1)).T.copy(), csr_matrix(
        (values, (np.array(rows), columns)), shape=shape
    )
