"""Writes paths to .npz files, and reads them."""

from __future__ import annotations

import json
import os
import zipfile
from dataclasses import asdict
from pathlib import Path
from typing import IO, Any, Final

import numpy as np

from refsvm.analysis.paths.merging import merged_problem, source_of
from refsvm.analysis.paths.parametric import ParametricPath
from refsvm.analysis.paths.roc_curve import CostPath
from refsvm.analysis.paths.several_classes import OneVsOnePath
from refsvm.core._checks import examples, is_sparse, positions, real, version
from refsvm.core.kernels.gram import Gram
from refsvm.core.kernels.matrix import View
from refsvm.core.paths.duplicates import Merged
from refsvm.core.paths.path import RegularizationPath
from refsvm.core.paths.recorder import EVENT, PathRecord
from refsvm.core.paths.tracked import TrackedPath
from refsvm.core.problem import DualProblem
from refsvm.core.result import Status
from refsvm.core.walk.line import ProblemLine, solved_gram
from refsvm.services.files import member, written_whole
from refsvm.services.names import KERNELS
from refsvm.services.printable import printable

FORMAT: Final = "refsvm path 2"

ARRAYS: Final = {
    "X", "data", "indices", "indptr", "shape", "variables", "v", "bound", "lower", "upper",
    *(f"record_{name}" for name in PathRecord._fields), *(f"merged_{name}" for name in Merged._fields),
}  # fmt: skip
"""Optional entries of a file besides its head: X or the parts of sparse examples; one box, or a box for each end."""

KINDS: Final = {
    "t": "f", "intercept": "f", "elbow": "i", "kind": "U", "start": "i", "changed": "i", "value": "f",
    "first": "i", "group": "i", "weight": "f",
}  # fmt: skip
"""The arrays of a record and of `Merged`, with the kind of their dtype."""


CLASSES: Final = {kind.__name__: kind for kind in (RegularizationPath, ParametricPath, CostPath)}

NUMBERS: Final = ("seconds", "start_seconds", "nullity", "drift", "tracker", "counts")
"""Fields of a path that are stored unchanged."""


def save_path(path: TrackedPath, file: str | os.PathLike[str]) -> None:
    """Write a path, with its examples and kernel, as an .npz file.

    Parameters
    ----------
    path : RegularizationPath or ParametricPath
    file : path-like
        The file to write.

    Raises
    ------
    ValueError
        If the kernel is a callable without a name, or the path has several classes (save the path of each pair).

    Examples
    --------
    >>> import numpy as np, tempfile, os
    >>> from refsvm import RBF, regularization_path
    >>> from refsvm.analysis.paths import load_path, save_path
    >>> X, y = np.array([[0.0], [1.0], [2.0], [4.0]]), np.array([-1, 1, -1, 1])
    >>> path = regularization_path(X, y, kernel=RBF(0.5), C_min=0.1, C_max=10.0)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = os.path.join(folder, "path.npz")
    ...     save_path(path, file)
    ...     again = load_path(file)
    >>> np.array_equal(again.alpha(2.0), path.alpha(2.0))
    True
    """
    if isinstance(path, OneVsOnePath):
        raise ValueError(
            f"path={path!r} contains a path for each pair; save each of its paths in its own file."
        )
    matrix = path.start.gram if isinstance(path, ParametricPath) else path.along.start.gram
    # store each example once, even if an example has several variables
    gram, indices = source_of(matrix)
    kernel = getattr(gram, "kernel", None)
    names = [name for name, kind in KERNELS.items() if type(kernel) is kind]
    if not names:
        named = (
            f"gram={type(getattr(gram, 'given', gram)).__name__}" if kernel is None else f"kernel={kernel!r}"
        )
        raise ValueError(
            f"{named} cannot be stored by name; track the path with one of {', '.join(KERNELS)}."
        )
    head = {
        "format": FORMAT, "refsvm": version(), "class": type(path).__name__, "kernel": names[0],
        "parameters": asdict(gram.kernel), "columns": gram.columns,
        "status": path.status.name, "classes": path.classes.tolist(), **{name: getattr(path, name) for name in NUMBERS},
    }  # fmt: skip
    X = gram.X
    arrays = {"X": X}
    if is_sparse(X):
        arrays = {"data": X.data, "indices": X.indices, "indptr": X.indptr, "shape": np.array(X.shape)}
    arrays |= {f"record_{name}": values for name, values in path.record._asdict().items()}
    arrays |= {f"merged_{name}": values for name, values in path.merged._asdict().items()}
    if gram is not matrix:
        arrays["variables"] = indices
    if isinstance(path, ParametricPath):
        head |= {"t": path.line.t, "name": path.line.name, "z": (path.start.z, path.end.z)}
        for name in ("v", "lower", "upper"):
            arrays[name] = np.array([getattr(path.start, name), getattr(path.end, name)])
    else:
        start = path.along.start
        arrays |= {"v": start.v, "bound": start.lower + start.upper}
    head["arrays"] = [*arrays]
    with written_whole(file) as out:
        np.savez_compressed(out, head=np.array(json.dumps(head)), **arrays)


