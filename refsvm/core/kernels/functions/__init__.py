"""Kernels: small frozen objects that turn inner products into kernel values.

`refsvm.core.kernels.gram.Gram` combines a kernel with data and evaluates blocks of K.

=================  ==========================================
`Linear`           k(x, z) = x·z
`RBF`              k(x, z) = exp(−γ‖x − z‖²)
`Polynomial`       k(x, z) = (γ x·z + c)ᵈ
`Sigmoid`          k(x, z) = tanh(γ x·z + c)
`Precomputed`      the user gives K itself in place of X
any callable       ``k(X, Z) -> (n, m)`` array
=================  ==========================================

Each file holds one kernel, and importing the kernel in this ``__init__`` registers it. `base` holds the base class.
"""

from refsvm.core.kernels.functions.base import Kernel as Kernel
from refsvm.core.kernels.functions.base import Precomputed as Precomputed
from refsvm.core.kernels.functions.linear import Linear as Linear
from refsvm.core.kernels.functions.polynomial import Polynomial as Polynomial
from refsvm.core.kernels.functions.rbf import RBF as RBF
from refsvm.core.kernels.functions.sigmoid import Sigmoid as Sigmoid
from refsvm.core.rule import export

export(vars())
