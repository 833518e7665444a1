"""``refsvm predict``: labels of new data, and their accuracy where the true labels are known."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from refsvm.cli import options
from refsvm.cli.data import label_text
from refsvm.cli.messages import note
from refsvm.datasets import open_data
from refsvm.datasets.readers import is_number
from refsvm.multiclass.model import Model
from refsvm.multiclass.model_file import read_model

__all__ = ["predict"]


def predict(
    model: Annotated[Path, typer.Argument(metavar="MODEL", help="A model file of 'refsvm fit' or LIBSVM.")],
    data: options.Data,
    output: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Where to write the labels.  [default: stdout]")
    ] = None,
    label: options.Label = None,
    data_dir: options.DataDir = None,
) -> None:
    """Print the predicted labels or values, one a line; and how right they are, if the data have labels, on stderr."""
    fitted = read_model(model)
    X, y = open_examples(data, label, data_dir)
    values = fitted.predict(X)
    predicted = [label_text(each) for each in values]
    lines = "".join(f"{each}\n" for each in predicted)
    if output is None:
        typer.echo(lines, nl=False)
    else:
        output.write_text(lines, encoding="utf-8")
    if isinstance(fitted, Model):
        said = None if y is None else accuracy(fitted, predicted, y)
    elif fitted.task == "regression":
        said = None if y is None or y.dtype.kind not in "iuf" else errors(values, y)
    else:
        said = f"{int((values > 0).sum())} of {len(values)} are inside"
    if said is not None:
        note(said)


def open_examples(source: str, label: str | None, data_dir: Path | None) -> tuple[Any, np.ndarray | None]:
    """Open data to predict: X, and y where there are labels. A CSV file without ``label`` has none."""
    path = Path(source)
    if label is None and path.suffix.lower() == ".csv" and path.is_file():
        return _features(path), None
    data = open_data(source, label=label, data_dir=data_dir)
    return data.X, data.y


def accuracy(model: Model, predicted: list[str], y: np.ndarray) -> str:
    """Say how many of the predicted labels are right."""
    known = {label_text(label) for label in model.classes}
    true = [label_text(label) for label in y]
    if known.isdisjoint(true):
        return (
            f"No accuracy: none of the labels of the data is one of the model's ({', '.join(sorted(known))})"
        )
    right = sum(a == b for a, b in zip(predicted, true, strict=True))
    return f"Accuracy {right / len(true):.4f} ({right} of {len(true)})"


def errors(predicted: np.ndarray, y: np.ndarray) -> str:
    """Say how far predicted values are from the true ones, and the share of their variance that is explained."""
    residual, spread = predicted - y, y - y.mean()
    explained = 1.0 - float(residual @ residual) / float(spread @ spread) if (spread != 0.0).any() else np.nan
    return f"Mean absolute error {float(np.abs(residual).mean()):.4g}, R² {explained:.4f}"


def _features(path: Path) -> np.ndarray:
    """Read a CSV file of numbers only; a first row without any number is a header."""
    try:
        lines = [line for line in path.read_text(encoding="utf-8-sig").splitlines() if line.strip()]
        if lines and not any(is_number(cell.strip('" ')) for cell in lines[0].split(",")):
            del lines[0]
        if not lines:
            raise ValueError("it has no rows")
        return np.loadtxt(lines, delimiter=",", quotechar='"', comments=None, ndmin=2)
    except ValueError as error:
        reason = "it is not text" if isinstance(error, UnicodeDecodeError) else str(error).rstrip(".")
        raise ValueError(
            f"{str(path)!r} is not a CSV file of numbers ({reason}); name its label column with --label if it has one."
        ) from None
