r"""
16 · Other boxes
================

Classification, regression, novelty detection and the hard margin look like four methods. This chapter derives each
method as :doc:`chapter 2 <02_prices>` did, with a price for each constraint. Each method leads to the same dual problem
with a different linear term, sum and box, so the same selectors and step rules serve all four.
"""

# fold: Imports, the data, and the code of this figure
# alt: The left panel shows a regression, a wavy function in a shaded tube. The right panel shows novelty detection, a
#     function that is near zero where the examples lie and falls on both sides.
from functools import partial
from timeit import repeat

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits, load_iris, load_wine, make_blobs
from sklearn.model_selection import StratifiedShuffleSplit, train_test_split
from sklearn.multiclass import OneVsRestClassifier, OutputCodeClassifier
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

from refsvm import (
    RBF,
    SVC,
    SVR,
    DualProblem,
    HybridMaximumGain,
    MostViolatingPair,
    OneClassSVM,
    SecondOrder,
    regularization_path,
    solve,
)

plt.rcParams.update(
    {"figure.constrained_layout.use": True, "axes.spines.top": False, "axes.spines.right": False}
)
BLUE, ORANGE, INK = "#0072B2", "#D55E00", "#222222"

rng = np.random.default_rng(4)
x = np.sort(rng.uniform(-3.0, 3.0, 40))
X = x[:, None]
labels = np.where(x + 0.4 * rng.normal(size=40) > 0, 1, -1)
separable = np.where(x > 0, 1, -1)
targets = np.sin(2.0 * x) + 0.1 * rng.normal(size=40)
kernel = RBF(1.0)

line = np.linspace(-5.0, 5.0, 400)[:, None]
figure, (left, right) = plt.subplots(1, 2, figsize=(8.4, 3.6))
regression = SVR(kernel=kernel, C=2.0, epsilon=0.2).fit(X, targets)
h = regression.predict(line)
left.fill_between(line[:, 0], h - 0.2, h + 0.2, color=BLUE, alpha=0.15, lw=0, label=r"tube, $\pm\varepsilon$")
left.plot(line, h, color=BLUE, label="h(x)")
left.plot(x, targets, ".", color=INK, label="examples")
left.plot(
    x[regression.support_],
    targets[regression.support_],
    "o",
    mfc="none",
    color=ORANGE,
    label="support vectors",
)
left.set(title="regression", xlabel="x", ylabel="target", xlim=(-3.5, 3.5))
left.legend(frameon=False, fontsize=8, loc="upper center", bbox_to_anchor=(0.5, -0.2), ncols=2)
novelty = OneClassSVM(kernel=kernel, nu=0.2).fit(X)
right.plot(line, novelty.decision_function(line), color=BLUE, label="h(x)")
right.plot(x, np.zeros(40), "|", color=INK, ms=12, label="examples")
right.axhline(0.0, color="0.7", lw=0.8)
right.set(title="novelty detection", xlabel="x", ylabel="h(x)")
right.legend(frameon=False, fontsize=8, loc="upper center", bbox_to_anchor=(0.5, -0.2), ncols=2)
plt.show()

