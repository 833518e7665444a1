r"""
9 · Does it end, and how long?
==============================

This chapter proves that the loop ends, measures how steps and time grow with the number of examples, and says when to
use another method.
"""

# fold: Imports, the data, and the code of this figure
# alt: The distance of the objective from its maximum is drawn over the steps, on a logarithmic axis, for three values
#     of C. The curves end in straight lines, flatter for larger C.
import matplotlib.pyplot as plt
import numpy as np

from refsvm import RBF, DualProblem, KKTGap, Linear, MostViolatingPair, NewtonStep, iterate, solve
from refsvm.datasets import load, make_banana, make_waveform

plt.rcParams.update(
    {"figure.constrained_layout.use": True, "axes.spines.top": False, "axes.spines.right": False}
)
NEGATIVE, POSITIVE, INK = "#0072B2", "#D55E00", "#222222"

heart = load("heart")
problem = DualProblem.classification(heart.X, heart.y, kernel=RBF(gamma=0.005), C=10.0)

figure, axes = plt.subplots(figsize=(6.4, 3.4))
for C, colour in ((1.0, NEGATIVE), (10.0, POSITIVE), (100.0, INK)):
    each = DualProblem.classification(heart.X, heart.y, kernel=RBF(gamma=0.005), C=C)
    top = solve(each, stop=KKTGap(1e-11)).objective
    missing = np.array([top - s.objective for s in iterate(each, step=NewtonStep(), stop=KKTGap(1e-6))])
    axes.semilogy(
        np.arange(1, len(missing) + 1), np.maximum(missing, 1e-10), color=colour, label=f"C = {C:g}"
    )
axes.set(xlabel="steps", ylabel=r"$f^*-f$")
axes.legend(frameon=False)
plt.show()

# %%
# Up, and how much
# ----------------
#
# Let every step move the most violating pair, with :math:`\ell=\psi>\varepsilon`. A free step gains :math:`\psi^2/2q`.
# The curvature :math:`q=\lVert\varphi(x_i)-\varphi(x_j)\rVert^2` is at most :math:`D^2`, the largest squared distance
# of two examples; for a Gaussian kernel :math:`D^2\le2`. So a free step gains more than :math:`\varepsilon^2/2D^2`.
# Since :math:`f` rises from 0 to at most :math:`f^*` and never falls,
#
# .. math:: \text{free steps} \;<\; \frac{2D^2f^*}{\varepsilon^2} .
#
# A clipped step of length :math:`\mu<\hat\mu` gains
# :math:`\mu\ell-\tfrac12q\mu^2\ge\tfrac12\mu\ell>\tfrac12\mu\varepsilon`, which may be tiny. So every step, free or
# clipped, gains at least
#
# .. math:: g \;\ge\; \tfrac12\,\varepsilon\,\mu , \qquad\text{so}\qquad \sum_t\mu_t \;\le\; \frac{2f^*}{\varepsilon} .
#
# So all steps together have a finite length. Suppose the loop took infinitely many steps. Then :math:`\alpha` and
# :math:`G` converge, and after some step :math:`T` no :math:`G_i` changes by more than :math:`\varepsilon/4` in total.
# Each later step raises a variable :math:`i` and lowers a variable :math:`j` with :math:`G_i>G_j+\varepsilon`, so
# :math:`G_i` stays above :math:`G_j` after :math:`T`. Assume that some variable :math:`j` both falls and rises
# infinitely often after :math:`T`.
#
# * When :math:`j` falls, its partner :math:`i` has :math:`G_i>G_j` and may rise.
# * When :math:`j` rises, :math:`G_j` is the largest in :math:`I_\text{up}`, so :math:`i` must meanwhile have reached
#   its upper bound.
# * This happens infinitely often, so some partner :math:`i` also rises and falls infinitely often.
#
# Repeating the argument gives an infinite ascending chain among finitely many variables, which is impossible. So in the
# end each variable only rises or only falls. Then each variable meets a bound at most once, and only finitely many
# steps are clipped. Only finitely many steps are free, so **the loop ends, for every** :math:`\varepsilon>0`. (Keerthi
# and Gilbert published this theorem in 2002; Chen, Fan and Lin (2006) proved convergence for second-order selection,
# Glasmachers and Igel (2006) for the hybrid, and Glasmachers (2008) for planned steps.)
#
# *Second-order selection* ensures :math:`\ell^2/q\ge\psi^2/D^2` (:doc:`chapter 7 <07_which_pair>`), so the bound on
# free steps holds. Let :math:`d^2` be the smallest curvature (the package replaces :math:`q\le0` by :math:`10^{-12}`),
# and :math:`\sigma=d/D`. Then :math:`\ell\ge\sigma\psi`, and :math:`\sigma\varepsilon` replaces :math:`\varepsilon` in
# the other bounds. The rising variable again has the largest :math:`G_i` in :math:`I_\text{up}`, so the three
# statements of the list stay true.
#
# *The rounds of* :doc:`chapter 8 <08_rows_cache_shrinking>` end for the same reason, if their steps use the most
# violating pair or second-order selection. All steps of a round have :math:`\psi>\varepsilon` in the restricted
# problem, so the bounds hold for the steps of all rounds together. When a round begins,
# :math:`G_i\ge\min_{I_\text{down}}G` for every variable of :math:`A`, and :math:`G_i\le\min_{I_\text{down}}G` for every
# left-out variable that may rise. After :math:`T` a rising variable has a larger :math:`G_i` than its partner in
# :math:`A` and than these left-out variables. So a rising variable has the largest :math:`G_i` in :math:`I_\text{up}`,
# and the statements of the list stay true.
#
# A real solve stays far below these bounds:

free, way, last = 0, 0.0, 0.0
for state in iterate(problem, selector=MostViolatingPair(), step=NewtonStep()):
    free, way = free + state.last_free, way + state.last_step
    assert state.objective >= last - 1e-9
    last = state.objective
best = solve(problem, stop=KKTGap(1e-9)).objective
print(
    f"free steps {free} < {2 * 2 * best / 1e-6:.1e};  way {way:.0f} <= {2 * best / 1e-3:.1e};  f never fell"
)

# %%
# How fast, in the end?
# ---------------------
#
# The bound on the number of free steps grows like :math:`1/\varepsilon^2`. Near the optimum the loop is far faster than
# this bound if :math:`K` is positive definite and the optimum is *nondegenerate* (no variable at a bound has
# :math:`G_i=b`). Chen, Fan and Lin (2006) proved that the variables that end at a bound stay there from some step on,
# and that each later step reduces :math:`f^*-f` at least by a fixed factor. On a logarithmic axis a fixed factor makes
# a straight line, like the ends of the curves in the first figure. At which step does the set of free variables last
# change?

toe = load("tic_tac_toe")
for name, each in (
    ("heart, Gaussian", problem),
    ("tic_tac_toe, linear", DualProblem.classification(toe.X, toe.y, kernel=Linear(), C=1.0)),
):
    before, changed = np.zeros(each.n, dtype=bool), 0
    for state in iterate(each, step=NewtonStep()):
        free = (state.lower < state.alpha) & (state.alpha < state.upper)
        if (free != before).any():
            before, changed = free, state.iteration
    print(f"{name}: {state.iteration} steps, the free set changes for the last time at step {changed}")
    end = solve(each, stop=KKTGap(1e-9))
    at_bound = (end.alpha == each.lower) | (end.alpha == each.upper)
    on_margin = np.abs(end.gradient - end.intercept) < 1e-6
    print(f"{'':19s}  {(at_bound & on_margin).sum()} variables at a bound have G = b at the optimum")

