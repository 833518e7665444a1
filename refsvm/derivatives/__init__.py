"""Derivatives of the optimum: how α, b and h change with C, weights, targets and the parameters of the kernel.

==============  ==========================================================================================
`derivative`    Solution.derivative(name): forward, by one parameter, with both sides at an event
`pullback`      Solution.pullback(alpha, intercept): the adjoint, one system for any number of parameters
`parameters`    what v, the bounds and z change with each parameter
`optimum`       the sets of an optimum and the bordered system of its free variables
`system`        that system, solved by a Cholesky factor
`direction`     the way on which the optimum moves, and the choice of sets at an event
==============  ==========================================================================================
"""

from refsvm.derivatives.derivative import Derivative as Derivative
from refsvm.derivatives.derivative import OneSided as OneSided
from refsvm.derivatives.derivative import derivative as derivative
from refsvm.derivatives.pullback import Gradients as Gradients
from refsvm.derivatives.pullback import pullback as pullback
from refsvm.rule import export

export(vars())
