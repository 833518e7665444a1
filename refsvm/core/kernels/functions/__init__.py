"""Kernels: small frozen objects that turn inner products into kernel values.

`refsvm.core.kernels.gram.Gram` pairs one with data and evaluates blocks of K.

=================  ==========================================
`Linear`           k(x, z) = x·z
`RBF`              k(x, z) = exp(−γ‖x − z‖²)
`Polynomial`       k(x, z) = (γ x·z + c)ᵈ
`Sigmoid`          k(x, z) = tanh(γ x·z + c)
`Precomputed`      the caller holds K; "X" *is* the matrix
any callable       ``k(X, Z) -> (n, m)`` array
=================  ==========================================

One kernel per file, `base` first; its line here registers it.
"""

from refsvm.core.kernels.functions.base import Kernel as Kernel
from refsvm.core.kernels.functions.base import Precomputed as Precomputed
from refsvm.core.kernels.functions.linear import Linear as Linear
from refsvm.core.kernels.functions.polynomial import Polynomial as Polynomial
from refsvm.core.kernels.functions.rbf import RBF as RBF
from refsvm.core.kernels.functions.sigmoid import Sigmoid as Sigmoid
from refsvm.core.rule import export

export(vars())