# %%
# The theorem promises nothing for tic_tac_toe: its optimum is degenerate, and its :math:`K` is singular.
#
# Convergence is slow (the factor is close to one) if many free variables have nearly parallel rows in :math:`K`. A
# large :math:`C` slows convergence: few examples stay bounded, and many neighbouring examples share a stretch of
# boundary.
#
# If few variables are free, a single linear system, :math:`G_i=b` for all free variables, can replace the last steps:
# ``solve(polish=True)`` solves this system after its last step.
#
# .. shipped:: services/guards/polish.py
#    :fold: One exact step on the free variables
#
# What it costs
# -------------
#
# * The kernel row of each example that ever moves takes :math:`nd` multiplications. All support vectors have moved, so
#   a loop that computes whole rows takes at least :math:`\#\text{SV}\cdot n\cdot d` multiplications.
# * Each step takes a few passes over :math:`n` numbers.
# * A prediction takes :math:`\#\text{SV}\cdot d` multiplications and :math:`\#\text{SV}` exponentials, because
#   :math:`h(x)=\sum_i\alpha_ik(x_i,x)+b` has a term for each support vector. With a linear kernel a prediction takes
#   only :math:`d` multiplications.
# * All of :math:`K` takes :math:`8n^2` bytes, but the loop needs only the rows of variables that move.
#
# If the share of support vectors stays constant as :math:`n` grows, their kernel rows take a constant times
# :math:`n^2d` multiplications. If the classes overlap, the share does not vanish: every training error is a bounded
# support vector. Steinwart (2003) proved for the Gaussian kernel that the share tends to *twice* the error of the best
# classifier. In this theorem :math:`nC` grows without bound and :math:`C` tends to 0; a fixed :math:`C`, as in the next
# table, is not covered.
#
# This table shows the share of support vectors, the error on new points, the multiplications of a prediction, and the
# memory of the rows and of :math:`K`. The figure shows the exponent :math:`p` of quantities that grow like :math:`n^p`:

# fold: The code of this figure
# alt: Over the number of examples, on logarithmic axes, support vectors and kernel rows grow along nearly straight
#     lines on both data sets; the steps do not.
sizes = np.array([250, 500, 1000, 2000, 4000])
samples = {
    "waveform, classes overlap": (make_waveform, 0.05, 1.0),
    "banana, classes overlap": (make_banana, 0.5, 10.0),
}
figure, row = plt.subplots(1, 2, figsize=(9.5, 3.6), sharex=True)
print(f"{'':9}{'n':>5}{'with weight':>13}{'error':>9}{'a prediction':>15}{'rows, MB':>10}{'K, MB':>8}")
for axes, (name, (make, gamma, C)) in zip(row, samples.items(), strict=True):
    counts = []
    for n in sizes:
        sample, new = make(int(n), rng=0), make(2000, rng=1)
        run = solve(
            DualProblem.classification(sample.X, sample.y, kernel=RBF(gamma), C=C),
            step=NewtonStep(),
            shrinking=False,
        )
        counts.append((np.count_nonzero(run.alpha), run.kernel_rows, run.iterations))
        wrong = np.mean(new.y * (RBF(gamma)(new.X, sample.X) @ run.alpha + run.intercept) < 0)
        print(f"{name.split(',')[0]:9}{n:5}{counts[-1][0] / n:13.1%}{wrong:9.1%}{counts[-1][0] * sample.d:15}"
              f"{8e-6 * run.kernel_rows * n:10.1f}{8e-6 * n * n:8.1f}")  # fmt: skip
    for what, values, colour in zip(
        ("support vectors", "kernel rows", "steps"),
        np.transpose(counts),
        (NEGATIVE, POSITIVE, INK),
        strict=True,
    ):
        power = f", p = {np.polyfit(np.log(sizes), np.log(values), 1)[0]:.2f}" if what != "steps" else ""
        axes.loglog(sizes, values, "o-", color=colour, label=what + power)
    axes.set(title=name, xlabel="n, the number of examples", ylabel="how many")
    axes.set_xticks(sizes, [str(n) for n in sizes])
    axes.minorticks_off()
    axes.set_yticks(few := [100, 300, 1000, 3000], [str(count) for count in few])
    axes.legend(frameon=False, fontsize=8)
plt.show()

