"""Data sets: small bundled sets, the papers' artificial sets, readers for files, and the benchmark suite.

================  ==========================================================================
`load`, `names`   ten UCI sets that are part of the package, with sources and licence
`make_banana` …   generators of banana, twonorm, ringnorm, waveform and chessboard
`open_data`       opens a set by name or path; `read_libsvm`, `read_csv` and `read_npz` read one format each
`paper_suite`     the 18 problems of the papers' tables, read from your data directory
================  ==========================================================================
"""

from refsvm.datasets.bundled import load, names
from refsvm.datasets.dataset import Dataset, binary_labels
from refsvm.datasets.generators import (
    make_banana,
    make_chessboard,
    make_ringnorm,
    make_twonorm,
    make_waveform,
)
from refsvm.datasets.opening import data_directory, open_data
from refsvm.datasets.readers import read_csv, read_libsvm, read_npz
from refsvm.datasets.suite import SuiteProblem, data_instructions, paper_suite

__all__ = [
    "Dataset", "SuiteProblem", "binary_labels", "data_directory", "data_instructions", "load", "make_banana",
    "make_chessboard", "make_ringnorm", "make_twonorm", "make_waveform", "names", "open_data", "paper_suite",
    "read_csv", "read_libsvm", "read_npz",
]  # fmt: skip