# %%
# Prices once more
# ----------------
#
# Each derivation ends at
#
# .. math::
#
#    \max_\alpha\; v^\top\alpha - \tfrac12\alpha^\top K\alpha
#    \quad\text{where}\quad \mathbf 1^\top\alpha = z,\; L \le \alpha \le U .
#
# Each constraint of the form "at least" gets a price, a multiplier :math:`a\ge0`. A minus before :math:`h` in the
# constraint makes :math:`\alpha` negative, a plus positive; :math:`v` is this sign times the right-hand side. A slack
# with the cost :math:`C` caps the price at :math:`C`. The derivative with respect to :math:`b` fixes the sum :math:`z`
# of all :math:`\alpha`.
#
# **Hard margin.** Slack is not allowed: :math:`y_ih(x_i)\ge1`. Nothing caps the prices, so the box is open on one side:
# :math:`[0,\infty)` or :math:`(-\infty,0]`. If no street exists, the prices grow without limit, and the solver reports
# this.
#
# **Regression.** The target :math:`y_i` is a number, and errors up to :math:`\varepsilon` cost nothing:
#
# .. math::
#
#    \min\ \tfrac12\lVert w\rVert^2+C\sum_i(\xi_i+\xi_i') \quad\text{where}\quad
#    h(x_i)\ge y_i-\varepsilon-\xi_i, \quad -h(x_i)\ge -y_i-\varepsilon-\xi_i', \quad \xi,\xi'\ge0 .
#
# Each example has two prices. The first price pulls :math:`h(x_i)` up: :math:`\alpha_i\in[0,C]` with
# :math:`v_i=y_i-\varepsilon`. The second price pulls :math:`h(x_i)` down: :math:`\alpha_{n+i}\in[-C,0]` with
# :math:`v_{n+i}=y_i+\varepsilon`. Both variables of an example share its kernel row. The representer theorem gives
# :math:`w=\sum_i(\alpha_i+\alpha_{n+i})\varphi(x_i)`. No cost contains :math:`b`, so the sum is :math:`z=0`.
#
# **Novelty detection.** The examples have no labels. Which region holds most examples? Ask for a half space far from
# the origin:
#
# .. math::
#
#    \min\ \tfrac12\lVert w\rVert^2+\sum_i\xi_i+\nu n\,b
#    \quad\text{where}\quad w\cdot\varphi(x_i)+b\ge-\xi_i,\quad \xi_i\ge0 .
#
# The right-hand side is zero, so :math:`v=0`. A unit of slack costs 1, so the box is :math:`[0,1]`. A unit of :math:`b`
# costs :math:`\nu n`. The slope of the bill in :math:`b`, :math:`\nu n-\sum_i\alpha_i`, has to vanish, so
# :math:`z=\nu n`. An example outside the region has :math:`\alpha_i=1`, so at most :math:`\nu n` examples are outside.
# No :math:`\alpha_i` exceeds 1, so at least :math:`\nu n` examples are support vectors. (*SVDD* by Tax and Duin (2004)
# asks for the smallest ball around most :math:`\varphi(x_i)`. If all :math:`k(x_i,x_i)` are equal, SVDD has the same
# dual problem up to constants.)
#
# **ν-SVC.** Let :math:`\rho`, the value of :math:`|h|` on the margins, be an unknown with the cost :math:`-\nu\rho`:
#
# .. math::
#
#    \min\ \tfrac12\lVert w\rVert^2-\nu\rho+\tfrac1n\sum_i\xi_i
#    \quad\text{where}\quad y_ih(x_i)\ge\rho-\xi_i,\quad \xi_i,\,\rho\ge0 .
#
# A unit of slack costs :math:`1/n`, so :math:`a_i\le1/n`. If :math:`\rho>0`, the slope of the bill in :math:`\rho`
# vanishes, which means :math:`\sum_ia_i=\nu`. So at most :math:`\nu n` examples are inside the street or wrong, and at
# least :math:`\nu n` are support vectors. The problem above cannot fix the sum of the :math:`a_i`, but dividing
# :math:`w`, :math:`b`, :math:`\xi` and :math:`\rho` by the optimal :math:`\rho` gives the problem of chapter 1 with
# :math:`C=1/(n\rho)`. So the path of :math:`C` contains every ν-SVC with :math:`\rho>0`. *ν-SVR* likewise makes
# :math:`\varepsilon` an unknown that costs :math:`\nu`. At most the share :math:`\nu` of the examples is outside the
# tube, and at least the share :math:`\nu` are support vectors.
#
# Conversely, every machine on this path is, up to scale, the ν-SVC with :math:`\nu=\sum_ia_i/(nC)`. For labelled points
# on a line the figure shows :math:`\nu` and the two shares that it bounds:

