"""The Numba twins: this folder mirrors `refsvm`, path for path.

``compiled/selectors/second_order.py`` holds the twin of the rule in ``selectors/second_order.py``, and so on.
``interface/`` has no counterpart: it holds what all compiled code shares.

==========================  =========================================================================
``interface.layout``        the state as the twins see it, the signature of each role, constants
``interface.twin``          the decorators: how functions are compiled and cached
``interface.seeding``       what a seeder's twin is given
``interface.dispatch``      how the loop calls a rule
``interface.extremes``      the largest of many floats
``interface.rows``          how a twin gets a kernel row, and asks for its memory
``interface.announcement``  says so when something has to be compiled; forbids it where nobody is to wait
``interface.stamp``         the stamp in the names of compiled code; whether code is on disk
``interface.families``      what is loaded or compiled together
``interface.beside``        lets a child process compile what is not on disk
``interface.child``         that process
==========================  =========================================================================

A twin is a plain function of ``(parameters, state, …)`` where ``parameters`` is a float64 array of the rule's
hyper-parameters and ``state`` has the names of `refsvm.state.SolverState`; its numbers stand in ``state.now[0]``.
Twins reach the loop as first-class functions with one signature for each role, so one compiled loop serves every
combination and a user's own ``@njit`` function plugs in. A twin is compiled when a solve first uses it. Its code in the
disk cache carries a stamp of all files of this folder, so that it is never stale.
"""
