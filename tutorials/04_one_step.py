r"""
4 · One step
============

How far should a pair of variables go? Along its direction the objective is a parabola, and the box is an interval. So
the best step has a formula: go to the top of the parabola, or as far towards it as the box allows.
"""

# fold: Imports, the data, and the code of this figure
# alt: Two panels show a free step. In the box of the two variables the step follows the line of fixed sum, and ends
#     where the line touches a contour. In the right panel the step ends at the top of the parabola.
import matplotlib.pyplot as plt
import numpy as np

from refsvm import RBF, DualProblem, NewtonStep, SecondOrder, iterate
from refsvm.datasets import make_banana
from refsvm.display import WorkingSetDisplay

plt.rcParams.update(
    {"figure.constrained_layout.use": True, "axes.spines.top": False, "axes.spines.right": False}
)
NEGATIVE, POSITIVE, INK = "#0072B2", "#D55E00", "#222222"

data = make_banana(200, rng=0)
problem = DualProblem.classification(data.X, data.y, kernel=RBF(gamma=0.5), C=10.0)


def show_step(number):
    """Draw a step of the solver, from above and from the side, and return the state before it."""
    state = next(state for state in iterate(problem, step=NewtonStep()) if state.iteration == number - 1)
    i, j = SecondOrder().select(state)
    _, (above, side) = plt.subplots(1, 2, figsize=(9.5, 3.6), width_ratios=(5, 4))
    WorkingSetDisplay.from_state(state, i, j, ax=above)
    state.measure(i, j)
    newton = state.slope / state.curvature
    mu = np.linspace(0, 1.9 * newton, 300)
    gain = mu * state.slope - state.curvature * mu**2 / 2
    side.axvspan(min(state.high, mu[-1]), mu[-1], color="0.93", lw=0, label="outside the box")
    side.plot(mu, gain, color=INK, lw=2, label=r"gain $g(\mu)$")
    side.plot(newton, newton * state.slope / 2, "o", mfc="none", color=NEGATIVE, ms=11, label="Newton")
    step = min(newton, state.high)
    at = step * state.slope - state.curvature * step**2 / 2
    side.plot(step, at, "D", color=POSITIVE, ms=5.5, label="taken")
    side.set(xlabel=r"step length $\mu$", ylabel="gain", ylim=(0, 1.6 * newton * state.slope / 2))
    side.legend(frameon=False, fontsize=8, loc="upper left", ncols=2)
    return state


show_step(4)
plt.show()

# %%
# The left panel shows the box of the two variables, with contours of :math:`f`. The sum of both variables is fixed, so
# the point moves along a straight line, and stops where the line touches a contour. The right panel shows the gain
# along this line, a parabola.
#
# A parabola
# ----------
#
# Put :math:`\alpha+\mu(e_i-e_j)` into :math:`f(\alpha)=y^\top\alpha-\tfrac12\alpha^\top K\alpha`. Subtracting
# :math:`f(\alpha)` leaves the *gain* of a step of length :math:`\mu`:
#
# .. math::
#
#    g(\mu) = \mu\,\ell-\tfrac12\,q\,\mu^2, \qquad \ell=G_i-G_j, \qquad q=K_{ii}+K_{jj}-2K_{ij}.
#
# At :math:`\mu=0` the slope of :math:`g` is :math:`\ell`. The curvature :math:`q=(e_i-e_j)^\top K(e_i-e_j)` is the
# squared distance :math:`\lVert\varphi(x_i)-\varphi(x_j)\rVert^2` of examples :math:`i` and :math:`j`, so it is never
# negative. At the top of the parabola :math:`g'(\mu)=\ell-q\mu` is zero. The step to the top is the *Newton step*
# :math:`\hat\mu`, and it gains :math:`\tilde g`:
#
# .. math:: \hat\mu=\frac{\ell}{q}, \qquad \tilde g = g(\hat\mu)=\frac{\ell^2}{2q} .
#
# Cut by the box
# --------------
#
# The step has to stay between the limits lo and hi of :doc:`chapter 3 <03_why_two>`. If a limit comes before the top,
# the highest feasible point of the parabola is at this limit. So the best feasible step is
#
# .. math:: \mu = \min\bigl(\max(\hat\mu,\ \text{lo}),\ \text{hi}\bigr),
#
# as in the package:
#
# .. shipped:: core/steps/newton.py
#    :twin:
#
# A step that ends at the top is called *free*, like the step in the first figure. A step that ends at the edge of the
# box is *clipped*, like this step of the same run:

# fold: The code of this figure
# alt: Two panels show a clipped step. The step ends at the edge of the box, although the parabola still rises beyond,
#     and gains less than the Newton step would.
state = show_step(8)
plt.show()

# %%
# The stepper shows both pictures for every step, under "The pair that moves next". With a small :math:`C` most steps
# are clipped; with a large :math:`C` few are.
#
# .. stepper::
#    :selector: second-order
#    :C: 10
#
# The step, taken
# ---------------
#
# To choose the next pair, the solver needs the gradient at the new point. Because :math:`G=y-K\alpha` is linear in
# :math:`\alpha`, the solver can update :math:`G`:
#
# .. math:: G \leftarrow G-\mu\,(K_{i\cdot}-K_{j\cdot}) .
#
# Here :math:`K_{i\cdot}` is row :math:`i` of :math:`K`. A step needs only two rows, so the whole of :math:`K` need not
# fit into memory.
#
# .. shipped:: core/state.py
#    :object: SolverState.move moved

