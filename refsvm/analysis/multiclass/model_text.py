"""The lines of a LIBSVM model file, checked word by word."""

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
"""The kernels that LIBSVM has, by their names in its files; its parameters have the names of ours."""

NAMES: Final = "# names "
"""Begins the line, behind the support vectors and unread by LIBSVM, of classes that are no numbers."""

COLUMNS: Final = "# columns "
"""Begins another such line: the names of the features, where they are known."""

SCALING: Final = "# scaling "
"""Begins another such line: means and scales of the features, where they were scaled. LIBSVM predicts scaled data."""

VERSION: Final = "# refsvm "
"""Begins the first of such lines: the version that wrote them."""

TASKS: Final = {"epsilon_svr": "regression", "nu_svr": "regression", "one_class": "novelty"}
"""LIBSVM's names of the models with one decision function, and what they are for."""


KEYWORDS: Final = (
    "svm_type", "kernel_type", "degree", "gamma", "coef0", "nr_class", "total_sv", "rho", "label", "probA", "probB",
    "prob_density_marks", "nr_sv",
)  # fmt: skip
"""All that LIBSVM has in a header."""

_SEAL: Final = re.compile(rb"^SV([^\n]*)", re.MULTILINE)
_REAL: Final = re.compile(r"[-+.eE0-9]+").fullmatch
_WHOLE: Final = re.compile(r"[-+]?[0-9]+").fullmatch


def sealed(header: Iterable[str], body: Iterable[str]) -> bytes:
    """Return the bytes of a model file: the line SV has the count and the digest of the bytes that there are without.

    Parameters
    ----------
    header, body : iterable of str
        The lines before and after the line SV.
    """
    before, after = ("".join(f"{line}\n" for line in lines).encode() for lines in (header, body))
    return before + b"SV" + _seal(before + b"SV\n" + after) + b"\n" + after


def unsealed(content: bytes) -> str:
    """Return the text of a model file without the seal, if there is one.

    Raises
    ------
    ValueError
        If the content does not fit to its seal, or has none and seems to be cut off.
    """
    found = _SEAL.search(content)
    if found is None or not found[1].strip():
        # of earlier versions and of LIBSVM: their lines have ends, and nothing else tells that bytes are missing
        text = content.decode("utf-8-sig")
        if found is not None and not text.endswith("\n"):
            raise ValueError("the last line has no end, so the file may be cut off; copy it again")
        return text
    whole = content[: found.start(1)] + content[found.end(1) :]
    if found[1] != _seal(whole):
        raise ValueError(
            "the digest behind SV belongs to other contents, so the file was cut off or changed, or its line ends were "
            "converted; copy it again, or, if you changed it on purpose, delete what stands behind SV"
        )
    return whole.decode()


def _seal(whole: bytes) -> bytes:
    return f" {len(whole)} bytes, SHA-256 {sha256(whole).hexdigest()}".encode()


def sign(k: int) -> float:
    """Two classes have opposite signs in the file: LIBSVM's h is positive for the first class, ours for the second."""
    return -1.0 if k == 2 else 1.0


def _header(lines: list[str]) -> tuple[dict[str, list[str]], list[str]]:
    """Split at the line SV; the header as keyword → words."""
    header: dict[str, list[str]] = {}
    for number, line in enumerate(lines):
        keyword, *words = line.split(" ")
        if keyword == "SV" and not any(words):
            return header, lines[number + 1 :]
        # a file that is no model need not be read to its end to find that out
        if not keyword or number > 100:
            break
        if keyword not in KEYWORDS or keyword in header:
            said = "stands twice" if keyword in header else "is none of LIBSVM's"
            raise ValueError(f"the keyword {keyword:.40} {said}")
        header[keyword] = [word for word in words if word]
    raise ValueError("there is no line 'SV'")


def _one(header: dict[str, list[str]], keyword: str) -> str:
    words = header.get(keyword, [])
    if len(words) != 1:
        raise ValueError(f"the keyword {keyword} with one value is missing")
    return words[0]


def _finite(words: Iterable[str], keyword: str, size: int) -> np.ndarray:
    """Return `size` finite numbers."""
    words = [*words]
    try:
        # Python reads 1_0 and digits of all scripts as numbers; the file means something else, or is damaged
        values = np.array([float(word) if _REAL(word) else float("") for word in words])
    except ValueError:
        raise ValueError(f"{keyword} holds something else than numbers") from None
    if values.shape != (size,) or not np.isfinite(values).all():
        raise ValueError(f"{keyword} should hold {size} finite numbers")
    return values


def _whole(words: Iterable[str], keyword: str, size: int) -> np.ndarray:
    """Return `size` whole numbers of 32 bits, as LIBSVM's are."""
    words = [*words]
    values = _finite(words, keyword, size)
    # LIBSVM reads them into an int: a larger one would become another label there, and 1e3 or 1.0 would be 1
    for word, is_large in zip(words, np.abs(values) >= 2**31, strict=True):
        if is_large or not _WHOLE(word):
            raise ValueError(f"{keyword} holds {word:.40}, which is not a whole number of 32 bits")
    return values.astype(np.int64)