# fold: The code of this figure
# alt: Over C, on a logarithmic axis, nu falls smoothly after a level start. It lies between two jagged curves: above it
#     the share of support vectors, below it the share of examples inside the street or wrong.
prices, curves = np.geomspace(0.05, 50.0, 80), []
for C in prices:
    a = np.abs(solve(DualProblem.classification(X, labels, kernel=kernel, C=C)).alpha)
    curves.append(((a > 0.0).mean(), a.sum() / (len(a) * C), (a == C).mean()))
figure, axes = plt.subplots(figsize=(6.4, 3.0))
names = "support vectors", r"$\nu$", "inside the street or wrong"
for curve, name, colour in zip(np.transpose(curves), names, (BLUE, INK, ORANGE), strict=True):
    axes.semilogx(prices, curve, color=colour, label=name)
axes.set(xlabel="C", ylabel="share of the examples")
axes.legend(frameon=False)
plt.show()

# %%
# The table shows a row for each constraint:
#
# ========================================================  =======================  ================  =============
# constraint of the primal                                  linear term :math:`v_i`  box               sum :math:`z`
# ========================================================  =======================  ================  =============
# :math:`y_ih(x_i)\ge1-\xi_i`, :math:`y_i=+1`               :math:`1`                :math:`[0,C]`     0
# :math:`y_ih(x_i)\ge1-\xi_i`, :math:`y_i=-1`               :math:`-1`               :math:`[-C,0]`    0
# :math:`y_ih(x_i)\ge1`, hard                               :math:`y_i`              open on one side  0
# :math:`h(x_i)\ge y_i-\varepsilon-\xi_i`                   :math:`y_i-\varepsilon`  :math:`[0,C]`     0
# :math:`-h(x_i)\ge-y_i-\varepsilon-\xi_i'`                 :math:`y_i+\varepsilon`  :math:`[-C,0]`    0
# :math:`h(x_i)\ge-\xi_i`, with the cost :math:`\nu n\,b`   :math:`0`                :math:`[0,1]`     :math:`\nu n`
# ========================================================  =======================  ================  =============
#
# .. shipped:: core/formulations.py
#    :object: Formulations.regression Formulations.one_class
#    :fold: Regression and novelty detection in the package
#
# Four problems on the same examples
# ----------------------------------

problems = {
    "classification": DualProblem.classification(X, labels, kernel=kernel, C=2.0),
    "hard margin": DualProblem.classification(X, separable, kernel=kernel, C=np.inf),
    "regression": DualProblem.regression(X, targets, kernel=kernel, C=2.0, epsilon=0.2),
    "novelty": DualProblem.one_class(X, kernel=kernel, nu=0.2),
}

# %%
# The boxes, drawn
# ----------------
#
# With a hard margin one end of each bar is open. In regression at least one of the two variables of an example is zero.
# In novelty detection all bars are :math:`[0, 1]`, and the sum of the variables is :math:`z = \nu n = 8`.


# fold: The code of this figure
# alt: Four panels show a grey bar for the box of each variable and a dot for its value. The bars reach up or down from
#     zero in classification, nearly to the edge of the picture with a hard margin, half up and half down in regression,
#     and from zero to one in novelty detection.
def draw(axes, name, problem, alpha):
    """Draw the box of a problem, and α in it."""
    top = 1.15 * np.abs(alpha).max()
    for i, (low, high) in enumerate(zip(problem.lower, problem.upper, strict=True)):
        name_once = None if i else "box $[L_i, U_i]$"
        axes.plot(
            [i, i],
            [max(low, -top), min(high, top)],
            color="0.85",
            lw=3,
            solid_capstyle="butt",
            label=name_once,
        )
    axes.plot(alpha, ".", color=ORANGE, ms=5, label=r"$\alpha_i$ at the optimum")
    axes.axhline(0.0, color=INK, lw=0.6)
    axes.set(title=f"{name}: z = {problem.z:g}", xlabel="variable", ylabel=r"$\alpha$")


figure, grid = plt.subplots(2, 2, figsize=(8.4, 5.6))
for axes, (name, problem) in zip(grid.flat, problems.items(), strict=True):
    draw(axes, name, problem, solve(problem).alpha)
