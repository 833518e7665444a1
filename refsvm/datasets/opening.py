"""Find a data set by the name of a bundled set, by a name in the data directory, or by path."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from refsvm._checks import hint
from refsvm.datasets.bundled import load, names
from refsvm.datasets.cells import cells_of, csv_table
from refsvm.datasets.dataset import Dataset
from refsvm.datasets.readers import read_libsvm, read_npz

_ENVIRONMENT: Final = "REFSVM_DATA"
_ENDING: Final = re.compile(r"\.(csv|tsv)(\.gz|\.bz2|\.xz)?$", re.IGNORECASE)


def open_data(
    source: str | os.PathLike[str],
    label: str | int | None = None,
    data_dir: str | os.PathLike[str] | None = None,
    delimiter: str | None = None,
    *,
    labelled: bool = True,
    columns: Sequence[str] | None = None,
) -> Dataset:
    """Open a data set by the name of a bundled set, the name of an archive in the data directory, or a path.

    Parameters
    ----------
    source : str or path
        In this order: a bundled name (`names`); ``name`` for ``name.npz`` in the data directory; a file,
        read by `read_npz` (.npz), `read_csv` (.csv, .tsv, also packed as .csv.gz) or `read_libsvm` (any other ending).
        Write "./heart" for a file that has the name of a set.
    label : str, int or None
        The label column of a CSV file; not accepted for anything else.
    data_dir : str, path or None
        The data directory; by default the one that the environment variable REFSVM_DATA names, if any.
    delimiter : str, optional
        Character between the cells of a CSV file; recognised by default.
    labelled : bool
        False: a CSV file may do without labels.
    columns : sequence of str, optional
        Of a CSV file with a header, read these columns, in this order, and no others.

    Returns
    -------
    Dataset
        Labels as in the file; ±1 for bundled sets.

    Raises
    ------
    FileNotFoundError
        If there is no such set and no such file, or no such data directory.
    ValueError
        If the file does not have the format of its ending, or `label` is missing for a CSV file or given for another.
    ImportError
        If it is a LIBSVM file and scikit-learn is not installed.

    Examples
    --------
    >>> open_data("heart")
    Dataset('heart', n=270, d=13)
    """
    text = os.fspath(source)
    if text in names():
        _refuse_label(label, text)
        return load(text)
    directory = data_directory(data_dir)
    # the data directory goes before a file of the same name in the working directory
    archive = None if directory is None else directory / f"{text}.npz"
    path = archive if archive is not None and archive.is_file() else Path(text)
    if not path.is_file():
        raise FileNotFoundError(_not_found(text, directory))
    name = csv_name(path)
    if name is not None:
        if label is None and labelled:
            first = ", ".join(cells_of(path, delimiter).texts[0, :10])
            raise ValueError(
                f"label=None, but {text!r} is a CSV file; name its label column, on the command line by --label "
                f"(first row: {first})."
            )
        X, y, names_of_columns = csv_table(path, label, delimiter, columns)
        return Dataset(name, X, y, source=str(path), columns=names_of_columns)
    # a label column that is silently ignored would train on other labels than were asked for
    _refuse_label(label, text)
    X, y = read_npz(path) if path.suffix.lower() == ".npz" else read_libsvm(path)
    return Dataset(path.stem, X, y, source=str(path))


def csv_name(path: Path) -> str | None:
    """Name of a file of cells without its ending, .csv or .tsv, and .gz, .bz2 or .xz after it; None of another file.

    Examples
    --------
    >>> csv_name(Path("a/iris.CSV")), csv_name(Path("iris.tsv.gz")), csv_name(Path("iris.libsvm.gz"))
    ('iris', 'iris', None)
    """
    found = _ENDING.search(path.name)
    return None if found is None else path.name[: found.start()]


def data_directory(data_dir: str | os.PathLike[str] | None = None) -> Path | None:
    """Resolve the data directory: the argument, else the value of REFSVM_DATA, else None.

    Parameters
    ----------
    data_dir : str, path or None
        The directory, if the caller named one.

    Returns
    -------
    pathlib.Path or None
        An existing directory, or None where none is named.

    Raises
    ------
    FileNotFoundError
        If the named directory does not exist.

    Examples
    --------
    >>> data_directory("no/such/place")
    Traceback (most recent call last):
    FileNotFoundError: data_dir='no/such/place' is not a directory; create it or name another one.
    """
    name, value = (
        ("data_dir", data_dir) if data_dir is not None else (_ENVIRONMENT, os.environ.get(_ENVIRONMENT))
    )
    if not value:
        return None
    if not Path(value).is_dir():
        raise FileNotFoundError(
            f"{name}={os.fspath(value)!r} is not a directory; create it or name another one."
        )
    return Path(value)


def _refuse_label(label: str | int | None, text: str) -> None:
    if label is not None:
        raise ValueError(
            f"label={label!r} names the column of a CSV file, but {text!r} is not one; leave label out."
        )


def _not_found(text: str, directory: Path | None) -> str:
    def with_folder(name: str) -> str:
        return repr(str(Path(text).with_name(name)))

    if Path(text).suffix:  # it is meant to be a file
        beside = [each.name for each in Path(text).parent.glob("*")] if Path(text).parent.is_dir() else []
        near = hint(Path(text).name, beside, "check spelling and folder.", with_folder, cutoff=0.75)
        return f"source={text!r} is not a file; {near}"
    known = names() + ([] if directory is None else sorted(path.stem for path in directory.glob("*.npz")))
    where, inside = f"set {_ENVIRONMENT} to your data directory", ""
    if directory is not None:
        where, inside = f"put {text}.npz in {directory}", f" nor an archive in {directory}"
    near = hint(Path(text).stem, known, f"give a path, {where}, or take one of {', '.join(names())}.")
    return f"source={text!r} is neither a bundled set nor a file{inside}; {near}"
