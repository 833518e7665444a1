"""Derivatives of the optimum with respect to parameters, and exact changes when examples are left out.

==============  ==========================================================================================
`derivative`    Solution.derivative(name): forward mode, for one parameter; left and right derivative at an event
`pullback`      Solution.pullback(alpha, intercept): reverse mode, one system for any number of parameters
`parameters`    how v, the bounds and z change with each parameter
`optimum`       the free and bounded variables of an optimum, and the bordered system of the free ones
`system`        the bordered system, solved with a Cholesky factor
`influence`     the change caused by leaving out an example or a group, exactly and to first order
`held_out`      a held-out loss and its gradient with respect to all parameters
`tuning`        finds the parameters that minimise a held-out loss, with its gradient
`settling`      the exact optimum, from the free variables of an approximate solution
`first_order`   first-order changes of an optimum when examples are left out
`losses`        held-out losses and their slopes
`kernels`       derivatives of kernels with respect to their parameters
`direction`     the direction in which the optimum moves, and the free variables at an event
==============  ==========================================================================================
"""

from refsvm.analysis.derivatives.derivative import Derivative as Derivative
from refsvm.analysis.derivatives.derivative import OneSided as OneSided
from refsvm.analysis.derivatives.derivative import derivative as derivative
from refsvm.analysis.derivatives.held_out import HeldOutLoss as HeldOutLoss
from refsvm.analysis.derivatives.held_out import held_out_loss as held_out_loss
from refsvm.analysis.derivatives.influence import Influence as Influence
from refsvm.analysis.derivatives.influence import influence as influence
from refsvm.analysis.derivatives.losses import Huber as Huber
from refsvm.analysis.derivatives.losses import Logistic as Logistic
from refsvm.analysis.derivatives.losses import Loss as Loss
from refsvm.analysis.derivatives.losses import Pinball as Pinball
from refsvm.analysis.derivatives.losses import Squared as Squared
from refsvm.analysis.derivatives.losses import SquaredHinge as SquaredHinge
from refsvm.analysis.derivatives.pullback import Gradients as Gradients
from refsvm.analysis.derivatives.pullback import pullback as pullback
from refsvm.analysis.derivatives.tuning import Evaluation as Evaluation
from refsvm.analysis.derivatives.tuning import Tuning as Tuning
from refsvm.analysis.derivatives.tuning import tune_by_gradient as tune_by_gradient
from refsvm.core.rule import export

export(vars())