def load_path(file: str | os.PathLike[str]) -> TrackedPath:
    """Read a path from a file that `save_path` wrote: a `RegularizationPath`, a `ParametricPath` or a `CostPath`.

    Raises
    ------
    ValueError
        If the file does not contain a path; the message names the file and the error.
    """
    # open the file before the `try` block, so that a missing or unreadable file raises the OSError of Python
    with Path(file).open("rb") as stream:
        try:
            return _path(*_contents(stream))
        except Exception as error:  # noqa: BLE001 (zipfile, json and numpy raise errors of many kinds)
            reason = printable(" ".join(str(error).split())) or type(error).__name__
            raise ValueError(
                f"{os.fspath(file)!r} is not a path file of save_path ({reason}); give a file that save_path wrote."
            ) from None


def _contents(stream: IO[bytes]) -> tuple[Any, dict[str, np.ndarray]]:
    """Return the header and the arrays of a path from a file, without unpacking other arrays of the file."""
    with zipfile.ZipFile(stream) as archive:
        head = json.loads(str(member(archive, "head.npy")))
        held = {name.removesuffix(".npy") for name in archive.namelist()}
        # the list of arrays in the header shows whether an array is missing; refsvm 0.4.0 and before wrote no list
        names = ARRAYS & {*head.get("arrays", held)}
        return head, {name: member(archive, f"{name}.npy") for name in names}


def _path(head: Any, arrays: dict[str, np.ndarray]) -> TrackedPath:
    """Check the content of a file, and create the path from it."""
    # name the version in the error, because a file in another format may be intact
    if head["format"] != FORMAT:
        writer = head.get("refsvm", "0.2.0 or earlier")
        raise ValueError(
            f"refsvm {writer} wrote the file in the format {head['format']!r}; refsvm {version()} reads {FORMAT!r}"
        )
    _check_head(head)
    kernel = KERNELS[head["kernel"]](**head["parameters"])
    whole = Gram(kernel, _examples(arrays))
    whole.columns = tuple(map(str, head.get("columns", ())))
    gram = _part(whole, arrays.get("variables"))
    record = PathRecord(**{name: arrays[f"record_{name}"] for name in PathRecord._fields})
    merged = Merged(**{name: arrays[f"merged_{name}"] for name in Merged._fields})
    _check_types(record, merged)
    own = (_line if "t" in head else _problem)(head, arrays, gram, merged)
    path: TrackedPath = CLASSES[head["class"]](
        record=record, merged=merged, status=Status[head["status"]],
        classes=np.array(head.get("classes", [-1, 1])),
        **{name: head[name] for name in NUMBERS}, **own,
    )  # fmt: skip
    # check the record, because a damaged record would give wrong results without an error
    _check_record(record, path.along)
    return path


def _problem(head: Any, arrays: dict[str, np.ndarray], gram: Any, merged: Merged) -> dict[str, Any]:
    """Return the problem of a regularization path at C = 1."""
    bound = arrays["bound"]
    _check_merged(merged, len(bound))
    sums = np.bincount(merged.group, weights=merged.weight, minlength=len(bound))
    # allow rounding errors, because this code adds the weights of merged examples in another order than the path did
    _require(np.abs(sums - bound) <= 1e-9 * np.abs(bound), "the weights do not add up to the bounds")
    return {"problem": DualProblem(gram, arrays["v"], 0.0, np.minimum(bound, 0.0), np.maximum(bound, 0.0))}


def _line(head: Any, arrays: dict[str, np.ndarray], gram: Any, merged: Merged) -> dict[str, Any]:
    """Return the problems at both ends of a line, and the line after merging variables."""
    parts = (arrays[name] for name in ("v", "lower", "upper"))
    ends = [
        DualProblem(gram, v, z, lower, upper) for z, v, lower, upper in zip(head["z"], *parts, strict=True)
    ]
    _require(len(merged.group) == gram.n, "group has another length than the problem")
    _check_merged(merged, len(merged.first))
    one, other = (merged_problem(end, merged) for end in ends)
    solved, constant = solved_gram(one, other), not (one.v.any() or other.v.any())
    K = solved.block(np.arange(solved.n)) if constant else None
    line = ProblemLine(one, other, tuple(head["t"]), float(np.abs(solved.diagonal()).max()), K)
    line.name = str(head.get("name", "t"))  # refsvm 0.4.0 stored no name
    return {"start": ends[0], "end": ends[1], "line": line}


