"""The Numba twins of the rules, one module for each family, and the compiled loop that runs them.

=============  ========================================================
``layout``     the state as the twins see it, and the signature of each role
``selectors``  twins of `refsvm.selectors`
``steps``      twins of `refsvm.steps`
``stopping``   twins of `refsvm.stopping`
``loop``       the compiled counterpart of `refsvm.solver.steps`
``kernels``    the exponents of the Gaussian kernel
``sparse``     products of sparse rows with a table
=============  ========================================================

A twin is a plain function of ``(parameters, state, …)`` where ``parameters`` is a float64 array of the rule's
hyper-parameters and ``state`` has the names of `refsvm.state.SolverState`; its numbers stand in ``state.now[0]``.
Twins reach the loop as first-class functions with one signature for each role, so one compiled loop serves every
combination, the disk cache is never stale, and a user's own ``@njit`` function plugs in.
"""

from refsvm.fast.announcement import announce_compilation

announce_compilation()
