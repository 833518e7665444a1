"""Arguments and options that several commands share, each declared once."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from refsvm.cli.choices import ENGINES, SEEDERS, one
from refsvm.kernels.names import KERNELS

__all__ = [
    "CacheMB", "Coef0", "Data", "DataDir", "Degree", "Engine", "Gamma", "Json", "KernelName", "Label",
    "MaxIter", "Penalty", "Seeders", "SeveralData", "Store", "Threads", "TimeLimit", "Tol",
]  # fmt: skip

Data = Annotated[
    str,
    typer.Argument(
        metavar="DATA",
        help="A bundled name (see 'refsvm datasets'), NAME for NAME.npz in the data directory, or a file: "
        "LIBSVM, .csv or .npz.",
    ),
]
SeveralData = Annotated[
    list[str],
    typer.Argument(
        metavar="DATA...",
        help="Bundled names (see 'refsvm datasets'), NAME for NAME.npz in the data directory, or files: "
        "LIBSVM, .csv or .npz.",
    ),
]
Label = Annotated[
    str | None, typer.Option(metavar="COLUMN", help="Label column of a CSV file: name, or index from 0.")
]
DataDir = Annotated[
    Path | None, typer.Option(metavar="DIR", help="Data directory.  [default: the variable REFSVM_DATA]")
]
KernelName = Annotated[str, typer.Option(metavar="NAME", help=f"One of {', '.join(KERNELS)}.")]
Gamma = Annotated[
    str | None,
    typer.Option(
        metavar="NUMBER|scale|auto",
        help="γ of the kernel; for rbf, a larger γ is a narrower kernel.  "
        "[default: the data set's own for rbf, else scale]",
    ),
]
Penalty = Annotated[
    float | None, typer.Option("--C", help="Penalty.  [default: the data set's own for rbf, else 1]")
]
Degree = Annotated[int, typer.Option(help="Degree of the poly kernel.")]
Coef0 = Annotated[float, typer.Option(help="Constant of the poly and sigmoid kernels.")]


def _known_engine(name: str) -> str:
    """Refuse an engine that does not exist, before anything is opened or computed."""
    one("engine", name, {"auto": None, **ENGINES})
    return name


Engine = Annotated[
    str,
    typer.Option(metavar="NAME", help=f"One of auto, {', '.join(ENGINES)}.", callback=_known_engine),
]
Seeders = Annotated[
    str,
    typer.Option(
        "--seeders", "--seeder", metavar="NAMES", help=f"Some of {', '.join(SEEDERS)}, comma between; or all."
    ),
]
Store = Annotated[
    Path | None, typer.Option(metavar="FILE", help="Keep finished parts here and do not repeat them.")
]
Tol = Annotated[float, typer.Option(help="Stop when the KKT gap is at most this.")]
CacheMB = Annotated[float, typer.Option("--cache-mb", help="Memory for kernel rows, in MiB.")]
MaxIter = Annotated[int | None, typer.Option(help="Limit on the steps.  [default: max(10⁷, 100n)]")]
Threads = Annotated[
    int | None,
    typer.Option("--n-jobs", "--jobs", metavar="N", help="Threads; -1: one for each core.  [default: 1]"),
]
TimeLimit = Annotated[float | None, typer.Option(metavar="SECONDS", help="Limit on the time of a solve.")]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON document.")]
