"""``refsvm predict``: predicts labels of new data, and computes the accuracy if the data contain labels."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Final

import numpy as np
from typer import Argument

from refsvm import read_model
from refsvm.analysis.multiclass.model import Model
from refsvm.cli import options
from refsvm.cli.data import label_text, writable
from refsvm.cli.messages import note
from refsvm.cli.options import option
from refsvm.cli.tables import print_data
from refsvm.datasets import open_data
from refsvm.datasets.opening import place_of
from refsvm.services.files import written_whole
from refsvm.services.summary import counted

_FILES: Final = (
    "A model file of 'refsvm fit' or LIBSVM; then the data, in any form that other commands accept."
)


@options.in_one()
def predict(
    files: Annotated[list[str], Argument(metavar="MODEL DATA", help=_FILES)],
    model: Annotated[Path | None, option("FILE", "The model file, if it is not the first argument.")] = None,
    output: Annotated[Path | None, option("FILE", "Where to write the labels.  [default: stdout]")] = None,
    label: options.Label = None,
    delimiter: options.Delimiter = None,
    data_dir: options.DataDir = None,
) -> None:
    """Print the predicted labels or values, one in each line; for labelled data, print scores on stderr."""
    wanted = "MODEL and DATA" if model is None else "only DATA, because --model names the model"
    if len(files) != (2 if model is None else 1):
        raise ValueError(f"predict got {counted(len(files), 'file')}, but needs {wanted}.")
    named = files[0] if model is None else model
    if output is not None:
        writable("output", output, named, place_of(files[-1], data_dir))
    fitted = read_model(named)
    # find columns by their names in the model: the file may contain them in another order, or contain more columns
    data = open_data(files[-1], label, data_dir, delimiter, labelled=False, columns=fitted.columns)
    y, values = data.y, fitted.predict(data.X)
    predicted = [label_text(each) for each in values]
    lines = "".join(f"{each}\n" for each in predicted)
    if output is None:
        print_data(lines)
    else:
        with written_whole(output) as stream:
            stream.write(lines.encode())
    if isinstance(fitted, Model):
        sentence = None if y is None else accuracy(fitted, predicted, y)
    elif fitted.task == "regression":
        sentence = None if y is None or y.dtype.kind not in "iuf" else errors(values, y)
    else:
        sentence = f"{int((values > 0).sum())} of {len(values)} are inside"
    if sentence is not None:
        note(sentence)


def accuracy(model: Model, predicted: list[str], y: np.ndarray) -> str:
    """Return a sentence with the share of correctly predicted labels."""
    known = {label_text(label) for label in model.classes}
    true = [label_text(label) for label in y]
    if known.isdisjoint(true):
        # if file and model share no label, an accuracy of 0 would say nothing about the model
        return f"No accuracy: the labels of the data differ from all labels of the model ({', '.join(sorted(known))})"
    right = sum(a == b for a, b in zip(predicted, true, strict=True))
    return f"Accuracy {right / len(true):.4f} ({right} of {len(true)})"


def errors(predicted: np.ndarray, y: np.ndarray) -> str:
    """Return a sentence with the mean absolute error and the R² of predicted values."""
    residual, spread = predicted - y, y - y.mean()
    explained = 1.0 - float(residual @ residual) / float(spread @ spread) if spread.any() else np.nan
    return f"Mean absolute error {float(np.abs(residual).mean()):.4g}, R² {explained:.4f}"
