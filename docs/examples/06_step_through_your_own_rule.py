r"""
Step through your own rule
==========================

A table says how many steps a rule takes. The stepper shows which ones: in a notebook each press of a button is a step
of your rule, next to a shipped one, with the pictures of the :doc:`steppers of these pages </stepper>`. They are
drawn by the same scripts, but here Python takes the steps. So the rule may be one that you wrote in the cell above.

In these pages no Python runs, and a strip of pictures stands in place of each stepper. Download this page as a
notebook to press the buttons; the widget needs anywidget, which the extra *notebook* of refsvm installs.

A rule against a shipped one
----------------------------

Any pair with :math:`G_i > G_j` whose :math:`\alpha_i` may rise and :math:`\alpha_j` may fall makes the objective
larger. This selector draws one of them by lot:"""

from dataclasses import dataclass

import numpy as np

from refsvm import RBF, DualProblem, NewtonStep, Recording, SecondOrder, WorkingSetSelector
from refsvm.datasets import make_banana
from refsvm.display import Stepper


@dataclass(frozen=True)
class RandomPair(WorkingSetSelector):
    """Any violating pair."""

    seed: int = 0

    def select(self, state):
        """Draw one pair of those that violate."""
        G = state.gradient
        up, down = np.flatnonzero(state.alpha < state.upper), np.flatnonzero(state.alpha > state.lower)
        pairs = [(i, j) for i in up for j in down if G[i] > G[j]]
        if not pairs:
            return -1, -1
        return pairs[np.random.default_rng([self.seed, state.iteration]).integers(len(pairs))]


data = make_banana(40, rng=1)
stepper = Stepper(
    data.X, data.y, kernel=RBF(0.5), C=10.0, selector=RandomPair(), against=(SecondOrder(), NewtonStep())
)
stepper

# %%
# The second picture of a run is the pair that moves next: the square of its two variables, level lines of the
# objective, the line on which the sum stays the same, and below it the gain along that line. The third one has the
# gradient on either side of :math:`b`.
#
# * *Step*, *Back*, *Play*, *End*: arrow keys step, too. The end comes in parts, so that *Stop* can end it.
# * *Predict* hides the next pair of the first run until you have tapped two examples.
# * Drag an example, or choose one by the keys n and p and move it with the arrow keys. Tap two examples, or press
#   Enter on them, and the first run moves this pair; tap one twice, and it has the other label. *Add* puts a new one
#   in the middle.
# * :math:`C` and :math:`\gamma` begin anew, or *go on from α*: then :math:`\alpha/C` stays what it was.
#
# The same can be done from Python, and what is shown can be read. These are the states after five steps of both runs:

stepper.step(5)
for rules, state in zip(stepper.rules, stepper.now, strict=True):
    print(f"{rules.selector!r}: next pair ({state.next.i}, {state.next.j}), gap {state.gap:.3f}")

# %%
# A rule that fails
# -----------------
#
# A slip does not end the notebook. The states before it stay, and the traceback stands below the picture:


class Forgetful(RandomPair):
    """Misspells an attribute after three steps."""

    def select(self, state):
        """Fail on purpose."""
        return super().select(state) if state.iteration < 3 else (state.top, state.bottoms)


broken = Stepper(data.X, data.y, kernel=RBF(0.5), C=10.0, selector=Forgetful())
broken.end()
print(len(broken.recordings[0].states), "states;", broken.ending(0))

# %%
# Without a picture
# -----------------
#
# Behind the stepper stands a :class:`~refsvm.analysis.recording.Recording`: the states of a solve by any rules, for any
# problem, each with the step that the rules take from it. How many of the first thirty steps of either rule does the
# box cut?

problem = DualProblem.classification(data.X, data.y, kernel=RBF(0.5), C=10.0)
for selector in (RandomPair(), SecondOrder()):
    recording = Recording(problem, selector=selector, step=NewtonStep())
    cut = sum(not recording.at(k).next.free for k in range(30))
    print(f"{selector!r}: {cut}")

# %%
# Exercise
# --------
#
# In the first stepper go to the end, add an example on the wrong side of the boundary, and go to the end again. How
# many steps does each rule take from there? And how many from :math:`\alpha = 0`?
#
# .. dropdown:: Answer
#
#    ``stepper.end()``, ``stepper.add([x, y], label)`` and ``stepper.end()`` do it; the lengths of
#    ``stepper.recordings[0].states`` and ``stepper.recordings[1].states`` count the steps. For :math:`\alpha = 0` call
#    ``stepper.set_penalty(10.0, warm=False)`` before the last one.