figure.legend(*grid[0, 0].get_legend_handles_labels(), loc="outside lower center", ncols=2, frameon=False)
plt.show()

# %%
# The same selectors, swapped in each
# -----------------------------------
#
# The optimum does not depend on the selector.

print(f"{'':18}" + "".join(f"{name:>16}" for name in problems))
for selector in (MostViolatingPair(), SecondOrder(), HybridMaximumGain()):
    solutions = [solve(problem, selector=selector, shrinking=False) for problem in problems.values()]
    steps = "".join(f"{solution.iterations:16d}" for solution in solutions)
    print(f"{type(selector).__name__:18}{steps}")
    for problem, solution in zip(problems.values(), solutions, strict=True):
        assert abs(solution.objective - solve(problem).objective) <= 1e-2 * (1.0 + abs(solution.objective))

# %%
# The functions in the first figure come from :class:`~refsvm.estimators.svr.SVR` and
# :class:`~refsvm.estimators.one_class.OneClassSVM`. Examples with :math:`h(x) < 0` are outside the region.

outside = int((novelty.predict(X) < 0).sum())
print(f"{outside} of 40 examples are outside; at most ν·n = 8 may be")

# %%
# .. shipped:: core/solver/hard_margin.py
#    :fold: How the solver notices that nothing separates
#
# More than two classes
# ---------------------
#
# With :math:`k` classes, train a street for each of the :math:`k(k-1)/2` pairs of classes, on the examples of the pair,
# and let each street vote. All streets share one kernel matrix. If several classes share the most votes, the first
# wins, as in LIBSVM.
#
# Assume that training time grows like the square of the number of examples (:doc:`chapter 9 <09_does_it_end>`). A pair
# of classes of equal size has :math:`2n/k` examples, so all pairs cost
#
# .. math:: \frac{k(k-1)}2\Bigl(\frac{2n}k\Bigr)^2 = 2n^2\,\frac{k-1}k \;<\; 2n^2 ,
#
# which is less than two streets on all :math:`n` examples cost. The :math:`k` streets of one class against all other
# classes cost :math:`k\,n^2`.
#
# Four other schemes:
#
# * *One-vs-rest* predicts the class whose street against all other classes has the largest :math:`h`.
# * A *directed acyclic graph* of pairs (Platt and others, 2000) takes the street between the first and the last class
#   of a list, removes the loser, and repeats. The graph needs the same streets as the votes, but a prediction uses only
#   :math:`k-1` streets.
# * *Output codes* (Dietterich and Bakiri, 1995) give each class a word of bits. For each bit, a street separates the
#   classes with 1 from the classes with 0. The class whose word is nearest to the predicted bits wins. Words that
#   differ in many bits correct errors of single streets. With three classes, each such street separates one class from
#   the other two, so output codes and one-vs-rest have similar errors on iris and wine below.
# * A *joint machine* (Crammer and Singer, 2001) trains a :math:`w_c` for each class in a single problem without
#   intercepts:
#
#   .. math::
#
#      \min\ \tfrac12\sum_c\lVert w_c\rVert^2+C\sum_i\xi_i \quad\text{where}\quad
#      (w_{y_i}-w_c)\cdot\varphi(x_i)\ge1-\xi_i\ \text{for}\ c\ne y_i,\quad \xi_i\ge0 .
#
#   The constraint of :math:`i` and :math:`c` gets the price :math:`a_{ic}`. Let :math:`\alpha_{ic}=-a_{ic}` for
#   :math:`c\ne y_i`, and let :math:`\alpha_{iy_i}` be the sum of all prices of :math:`i`. The slack caps this sum at
#   :math:`C`. The derivative with respect to :math:`w_c` gives :math:`w_c=\sum_i\alpha_{ic}\varphi(x_i)`, so the bill
#   becomes
#
#   .. math::
#
#      \max_\alpha\; \sum_i\alpha_{iy_i}-\tfrac12\sum_c\alpha_c^\top K\alpha_c \quad\text{where}\quad
#      \sum_c\alpha_{ic}=0,\quad \alpha_{iy_i}\le C,\quad \alpha_{ic}\le0\ \text{for}\ c\ne y_i .
#
#   Each example has its own sum constraint, so our solver cannot solve this problem; LIBLINEAR has a solver for the
#   linear kernel. Weston and Watkins (1999) give each constraint its own slack. Where each class has less than half of
#   the probability, the joint machine may predict another class than the likeliest, even with unlimited data; the
#   machine of Lee, Lin and Wahba (2004) predicts the likeliest class.