def _check_head(head: Any) -> None:
    """Check those values in a file's header that methods of a path show or use."""
    counts, classes = head["counts"], head.get("classes", [-1, 1])
    for name in ("seconds", "start_seconds", "nullity", "drift"):
        real(name, head[name])
    _require(isinstance(head["tracker"], str), "tracker is not a text")
    _require(
        isinstance(counts, dict) and all(type(n) is int for n in counts.values()), "counts are not numbers"
    )
    _require(
        len(classes) == 2 and all(type(each) in (int, float, str, bool) for each in classes),
        "classes are not two labels",
    )


def _require(holds: Any, sentence: str) -> None:
    if not np.all(holds):
        raise ValueError(sentence)


def _check_types(record: PathRecord, merged: Merged) -> None:
    """Check that all arrays have one dimension, the right dtype, and finite numbers."""
    arrays = record._asdict() | merged._asdict()
    for name, kind in KINDS.items():
        values = arrays[name]
        _require(values.ndim == 1 and values.dtype.kind == kind, f"{name} has a wrong dtype or shape")
        _require(kind != "f" or np.isfinite(values), f"{name} is not finite")
    _require(record.events.ndim == 1 and record.events.dtype == EVENT, "events has a wrong dtype or shape")


def _check_record(record: PathRecord, along: ProblemLine) -> None:
    """Check the lengths, the order and the ranges of the arrays of a record."""
    m, n, changed, start = len(record.t), along.start.n, record.changed, record.start
    _require([len(record.intercept) == m, len(record.elbow) == m, len(record.kind) == m], "lengths differ")
    if along.is_c_path:
        _require((record.t > 0.0) & (np.diff(record.t, prepend=0.0) >= 0.0), "C is not ascending")
    else:
        inside = (record.t >= min(along.t)) & (record.t <= max(along.t))
        _require(inside & (along.line.t * np.diff(record.t, prepend=along.t[0]) >= 0.0), "t is not in order")
    _require(
        len(start) == m + 1 and start[0] == 0 and (np.diff(start) >= 0).all(), "start is not a list of ends"
    )
    _require(
        len(changed) == len(record.value) == start[-1], "the lengths of changed, value and start contradict"
    )
    _require((changed >= 0) & (changed < n), "changed contains the number of a variable that does not exist")
    low = np.minimum(along.start.lower, along.end.lower)[changed]
    high = np.maximum(along.start.upper, along.end.upper)[changed]
    slip = 1e-9 * (high - low)
    _require((record.value >= low - slip) & (record.value <= high + slip), "value lies outside of the box")
    point, index = record.events["breakpoint"], record.events["index"]
    _require((point >= 0) & (point < m) & (index >= 0) & (index < n), "events do not fit the path")


def _check_merged(merged: Merged, g: int) -> None:
    """Check that each variable has examples, and that each example belongs to one of the g variables."""
    _require(len(merged.first) == g, "first has another length than the problem")
    _require(len(merged.group) == len(merged.weight), "group and weight differ in length")
    _require(
        (merged.group >= 0) & (merged.group < g),
        "group contains the number of a variable that does not exist",
    )
    _require(
        (merged.first >= 0) & (merged.first < len(merged.group)), "first names an example that does not exist"
    )
    _require(merged.group[merged.first] == np.arange(g), "first is not in the group")


def _examples(arrays: dict[str, np.ndarray]) -> Any:
    """Return the examples of a file, after checking that all values are finite and all indices lie within the shape."""
    if "X" in arrays:
        return examples(arrays["X"])
    from scipy.sparse import csr_array

    shape = tuple(arrays["shape"].tolist())
    X = csr_array((arrays["data"], arrays["indices"], arrays["indptr"]), shape=shape)
    X.check_format(full_check=True)
    return examples(X)


def _part(gram: Gram, indices: np.ndarray | None) -> Any:
    """Return the kernel matrix of the examples in `indices`, in this order; if `indices` is None, `gram` itself."""
    return gram if indices is None else View(gram, positions("variables", indices, gram.n))