def model_of(lines: list[str]) -> Model | FunctionModel:
    """Check the header, then read the support vectors."""
    header, body = _header(lines)
    svm_type, name = _one(header, "svm_type"), _one(header, "kernel_type")
    if svm_type not in ("c_svc", "nu_svc", *TASKS):
        raise ValueError(f"svm_type {svm_type} is unknown")
    if name not in KERNELS:
        raise ValueError(f"kernel_type {name} is unknown")
    # a kernel with other parameters than the file has would predict something else
    parameters = {
        field.name: float(_finite([_one(header, field.name)], field.name, 1)[0])
        for field in fields(KERNELS[name])
    }
    k, total = (int(_whole([_one(header, word)], word, 1)[0]) for word in ("nr_class", "total_sv"))
    # LIBSVM writes data of one class, and targets within the tube, without support vectors
    is_function = svm_type in TASKS
    if (is_function and (k != 2 or "label" in header)) or k < (2 if total else 1) or total < 0:
        raise ValueError(
            f"nr_class {k}, total_sv {total} and the labels do not make a model of type {svm_type}"
        )
    counts = np.array([total]) if is_function else _whole(header.get("nr_sv", []), "nr_sv", k)
    lines, rest = body[:total], body[total:]
    if len(body) <= total or counts.sum() != total or (counts < 0).any() or any(map(_is_vector, rest)):
        added = "" if is_function else f", nr_sv adds up to {counts.sum()}"
        raise ValueError(f"total_sv is {total}{added} and {len(body) - 1} lines follow SV")
    pairs = 1 if is_function else k * (k - 1) // 2
    rho = _finite(header.get("rho", []), "rho", pairs)
    for unused, size in (("probA", pairs), ("probB", pairs), ("prob_density_marks", 10)):
        if unused in header:
            _finite(header[unused], unused, size)
    _refuse_later(rest)
    coefficients, vectors = _support_vectors(lines, 2 if is_function else k, name == "precomputed")
    if not total and (names := _after(COLUMNS, rest)) and isinstance(names[0], list):
        vectors.resize(0, len(names[0]))  # nothing else tells the number of features
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
    """Labels as whole numbers, or the names kept behind the support vectors."""
    names = _kept(rest, NAMES, len(labels), "classes")
    if names is not None:
        return np.array(names)
    # two classes of one label could not be told apart in what is predicted
    if len(set(labels.tolist())) < len(labels):
        raise ValueError("label holds the same label twice")
    return labels


def _columns(rest: list[str], vectors: Any) -> tuple[str, ...] | None:
    """Names of the features, if they are kept behind the support vectors."""
    names = _kept(rest, COLUMNS, vectors.shape[1], "features")
    return None if names is None else tuple(names)


def _scaling(rest: list[str], vectors: Any) -> Scaling | None:
    """Shift and scale of the features, if they are kept behind the support vectors; before them the numbers of some."""
    if not (found := _after(SCALING, rest)):
        return None
    kept = found[0]
    if not (isinstance(kept, list) and 2 <= len(kept) <= 3 and all(isinstance(part, list) for part in kept)):
        raise ValueError("the line of the scaling should hold two lists or three")
    *some, mean, scale = ([str(number) for number in part] for part in kept)
    size = len(some[0]) if some else vectors.shape[1] or len(mean)
    columns = _whole(some[0], "scaling", size) - 1 if some else None
    if columns is not None and (np.diff(columns, prepend=-1) <= 0).any():
        raise ValueError("the numbers of the scaled features should rise from 1")
    scales = _finite(scale, "scaling", size)
    if (scales <= 0.0).any():
        raise ValueError("the scales of the features should be positive")
    return Scaling(_finite(mean, "scaling", size), scales, columns)


def _is_vector(line: str) -> bool:
    return bool(line.strip()) and not line.startswith("#")


def _refuse_later(rest: list[str]) -> None:
    """Refuse a line that another version has added: without it the model might predict something else."""
    for line in rest:
        if line.startswith("# ") and not line.startswith((NAMES, COLUMNS, SCALING, VERSION)):
            writer = next((each.removeprefix(VERSION) for each in rest if each.startswith(VERSION)), "?")
            raise ValueError(
                f"refsvm {writer} wrote the line {line[:20]!r}, which refsvm {version()} cannot read"
            )


def _after(mark: str, rest: list[str]) -> list[Any]:
    """Return what the lines that begin with a mark hold."""
    return [json.loads(line.removeprefix(mark)) for line in rest if line.startswith(mark)]


def _kept(rest: list[str], mark: str, size: int, things: str) -> list[str] | None:
    """Return the names in the line that begins with a mark, if there is one."""
    if not (found := _after(mark, rest)):
        return None
    names = found[0]
    if not isinstance(names, list) or len(names) != size:
        raise ValueError(f"the last line should name {size} {things}")
    if len({name for name in names if isinstance(name, str)}) < len(names):
        raise ValueError(f"the last line should name the {things} by different texts")
    return names


def _support_vectors(lines: list[str], k: int, precomputed: bool) -> tuple[np.ndarray, Any]:
    """Return coefficients of shape (k − 1, m) and support vectors of shape (m, d), CSR."""
    from scipy.sparse import csr_matrix

    lowest = 0 if precomputed else 1
    coefficients: list[np.ndarray] = []  # line by line: a file cannot claim more than it holds
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
        raise ValueError(f"the support vectors need indices from {lowest}")
    if precomputed and ((values < 1) | (values != np.floor(values)) | (values >= 2**31)).any():
        raise ValueError("the support vectors of a precomputed kernel need whole numbers of 32 bits from 1")
    if ((np.diff(rows) == 0) & (np.diff(columns) <= 0)).any():
        raise ValueError("the indices of a support vector should rise")
    shape = (len(lines), int(columns.max(initial=-1)) + 1)
    return np.reshape(coefficients, (len(lines), k - 1)).T.copy(), csr_matrix(
        (values, (np.array(rows), columns)), shape=shape
    )