# fold: The code of this figure
# alt: In each panel straight lines divide the plane among three classes, clouds side by side, the middle cloud a little
#     higher. With votes and the joint machine, the middle region is a wedge around its cloud. With one-vs-rest the
#     wedge ends higher and misses several points of its cloud.
kind = np.repeat([0, 1, 2], 50)
plane = np.column_stack([1.4 * (kind - 1), 0.5 * (kind == 1)]) + 0.4 * rng.normal(size=(150, 2))
model = SVC(kernel="linear", decision_function_shape="ovo")
panels = {
    "votes": model,
    "one-vs-rest": OneVsRestClassifier(SVC(kernel="linear")),
    "joint": LinearSVC(multi_class="crammer_singer", random_state=0),
}
side = np.linspace(-2.4, 2.4, 120)
grid = np.stack(np.meshgrid(side, side), axis=-1).reshape(-1, 2)
figure, row = plt.subplots(1, 3, figsize=(10, 3.9))
for axes, (name, scheme) in zip(row, panels.items(), strict=True):
    axes.contourf(side, side, scheme.fit(plane, kind).predict(grid).reshape(120, 120), levels=[-0.5, 0.5, 1.5, 2.5],
                  colors=["#cfe3f1", "#f7dcc8", "#cdeadf"])  # fmt: skip
    for number, (colour, marker) in enumerate(((BLUE, "o"), (ORANGE, "^"), ("#009E73", "s"))):
        axes.scatter(*plane[kind == number].T, s=14, c=colour, marker=marker, label=f"class {number}")
    axes.set(xticks=[], yticks=[], xlim=(-2.4, 2.4), aspect="equal")
    axes.set(title=f"{name}: {scheme.score(plane, kind):.1%} right")
figure.legend(*row[0].get_legend_handles_labels(), loc="outside lower center", ncols=3, frameon=False)
plt.show()

# %%
# No line separates the middle class from both others, so of these schemes one-vs-rest gets the most points wrong.
#
# The next lines compare all these schemes except the graph, on iris, wine and a third of the digits, with five random
# splits. Features are scaled on the training examples of each split, and :math:`\gamma=1/d`. In each split, each scheme
# takes the best of five :math:`C` on a validation part of the training examples. For each set the first line shows the
# mean and standard deviation of the error over the splits. The second line shows the mean and deviation of this error
# minus the error of the first scheme with the same kernel.

# fold: Errors of five schemes on iris, wine and digits
splits = StratifiedShuffleSplit(5, test_size=0.3, random_state=0)
print(f"{'':8}{'votes':>14}{'rest':>15}{'codes':>15} |{'rest, linear':>14}{'joint, linear':>15}")
for name, real, every in (("iris", load_iris(), 1), ("wine", load_wine(), 1), ("digits", load_digits(), 3)):
    raw, target = real.data[::every], real.target[::every]
    street = partial(SVC, gamma=1.0 / raw.shape[1])
    linear = partial(LinearSVC, loss="hinge", max_iter=100_000, random_state=0)
    schemes = (
        street,
        lambda C, street=street: OneVsRestClassifier(street(C=C)),
        lambda C, street=street: OutputCodeClassifier(street(C=C), code_size=2.0, random_state=0),
        lambda C, linear=linear: linear(C=C / 10.0),
        lambda C, linear=linear: linear(C=C / 10.0, multi_class="crammer_singer"),
    )
    errors = np.empty((5, 5))  # split, scheme
    for row, (train, test) in zip(errors, splits.split(raw, target), strict=True):
        features = StandardScaler().fit(raw[train]).transform(raw)

        def error(model, known, unseen, features=features, target=target):
            return np.mean(
                model.fit(features[known], target[known]).predict(features[unseen]) != target[unseen]
            )

        part, judge = train_test_split(train, test_size=0.3, stratify=target[train], random_state=0)
        for k, scheme in enumerate(schemes):
            least = min((error(scheme(C=C), part, judge), C) for C in (0.1, 1.0, 10.0, 100.0, 1000.0))
            row[k] = error(scheme(C=least[1]), train, test)
    for label, each in ((name, errors), ("", errors - errors[:, [0, 0, 0, 3, 3]])):
        shares = [
            f"{m:7.1%} ± {s:.1%}" for m, s in zip(each.mean(axis=0), each.std(axis=0, ddof=1), strict=True)
        ]
        print(f"{label:8}{'  '.join(shares[:3])} |{'  '.join(shares[3:])}")
