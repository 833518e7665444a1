"""Functions that call `parametric_path` between two problems that differ in one named parameter.

==============  ===============================================================================
`epsilon_path`  along the width of a regression's tube: v¹ = −1 and +1 for the two copies of an example
`nu_path`       along the share of novelties: z¹ = Σ wᵢ
`cost_path`     along C₊ from 0 to C with C₋ = C − C₊: the box of one class opens while the other's closes
`weight_path`   from any penalties to any others
==============  ===============================================================================

Each function has its own file; to add a function, add a file and a line in this module.
"""

from refsvm.analysis.paths.lines.cost import cost_path as cost_path
from refsvm.analysis.paths.lines.epsilon import epsilon_path as epsilon_path
from refsvm.analysis.paths.lines.nu import nu_path as nu_path
from refsvm.analysis.paths.lines.weights import weight_path as weight_path
from refsvm.core.rule import export

export(vars())
