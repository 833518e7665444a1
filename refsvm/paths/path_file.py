"""A path as an .npz file."""

from __future__ import annotations

import json
import os
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final

import numpy as np

from refsvm._checks import is_sparse
from refsvm.kernels.gram import Gram
from refsvm.kernels.names import KERNELS
from refsvm.paths.duplicates import Merged
from refsvm.paths.path import RegularizationPath
from refsvm.paths.recorder import EVENT, PathRecord
from refsvm.problem import DualProblem
from refsvm.result import Status

__all__ = ["load_path", "save_path"]

FORMAT: Final = "refsvm path 1"

KINDS: Final = {
    "C": "f", "intercept": "f", "elbow": "i", "kind": "U", "start": "i", "changed": "i", "value": "f",
    "first": "i", "group": "i", "weight": "f",
}  # fmt: skip
"""The arrays of a record and of `Merged`, and the kind of their dtype."""


def save_path(path: RegularizationPath, file: str | os.PathLike[str]) -> None:
    """Write a path, with its examples and kernel, as an .npz file.

    Parameters
    ----------
    path : RegularizationPath
    file : path-like

    Raises
    ------
    ValueError
        If the kernel is a callable that has no name.

    Examples
    --------
    >>> import numpy as np, tempfile, os
    >>> from refsvm import RBF, regularization_path
    >>> from refsvm.paths import load_path, save_path
    >>> X, y = np.array([[0.0], [1.0], [2.0], [4.0]]), np.array([-1, 1, -1, 1])
    >>> path = regularization_path(X, y, kernel=RBF(0.5), C_min=0.1, C_max=10.0)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = os.path.join(folder, "path.npz")
    ...     save_path(path, file)
    ...     again = load_path(file)
    >>> np.array_equal(again.alpha(2.0), path.alpha(2.0))
    True
    """
    gram: Any = path.problem.gram
    kernel = getattr(gram, "kernel", None)
    names = [name for name, kind in KERNELS.items() if type(kernel) is kind]
    if not names:
        given = (
            f"gram={type(getattr(gram, 'given', gram)).__name__}" if kernel is None else f"kernel={kernel!r}"
        )
        raise ValueError(f"{given} has no name in a file; track with one of {', '.join(KERNELS)}.")
    head = {
        "format": FORMAT,
        "kernel": names[0],
        "parameters": asdict(gram.kernel),
        "status": path.status.name,
        "seconds": path.seconds,
        "start_seconds": path.start_seconds,
        "nullity": path.nullity,
        "drift": path.drift,
        "tracker": path.tracker,
        "counts": dict(path.counts),
    }
    X = gram.X
    data = (
        {"data": X.data, "indices": X.indices, "indptr": X.indptr, "shape": np.array(X.shape)}
        if is_sparse(X)
        else {"X": X}
    )
    arrays = {
        **data,
        **{f"record_{name}": values for name, values in path.record._asdict().items()},
        **{f"merged_{name}": values for name, values in path.merged._asdict().items()},
        "v": path.problem.v,
        "bound": path.problem.lower + path.problem.upper,
    }
    with Path(file).open("wb") as out:
        np.savez_compressed(out, head=np.array(json.dumps(head)), **arrays)


