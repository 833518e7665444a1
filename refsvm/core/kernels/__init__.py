"""Kernels, and everything about the matrix they span on data.

=============  ====================================================
`functions`    the formulas, one kernel per file, `base` first
`gram`         Gram: K on a data set, block by block
`blocks`       blocks of a matrix that is held, or being written
`matrix`       KernelMatrix, what all matrices have in common; View, the matrix of some of the variables
`checked`      a kernel on data, or a matrix of the user's own, both checked first
`facts`        what is known of the numbers of a matrix
`precision`    where values are held as float32, and how far their rounding moves decision values
`products`     x·z for many pairs of examples
`origin`       where inner products are taken around
`sparse`       x·z for CSR data
`rows`         KernelRows: kernel rows held or computed on demand, within a byte budget, counted
`cached_rows`  kernel rows computed on demand
`memory`       memory for kernel rows
`threads`      how threads share the evaluation
=============  ====================================================
"""

from refsvm.core.kernels.functions import *
from refsvm.core.kernels.gram import Gram as Gram
from refsvm.core.kernels.matrix import KernelMatrix as KernelMatrix
from refsvm.core.rule import export

export(vars())
