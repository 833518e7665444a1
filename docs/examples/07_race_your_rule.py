r"""
Race your rule
==============

You have written a rule, and want to know how it does next to the shipped ones. One call runs all of them on one
problem, and so does one command. The rule is that of :doc:`01_add_your_own_rule`, in a file.

One call
--------

:func:`~refsvm.experiment.race.compare` takes rules by their names on the command line, as objects, as classes, or as
a file, a colon, and the name of a class in it. The first one is the measure of the others.
"""

from refsvm import DualProblem, compare
from refsvm.datasets import load

heart = load("heart")
problem = DualProblem.classification(heart.X, heart.y, gamma=0.005, C=10.0)
mine = "second_order_from_below.py:SecondOrderFromBelow"
race = compare(problem, ["second-order", mine, "mvp"])
race

# %%
# The table, as text. All runs take Newton steps, end at the same KKT gap and, to its tolerance, at the same objective:

print(race)

# %%
# The picture
# -----------
#
# The KKT gap of each run against its steps: a thin line for every step, a thick one for the smallest so far.

# alt: The KKT gap of three runs on a logarithmic scale against the steps. Second order and the rule from below fall
#     side by side, the most violating pair takes longer.
race.plot()

# %%
# Steps are not all: a rule that looks at more kernel rows pays for them. The same runs against kernel rows, by what is
# missing at the objective:

# alt: The distance to the best objective of three runs against the kernel rows that were computed.
race.plot(against="rows", metric="objective")

# %%
# ``to_frame`` has the numbers of the table, for a plot of your own:

race.to_frame()[["steps", "ratio", "rows", "gap"]]

# %%
# One command
# -----------
#
# In a terminal the same race, with a table and a picture in a file, is
#
# .. code-block:: console
#
#    $ refsvm compare heart --gamma 0.005 --C 10 --tol 1e-3 --engines numpy \
#        --selectors second-order,second_order_from_below.py:SecondOrderFromBelow,mvp --plot race.svg
#
# It prints:

import subprocess
import sys
import tempfile
from pathlib import Path

picture = Path(tempfile.mkdtemp(), "race.svg")
command = ["compare", "heart", "--gamma", "0.005", "--C", "10", "--tol", "1e-3", "--engines", "numpy"]
command += ["--selectors", f"second-order,{mine},mvp", "--plot", str(picture)]
done = subprocess.run([sys.executable, "-m", "refsvm", *command], capture_output=True, text=True, check=True)
print(done.stdout)

# %%
# Selectors with steps
# --------------------
#
# Several step rules are combined with each selector. Pairs that cannot be combined are left out, with the reason:

crossed = compare(problem, ["second-order", mine], ["newton", "planning-ahead"])
print(crossed)
print(crossed.left_out)

# %%
# A solve that was recorded
# -------------------------
#
# A :class:`~refsvm.analysis.recording.Recording` stands for its run, so that a solve that you stepped through in a
# notebook need not run again. It knows no seconds.

from refsvm import NewtonStep, Recording

recording = Recording(problem, selector="mvp", step=NewtonStep())
print(compare(problem, {"by hand": recording, "second order": "second-order"}))

# %%
# One problem in one order decides nothing: on several data sets, in random orders, and with tests, the race is an
# experiment, see :doc:`/experiments`.