clouds = make_blobs(8000, n_features=10, centers=10, cluster_std=4.0, random_state=0)
print("seconds to train on ten clouds, by pairs and by rest")
for n in (2000, 4000, 8000):
    few = [each[:n] for each in clouds]
    seconds = [
        min(repeat(partial(scheme.fit, *few), number=1, repeat=2))
        for scheme in (SVC(gamma=0.01), OneVsRestClassifier(SVC(gamma=0.01)))
    ]
    print(f"n = {n}: {seconds[0]:.2f}, {seconds[1]:.2f}")

# %%
# With the Gaussian kernel no mean difference exceeds its standard deviation, so the table does not rank these schemes.
# Rifkin and Klautau (2004) also found one-vs-rest as accurate as other schemes if its streets are tuned well. Hsu and
# Lin (2002) recommend votes of pairs and the directed graph, because both train fast. On the ten clouds, pairs train
# faster than one-vs-rest at every :math:`n`. On iris, which has a middle class, the linear joint machine makes fewer
# errors than linear one-vs-rest.
#
# A sigmoid, fitted on decision values of held-out examples, turns the :math:`h` of a pair into a probability
# :math:`r_{ij}` of class :math:`i` in its pair with class :math:`j`. Class probabilities :math:`p` would give
# :math:`r_{ij}=p_i/(p_i+p_j)`, so :math:`r_{ji}\,p_i=r_{ij}\,p_j`. The equations of all pairs rarely have a common
# solution. Wu, Lin and Weng (2004) *couple* the pairs by least squares:
#
# .. math::
#
#    \min_p\; \sum_i\sum_{j\ne i}(r_{ji}\,p_i-r_{ij}\,p_j)^2 = 2\,p^\top Qp \quad\text{where}\quad \sum_ip_i=1 ,
#
# with :math:`Q_{ii}=\sum_{j\ne i}r_{ji}^2` and :math:`Q_{ij}=-r_{ji}r_{ij}`. With a price :math:`\lambda` for the sum
# constraint, the optimum solves the linear system :math:`Qp+\lambda\mathbf 1=0`, :math:`\mathbf 1^\top p=1`. This
# solution has :math:`p\ge0`, because the objective at :math:`|p|/\sum_i|p_i|` is never larger than at :math:`p`.
# (Hastie and Tibshirani (1998) minimise a Kullback-Leibler divergence instead.) The probabilities of these three pairs
# contradict each other:

r = np.array([[0.0, 0.8, 0.6], [0.2, 0.0, 0.7], [0.4, 0.3, 0.0]])
system = np.ones((4, 4))
system[:3, :3], system[3, 3] = np.diag((r**2).sum(axis=0)) - r * r.T, 0.0
p = np.linalg.solve(system, [0.0, 0.0, 0.0, 1.0])[:3]
odds = r / np.where(r.T > 0.0, r.T, 1.0)
print(
    f"odds of class 0 against 2: {odds[0, 2]:.1f} by their pair, {odds[0, 1] * odds[1, 2]:.1f} through class 1"
)
print(f"p = {p.round(3)}, with the odds {p[0] / p[2]:.1f}")

