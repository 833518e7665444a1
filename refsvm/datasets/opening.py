"""Opens a data set by the name of a bundled set, a name in the data directory, or a path."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from refsvm.core._checks import hint
from refsvm.datasets.archive import STANDARD_INPUT, existing
from refsvm.datasets.bundled import GENERATED, load, names
from refsvm.datasets.cells import cells_of, csv_table
from refsvm.datasets.contents import ARCHIVE, TABLE, kind_of, name_of
from refsvm.datasets.dataset import Dataset
from refsvm.datasets.readers import libsvm_rows, read_npz
from refsvm.services.printable import printable

_ENVIRONMENT: Final = "REFSVM_DATA"


def open_data(
    source: str | os.PathLike[str],
    label: str | int | None = None,
    data_dir: str | os.PathLike[str] | None = None,
    delimiter: str | None = None,
    *,
    labelled: bool = True,
    columns: Sequence[str] | None = None,
) -> Dataset:
    """Open a bundled set or an archive in the data directory by its name, or a file by its path.

    Parameters
    ----------
    source : str or path
        The name of a bundled set (`names`); the name of an archive ``name.npz`` in the data directory; "-" for the
        standard input; or the path of a file or a pipe. `open_data` tries these sources in this order. The content of a
        file, packed or not, determines whether `read_npz`, `read_csv` or `read_libsvm` reads it. Write "./heart" for a
        file named like the bundled set heart.
    label : str, int or None
        The label column of a table; must be None if the data are not a table.
    data_dir : str, path or None
        The data directory; by default the value of the environment variable REFSVM_DATA, if it is set.
    delimiter : str, optional
        Character between the cells of a table; `open_data` recognises it by default. If you give `delimiter`, a file
        that may be a table or a LIBSVM file counts as a table.
    labelled : bool
        Whether the data must have labels, True by default; False permits a table without labels.
    columns : sequence of str, optional
        For a table with a header, the columns to read, in this order.

    Returns
    -------
    Dataset
        Labels as in the file; ±1 for bundled sets.

    Raises
    ------
    FileNotFoundError
        If the set, the file or the data directory does not exist.
    ValueError
        If the file cannot be read, if `label` is missing for a table, or if it is given for data that are not a table.
    ImportError
        If the file is a LIBSVM file and scikit-learn is not installed.

    Examples
    --------
    >>> open_data("heart")
    Dataset('heart', n=270, d=13)
    """
    text = os.fspath(source)
    if text in names() or text in GENERATED:
        _refuse_label(label, text)
        return load(text)
    path, directory = place_of(text, data_dir), data_directory(data_dir)
    if text != STANDARD_INPUT and (path.is_dir() or not path.exists()):
        raise FileNotFoundError(_not_found(text, directory))
    file, name = existing(str(path)), name_of(str(path))
    kind = kind_of(file, is_named_table=label is not None or not labelled)
    if kind == TABLE or delimiter is not None:
        if label is None and labelled:
            first = printable(", ".join(cells_of(file, delimiter).texts[0, :10]))
            raise ValueError(
                f"label=None, but {text!r} is a CSV file; give its label column, on the command line with --label "
                f"(first row: {first})."
            )
        X, y, names_of_columns = csv_table(file, label, delimiter, columns)
        return Dataset(name, X, y, source=str(path), columns=names_of_columns)
    # refuse `label`, which names a column: an archive or a LIBSVM file has no label column to choose
    if kind == ARCHIVE:
        _refuse_label(label, text)
        return Dataset(name, *read_npz(file), source=str(path))
    _refuse_label(label, text, " If it is one, give delimiter, on the command line with --delimiter.")
    X, y, places = libsvm_rows(file)
    return Dataset(name, X, y, source=str(path), places=places)


def place_of(source: str, data_dir: str | os.PathLike[str] | None = None) -> Path:
    """Return the file of a source that is not a bundled set: an archive in the data directory, or the path `source`.

    Raises
    ------
    FileNotFoundError
        If the data directory does not exist.

    Examples
    --------
    >>> place_of("table.csv").name
    'table.csv'
    """
    directory = data_directory(data_dir)
    # look in the data directory before the working directory, which may contain a file of the same name
    archive = None if directory is None else directory / f"{source}.npz"
    return archive if archive is not None and archive.is_file() else Path(source)


def data_directory(data_dir: str | os.PathLike[str] | None = None) -> Path | None:
    """Return the data directory: the argument, or the value of REFSVM_DATA, or None.

    Parameters
    ----------
    data_dir : str, path or None
        The directory that the caller gave, or None.

    Returns
    -------
    pathlib.Path or None
        An existing directory, or None if neither the caller nor REFSVM_DATA names a directory.

    Raises
    ------
    FileNotFoundError
        If the data directory does not exist.

    Examples
    --------
    >>> data_directory("no/such/place")
    Traceback (most recent call last):
    FileNotFoundError: data_dir='no/such/place' is not a directory; create it or give another directory.
    """
    name, value = (
        ("data_dir", data_dir) if data_dir is not None else (_ENVIRONMENT, os.environ.get(_ENVIRONMENT))
    )
    if not value:
        return None
    if not Path(value).is_dir():
        raise FileNotFoundError(
            f"{name}={os.fspath(value)!r} is not a directory; create it or give another directory."
        )
    return Path(value)


def _refuse_label(label: str | int | None, text: str, remedy: str = "") -> None:
    if label is not None:
        raise ValueError(
            f"label={label!r} is the column of a CSV file, but {text!r} is not a CSV file; omit label.{remedy}"
        )


def _not_found(text: str, directory: Path | None) -> str:
    def with_folder(name: str) -> str:
        return repr(str(Path(text).with_name(name)))

    if Path(text).suffix:  # a text with an ending such as .csv names a file
        beside = [each.name for each in Path(text).parent.glob("*")] if Path(text).parent.is_dir() else []
        near = hint(Path(text).name, beside, "check spelling and folder.", with_folder, cutoff=0.75)
        return f"source={text!r} is not a file; {near}"
    known = [*names(), *GENERATED] + (
        [] if directory is None else sorted(path.stem for path in directory.glob("*.npz"))
    )
    where, inside = f"set {_ENVIRONMENT} to your data directory", ""
    if directory is not None:
        where, inside = f"put {text}.npz in {directory}", f" nor an archive in {directory}"
    near = hint(
        Path(text).stem, known, f"give a path, {where}, or take one of {', '.join([*names(), *GENERATED])}."
    )
    return f"source={text!r} is neither a bundled set nor a file{inside}; {near}"