def load_path(file: str | os.PathLike[str]) -> RegularizationPath:
    """Read a path that `save_path` has written.

    Raises
    ------
    ValueError
        If the file holds no path: the sentence names the file and what is wrong in it.
    """
    try:
        with Path(file).open("rb") as stream, np.load(stream, allow_pickle=False) as archive:
            arrays = {name: archive[name] for name in archive.files}
        head = json.loads(str(arrays["head"]))
        if head["format"] != FORMAT:
            raise KeyError(head["format"])
        kernel = KERNELS[head["kernel"]](**head["parameters"])
        bound = arrays["bound"]
        problem = DualProblem(
            Gram(kernel, _examples(arrays)), arrays["v"], 0.0, np.minimum(bound, 0.0), np.maximum(bound, 0.0)
        )
        record = PathRecord(**{name: arrays[f"record_{name}"] for name in PathRecord._fields})
        merged = Merged(**{name: arrays[f"merged_{name}"] for name in Merged._fields})
        _check_types(record, merged)
        _check_record(record, problem)
        _check_merged(merged, bound)
        return RegularizationPath(
            problem=problem,
            record=record,
            merged=merged,
            status=Status[head["status"]],
            seconds=float(head["seconds"]),
            start_seconds=float(head["start_seconds"]),
            nullity=int(head["nullity"]),
            drift=float(head["drift"]),
            tracker=str(head["tracker"]),
            counts={str(name): int(count) for name, count in head["counts"].items()},
        )
    except OSError:
        raise
    except Exception as error:  # noqa: BLE001 (zipfile, json and numpy raise errors of many kinds)
        raise ValueError(f"{os.fspath(file)!r} holds no path written by save_path ({error}).") from None


def _require(holds: Any, sentence: str) -> None:
    if not np.all(holds):
        raise ValueError(sentence)


def _check_types(record: PathRecord, merged: Merged) -> None:
    """Check that all arrays have one dimension and their dtype, and that their numbers are finite."""
    arrays = record._asdict() | merged._asdict()
    for name, kind in KINDS.items():
        values = arrays[name]
        _require(values.ndim == 1 and values.dtype.kind == kind, f"{name} has another dtype or shape")
        _require(kind != "f" or np.isfinite(values), f"{name} is not finite")
    _require(record.events.ndim == 1 and record.events.dtype == EVENT, "events has another dtype or shape")


def _check_record(record: PathRecord, problem: DualProblem) -> None:
    """Check the lengths, the order and the ranges of a record."""
    m, changed, start = len(record.C), record.changed, record.start
    _require([len(record.intercept) == m, len(record.elbow) == m, len(record.kind) == m], "lengths differ")
    _require((record.C > 0.0) & (np.diff(record.C, prepend=0.0) >= 0.0), "C is not ascending")
    _require(
        len(start) == m + 1 and start[0] == 0 and (np.diff(start) >= 0).all(), "start is no list of ends"
    )
    _require(len(changed) == len(record.value) == start[-1], "changed, value and start do not fit together")
    _require((changed >= 0) & (changed < problem.n), "changed names a variable that is not there")
    low, high = problem.lower[changed], problem.upper[changed]
    slip = 1e-9 * (high - low)
    _require((record.value >= low - slip) & (record.value <= high + slip), "value lies outside of the box")
    point, index = record.events["breakpoint"], record.events["index"]
    _require((point >= 0) & (point < m) & (index >= 0) & (index < problem.n), "events do not fit the path")


def _check_merged(merged: Merged, bound: np.ndarray) -> None:
    """Check that the examples of each variable make up its box."""
    g = len(bound)
    _require(len(merged.first) == g, "first has another length than the problem")
    _require(len(merged.group) == len(merged.weight), "group and weight differ in length")
    _require((merged.group >= 0) & (merged.group < g), "group names a variable that is not there")
    _require(
        (merged.first >= 0) & (merged.first < len(merged.group)), "first names an example that is not there"
    )
    _require(merged.group[merged.first] == np.arange(g), "first is not in the group")
    sums = np.bincount(merged.group, weights=merged.weight, minlength=g)
    _require(np.abs(sums - bound) <= 1e-9 * np.abs(bound), "the weights do not add up to the bounds")


def _examples(arrays: dict[str, np.ndarray]) -> Any:
    if "X" in arrays:
        return arrays["X"]
    from scipy.sparse import csr_array

    shape = tuple(arrays["shape"].tolist())
    return csr_array((arrays["data"], arrays["indices"], arrays["indptr"]), shape=shape)
