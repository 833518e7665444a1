"""Libraries that need a Python environment of their own: a program is run there on a data set."""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from refsvm.datasets import Dataset

__all__ = ["answer_of"]

THREADS = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")


def answer_of(python: Path, program: str, data: Dataset, *arguments: object, **arrays: np.ndarray) -> Any:
    """Return what a program tells about a data set; one thread.

    Parameters
    ----------
    python : Path
        The interpreter.
    program : str
        Source; ``sys.argv[1]`` is an .npz file with X and y and the `arrays`, the further arguments follow. It prints
        a line that is RESULT and JSON.
    data : Dataset
    *arguments, **arrays
        For the program.

    Raises
    ------
    RuntimeError
        If it fails, with the end of what it wrote.
    """
    with tempfile.TemporaryDirectory() as directory:
        file = Path(directory, "data.npz")
        np.savez(file, X=np.asarray(data.X), y=data.y, **arrays)
        command = [str(python), "-c", program, str(file), *map(str, arguments)]
        ended = subprocess.run(command, capture_output=True, text=True, check=False, env=os.environ | THREADS)
    results = [line for line in ended.stdout.splitlines() if "RESULT" in line]
    if ended.returncode != 0 or not results:
        raise RuntimeError(f"{python} could not run the program: {ended.stderr[-500:]}")
    return json.loads(results[-1].split("RESULT")[1])