# %%
# At these sizes the number of support vectors grows with an exponent below one, so their share falls, but stays above
# twice the error on new points. A row has :math:`n` entries, which take :math:`n\cdot d` multiplications. So the
# exponents of memory and work exceed the exponent of the number of rows by one. The number of steps follows no power of
# :math:`n`.
#
# When not a kernel machine
# -------------------------
#
# ==================================  ==================================  ============================================
# problem                             take                                because
# ==================================  ==================================  ============================================
# some tens of thousands of examples  a kernel machine                    rows and steps are affordable
# hundreds of thousands of examples   boosting                            the kernel has :math:`n^2` values
# many features of noise              boosting                            distances are mostly noise
# a straight street, many examples    LIBLINEAR, Pegasos: keep :math:`w`  :math:`d` operations a step, not :math:`n`
# long texts as counts of words       a straight street                   many features: a line separates them already
# images, sound                       a neural network                    it learns the features that a kernel is given
# a prediction in microseconds        a straight street, a small tree     :math:`h` has a term for each support vector
# an error bar at every point         a Gaussian process                  it has a variance, :math:`h` has none
# probabilities                       calibration: :doc:`/many_models`    :math:`h` is not a probability
# categories, gaps, mixed scales      trees                               they need no common scale
# ==================================  ==================================  ============================================
#
# The next table shows seconds of training and errors on new points for untuned methods: a kernel machine, a line
# (scikit-learn's ``LinearSVC``), a line on random features (see below) and gradient boosting. In table rows with a
# larger :math:`d` the data contain features of noise. Boosting hardly notices this noise; the Gaussian kernel weighs
# all features alike:
#
# .. rivals::
#
# LIBLINEAR (Hsieh et al., 2008) changes one variable at a time and updates :math:`w`. Pegasos (Shalev-Shwartz and
# others, 2007) follows the subgradient of one example at a time. The loop of this book updates :math:`G` in every step
# and is slow with a linear kernel and a large :math:`C`:

for C in (0.01, 1.0, 100.0):
    straight = DualProblem.classification(heart.X, heart.y, kernel=Linear(), C=C)
    run = solve(straight, step=NewtonStep(), shrinking=False, max_iter=60_000)
    print(f"linear kernel, C = {C:6g}: {run.iterations:6d} steps. {run.status.value}")

# %%
# How many random features can replace a kernel? For the Gaussian kernel draw directions :math:`\omega_s` at random,
# with normal entries of variance :math:`2\gamma`, and shifts :math:`u_s` between 0 and :math:`2\pi`. The product
# :math:`2\cos(\omega\cdot x+u)\cos(\omega\cdot x'+u)` is :math:`\cos(\omega\cdot(x-x'))` plus a cosine whose mean over
# :math:`u` is zero. Since :math:`\omega\cdot(x-x')` is normal with variance :math:`2\gamma\lVert x-x'\rVert^2`, the
# mean of its cosine is :math:`e^{-\gamma\lVert x-x'\rVert^2}=k(x,x')`. With :math:`D` draws, let
#
# .. math::
#
#    \varphi_D(x) = \sqrt{2/D}\,\bigl(\cos(\omega_1\cdot x+u_1),\ \dots,\ \cos(\omega_D\cdot x+u_D)\bigr),
#    \qquad \varphi_D(x)\cdot\varphi_D(x') \approx k(x,x') ,
#
# so that the inner product is a mean of :math:`D` numbers between −2 and 2. Its error falls like :math:`1/\sqrt D`
# (Rahimi and Recht, 2007). A linear machine on :math:`\varphi_D` touches :math:`nD` numbers in a pass over the
# examples. In the table this machine trains more slowly than the kernel machine, unless the data contain many features
# of noise; with many examples it predicts faster. The left panel shows the error of kernel values over a hundred draws;
# the right panel shows, for the first draw, on how many examples both machines decide alike.

# fold: The code of this figure
# alt: With more random features, the error of kernel values falls like one over the root of their number, and the
#     share of decisions that agree with the kernel machine rises to one.
rng = np.random.default_rng(0)
numbers = np.array([10, 30, 100, 300, 1000, 3000])
K = RBF(gamma=0.005)(heart.X, heart.X)
signs = np.sign(solve(problem).decision_values)
errors, agree = [], []
for D in numbers:
    squares = []
    for draw in range(100):
        omega, u = rng.normal(scale=np.sqrt(2 * 0.005), size=(heart.d, D)), rng.uniform(0, 2 * np.pi, D)
        few = np.sqrt(2 / D) * np.cos(heart.X[:100] @ omega + u)
        squares.append(np.mean((few @ few.T - K[:100, :100]) ** 2))
        if draw == 0:
            features = np.sqrt(2 / D) * np.cos(heart.X @ omega + u)
    errors.append(np.sqrt(np.mean(squares)))
    linear = solve(DualProblem.classification(features, heart.y, kernel=Linear(), C=10.0))
    agree.append(np.mean(np.sign(linear.decision_values) == signs))
