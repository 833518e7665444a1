"""The Numba twins of the rules, one module for each family, and the compiled loop that runs them.

==================  ========================================================
``layout``          the state as the twins see it, the signature of each role, constants
``twin``            the decorators: how functions are compiled and cached
``selectors``       twins of `refsvm.selectors`; ``gain_selectors`` of those that rank pairs by their exact gain
``steps``           twins of `refsvm.steps`
``stopping``        twins of `refsvm.stopping`; ``loo_stopping`` of the leave-one-out rule
``seeding``         what a seeder's twin is given
``seeders``         twins of `refsvm.seeders`; ``replacement`` and ``following`` of those for many examples
``state``           twins of the methods of `refsvm.state.SolverState`
``extremes``        the largest of many floats
``dispatch``        how the loop calls a rule
``loop``            the compiled counterpart of `refsvm.solver.steps`
``rounds``          compiled leave-one-out rounds
``paths``           twins of the event search of `refsvm.paths`
``kernels``         parts of kernel evaluation
``sparse``          products of sparse rows with a table
``announcement``    says so when something has to be compiled
==================  ========================================================

A twin is a plain function of ``(parameters, state, …)`` where ``parameters`` is a float64 array of the rule's
hyper-parameters and ``state`` has the names of `refsvm.state.SolverState`; its numbers stand in ``state.now[0]``.
Twins reach the loop as first-class functions with one signature for each role, so one compiled loop serves every
combination and a user's own ``@njit`` function plugs in. A twin is compiled when a solve first uses it. Its code in the
disk cache carries a stamp of all files of this folder, so that it is never stale.
"""

from refsvm.fast.announcement import announce_compilation

announce_compilation()
