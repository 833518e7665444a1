"""Kernels, kernel matrices, and the storage of kernel rows.

=============  ====================================================
`functions`    the formulas, with one kernel in each file
`gram`         Gram: K of a kernel on data, evaluated block by block
`blocks`       selected entries, mirrored halves, checks for NaN and infinity
`matrix`       KernelMatrix, the base of all kernel matrices; View, the matrix of some variables
`checked`      makes a kernel matrix from checked data, or from a user's own matrix
`facts`        KernelFacts: properties of the numbers in a matrix
`precision`    when rows are kept as float32, and how this rounding changes decision values
`products`     x·z for many pairs of examples
`origin`       the origin around which inner products are computed
`sparse`       x·z for CSR data
`rows`         KernelRows: kernel rows, stored within a memory budget or computed on demand, and their count
`cached_rows`  kernel rows that are computed on demand
`memory`       memory for kernel rows
`threads`      how threads share the evaluation of rows
=============  ====================================================
"""

from refsvm.core.kernels.functions import *
from refsvm.core.kernels.gram import Gram as Gram
from refsvm.core.kernels.matrix import KernelMatrix as KernelMatrix
from refsvm.core.rule import export

export(vars())