figure, (left, right) = plt.subplots(1, 2, figsize=(9.5, 3.4))
left.loglog(numbers, errors, "o-", color=NEGATIVE, label="error of a kernel value, r.m.s.")
left.loglog(numbers, 1 / np.sqrt(numbers), "--", color=INK, label=r"$1/\sqrt{D}$")
left.set_yticks(shown := [0.02, 0.05, 0.1, 0.2], [str(value) for value in shown])
left.tick_params(axis="y", which="minor", labelleft=False)
right.semilogx(numbers, agree, "o-", color=POSITIVE, label="decisions as with the kernel, heart")
for axes, place in ((left, "lower left"), (right, "lower right")):
    axes.set(xlabel="D, the number of features", ylabel="error" if axes is left else "share of the decisions")
    axes.legend(frameon=False, fontsize=8, loc=place)
plt.show()

# %%
# .. worth:: 9
#
#    A smaller tolerance costs most where the free variables settle slowly. Polishing leaves a gap of rounding size if
#    few variables are free and their set is final. Polishing changes nothing on tic_tac_toe and ionosphere, where many
#    variables are free.
#
# .. admonition:: Known elsewhere as
#
#    A straight line on the logarithmic axis is *linear convergence*. The features of the last picture are *random
#    Fourier features*; the *Nyström method* takes examples in place of random directions (Williams and Seeger, 2001).
#    LIBLINEAR's method is *dual coordinate descent*, and Pegasos is *stochastic subgradient descent*.
#
# Exercises
# ---------
#
# 1. ★ Show that a clipped step gains at least :math:`\tfrac12\mu\ell`.
# 2. ★★ Add a copy of each example and halve :math:`C`. How do :math:`f^*`, the support vectors and the steps change?
# 3. ★ Where does the proof need :math:`\varepsilon>0`?
# 4. ★ A third of a hundred thousand examples are support vectors. How large is :math:`K`, and how many kernel values
#    must training compute?
# 5. ★★ In the last picture, from how many features on do both machines decide alike on 97 % of the examples? From how
#    many examples on is a step of the linear machine cheaper than a step of this loop?
#
# .. fold:: Hints
#
# 1. Compare :math:`\mu` with :math:`\ell/q`.
# 2. If each copy pays half the price for its slack, what do both copies pay together?
# 3. Which bound on the number of steps contains :math:`\varepsilon`?
# 4. Which rows does a step need?
# 5. A step of the linear machine passes over all features, a step of this loop over all examples.
#
# .. endfold::
#
# .. fold:: Answers

twice = DualProblem.classification(
    np.repeat(heart.X, 2, axis=0), np.repeat(heart.y, 2), kernel=RBF(gamma=0.005), C=5.0
)
for name, each in (("once, C = 10", problem), ("twice, C = 5", twice)):
    run = solve(each, step=NewtonStep(), shrinking=False)
    print(
        f"2. {name}: f = {run.objective:.3f}, {np.count_nonzero(run.alpha)} support vectors, {run.iterations} steps"
    )

n = 100_000
print(
    f"4. K has {n * n:.0e} numbers, {8 * n * n / 1e9:.0f} GB; at least {n // 3 * n:.1e} of them are computed"
)
enough = int(numbers[np.array(agree) >= 0.97][0])
print(f"5. from D = {enough} on")

# %%
# 1. A clipped step has :math:`\mu\le\hat\mu=\ell/q`, so :math:`q\mu\le\ell` and
#    :math:`\mu\ell-\tfrac12\mu\,(q\mu)\ge\tfrac12\mu\ell`.
# 2. With half the :math:`C` two copies count as one example, so the street and :math:`f^*` stay the same. But two
#    copies may share their weight in many ways.
# 3. Only the bound :math:`\tfrac12\mu\ell` on a gain holds without :math:`\varepsilon>0`. With :math:`\varepsilon=0`
#    the gains of free steps have no lower bound, and the loop may reach the optimum only in the limit.
# 4. Every support vector has moved, so its row was computed: a third of :math:`n` rows of :math:`n` values.
# 5. A step of the linear machine is cheaper if there are more examples than features.
#
# .. endfold::
