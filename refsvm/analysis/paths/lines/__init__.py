"""Lines with a name: `parametric_path` between two problems of one family, in the unit of what moves.

==============  ===============================================================================
`epsilon_path`  the tube of regression: v¹ = −1 and +1 on the two copies of an example
`nu_path`       the share of one-class: z¹ = Σ wᵢ
`cost_path`     C₊ from 0 to C, C₋ = C − C₊: one class's box opens while that of the other closes
`weight_path`   any Cᵢ to any other
==============  ===============================================================================

One line per file; its line here registers it.
"""

from refsvm.analysis.paths.lines.cost import cost_path as cost_path
from refsvm.analysis.paths.lines.epsilon import epsilon_path as epsilon_path
from refsvm.analysis.paths.lines.nu import nu_path as nu_path
from refsvm.analysis.paths.lines.weights import weight_path as weight_path
from refsvm.core.rule import export

export(vars())