# %%
# The package leaves class probabilities to scikit-learn, which calibrates each class against all others and divides by
# the sum (:doc:`/many_models`).
#
# With several classes each street has its own path of :math:`C` (:doc:`chapter 15 <15_the_path_of_c>`), so the error of
# the vote is a step function of :math:`C`.

path = regularization_path(plane[::2], kind[::2], kernel=RBF(1.0), C_min=0.05, C_max=50.0)
curve = path.validation_error(plane[1::2], kind[1::2])
low, high, error = curve.best()
print(f"{len(path.C)} breakpoints of {len(path.paths)} paths; the error has {len(curve.errors)} steps")
print(f"least, {error:.1%}, for C from {low:.3g} to {high:.3g}")

# %%
# Leaving an example out
# ----------------------
#
# With two classes, leaving example :math:`r` out closes the box of one variable. With several classes, it closes the
# box of :math:`r` in each pair that contains the class of :math:`r`. In regression, two boxes close, one for each
# price. In novelty detection, the sum :math:`z` also becomes smaller.

# %%
# .. shipped:: analysis/scheme.py
#    :object: OneVsOne.votes
#    :fold: Counting the votes
#
# .. worth:: 16
#
#    The regression fits the labels of classification sets, so the table says little about regression on other targets.
#    No line of the table measures several classes.
#
# .. admonition:: Known elsewhere as
#
#    The tube is the *ε-insensitive loss*, votes of pairs are *one-vs-one* or *max-wins* voting, and the graph is
#    *DAGSVM*. Novelty detection is *anomaly* or *outlier detection*. Vapnik introduced this regression, and Schölkopf
#    and colleagues introduced ν (2000, 2001).
#
# Exercises
# ---------
#
# 1. ★ Set :math:`\varepsilon = 1.5`, which exceeds the distance of every target from 0. How many support vectors are
#    left?
# 2. ★ Add a copy of an example, with the other label, to the hard-margin problem. Read ``solve(...).status``.
# 3. ★★ If :math:`\varepsilon>0`, why is at least one of the two variables of a regression example zero?
# 4. ★★ Three streets can give one vote to each of three classes. Where in the first panel of the last picture does this
#    happen, and which class wins?
#
# .. fold:: Hints
#
# 1. Is :math:`h=0` inside the tube of every target?
# 2. Which function could have the right sign for both copies?
# 3. Move both variables a little towards zero.
# 4. ``model.decision_function`` returns a value for each pair, on any grid of points.
#
# .. endfold::
#
# .. fold:: Answers

flat = SVR(kernel=kernel, epsilon=1.5).fit(X, targets)
print(f"1. {len(flat.support_)} support vectors")
twice, other = np.vstack([X, X[:1]]), np.append(separable, -separable[0])
print("2.", solve(DualProblem.classification(twice, other, kernel=kernel, C=np.inf)).status.value)
both = solve(problems["regression"]).alpha.reshape(2, -1)
print(f"3. {int((both != 0).all(axis=0).sum())} examples have two weights")
first, second, third = model.decision_function(grid).T > 0.0  # of the pairs (0, 1), (0, 2), (1, 2)
round_robin = (first == third) & (first != second)
x, y = grid[round_robin].mean(axis=0)
print(f"4. {round_robin.sum()} of {len(grid)} points of the picture, around ({x:.1f}, {y:.1f});")
print(f"   predicted there: class {np.unique(model.predict(grid[round_robin]))}")

# %%
# 1. The tube around :math:`h=0` holds all targets, so α = 0 is the optimum.
# 2. No function separates two equal examples with different labels.
# 3. If both variables move towards zero by one unit, :math:`w` and the sum stay, and :math:`v^\top\alpha` gains
#    :math:`2\varepsilon`.
# 4. Each class has one vote where 0 beats 1, 1 beats 2 and 2 beats 0, or all the other way round. These points form the
#    triangle between the three lines, below the clouds. Class 0 wins, because it comes first.
#
# .. endfold::