G = state.gradient.copy()
i, j = SecondOrder().select(state)
state.measure(i, j)
mu = NewtonStep().length(state, i, j)
state.move(i, j, mu)
rows = problem.gram.block(np.array([i, j]))
print("updated as the formula says:", np.allclose(state.gradient, G - mu * (rows[0] - rows[1])))
print(
    f"distance from a gradient from scratch: {np.abs(state.gradient - problem.gradient(state.alpha)).max():.0e}"
)

# %%
# The first branch of ``move`` takes the step of this chapter, the second branch a step of a rule with momentum
# (:doc:`chapter 10 <10_two_steps_at_once>`).
#
# A variable that reaches its bound is *set* to the bound. The sum :math:`\alpha_i+\mu` would be rounded, but
# :math:`\alpha_i=U_i` must hold exactly, because this equality decides whether the variable may rise. Each update
# rounds :math:`G` a little. When the rounding could mislead the stopping rule, the package computes :math:`G` anew.
#
# No parabola
# -----------
#
# If examples :math:`i` and :math:`j` are the same point, :math:`q=0`, and the parabola is a straight line. If their
# labels differ, this line rises for ever, and the Newton step would divide by zero. Like LIBSVM, the package replaces
# :math:`q` by :math:`10^{-12}`: the formula then gives a giant step, and the box cuts it. If a kernel is not positive
# semi-definite, :math:`q` may be negative; the package then also takes :math:`10^{-12}`.

twins = DualProblem.classification(np.zeros((2, 1)), np.array([-1, 1]), kernel=RBF(1.0), C=5.0)
state = next(iterate(twins, step=NewtonStep()))
print(f"q = {state.raw_curvature:g}, used {state.curvature:g}")
print(f"Newton step {state.last_newton:.0e}, taken {state.last_step:g}")
print("α =", state.alpha)

# %%
# .. admonition:: Known elsewhere as
#
#    The Newton step is also called the *analytic step* or an *exact line search* along :math:`e_i-e_j`. The curvature
#    :math:`q` is :math:`\eta` in Platt's paper. Setting a variable back to its bound is *clipping* or *projection*.
#
# Exercises
# ---------
#
# 1. ★ Derive :math:`g(\mu)`.
# 2. ★★ Show that a clipped step gains :math:`\tfrac12q\mu(2\hat\mu-\mu)`, and conclude that half a Newton step gains
#    three quarters as much as the whole step.
# 3. ★ Which steps :math:`\mu` gain anything at all?
# 4. ★★ In the last example, why does :math:`\alpha` end at its bounds, and what is the duality gap at the end?
#
# .. fold:: Hints
#
# 1. Write :math:`d=e_i-e_j` and expand :math:`(\alpha+\mu d)^\top K(\alpha+\mu d)`.
# 2. Replace :math:`\ell` by :math:`q\hat\mu` in :math:`g`.
# 3. The parabola :math:`g` is zero at :math:`\mu=0` and at a second place.
# 4. Compute :math:`G` at :math:`\alpha=0`. How does a step change :math:`G` if the two rows of :math:`K` are equal?
#
# .. endfold::
#
# .. fold:: Answers

share = np.array([0.25, 0.5, 1.0, 1.1, 1.5, 2.0])
print("2. step / Newton step ", share)
print("   gain / Newton gain ", 2 * share - share**2)
print(f"4. duality gap {twins.duality_gap(state.alpha):.1e}, objective {twins.objective(state.alpha):g}")

# %%
# 1. :math:`y^\top(\alpha+\mu d)-\tfrac12(\alpha+\mu d)^\top K(\alpha+\mu d)-f(\alpha)
#    =\mu\,(y-K\alpha)^\top d-\tfrac12\mu^2\,d^\top Kd` with :math:`d=e_i-e_j`. The first factor is
#    :math:`G^\top d=G_i-G_j`.
# 2. Put :math:`\ell=q\hat\mu` into :math:`g`. A step :math:`\mu=\omega\hat\mu` gains the share :math:`2\omega-\omega^2`
#    of :math:`\tilde g`, which is 0.75 for :math:`\omega=\tfrac12`. A step a tenth longer than :math:`\hat\mu` gains
#    one per cent less than :math:`\tilde g`: :class:`~refsvm.core.steps.overrelaxed.OverrelaxedNewtonStep` takes such
#    steps on purpose.
# 3. The steps between 0 and :math:`2\hat\mu` gain.
# 4. The two rows of :math:`K` are equal, so the slope stays :math:`G_1-G_0=2` until both variables are at their bounds.
#    The duality gap is zero: :math:`f=2C`, and the two slacks of 1 also cost :math:`2C`.
#
# .. endfold::
#
# .. shipped:: core/steps/overrelaxed.py
#    :twin:
#    :fold: The whole of the over-relaxed step
#
# .. shipped:: core/steps/base.py
#    :fold: What a step rule is
