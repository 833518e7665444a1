"""The Numba twins: this folder mirrors `refsvm.core`, path for path.

``compiled/selectors/second_order.py`` holds the twin of the rule in ``selectors/second_order.py``, and so on.
``interface/`` has no counterpart: it holds what all compiled code shares.

=================================  ====================================================================
``interface.layout``               the state as the twins see it, the signature of each role, constants
``interface.twin``                 the decorators: how functions are compiled and cached
``interface.seeding``              what a seeder's twin is given
``interface.dispatch``             how the loop calls a rule
``interface.extremes``             the largest of many floats
``interface.rows``                 how a twin gets a kernel row, and asks for its memory
``interface.stamp``                the stamp in the names of compiled code; whether any is on disk
``interface.families``             what is loaded or compiled together
``interface.background_compiler``  lets a child process compile what is not on disk
``auto``                           which half takes the next chunk of work
``backend``, ``session``           how compiled code takes it
``twins``, ``trouble``             which rules have twins; why Numba cannot be used
``arithmetic``, ``warming``        passes over whole arrays; everything compiled on purpose
=================================  ====================================================================

A twin is a plain function of ``(parameters, state, …)`` where ``parameters`` is a float64 array of the rule's
hyper-parameters and ``state`` has the names of `refsvm.core.state.SolverState`; its numbers stand in ``state.now[0]``.
Twins reach the loop as first-class functions with one signature for each role, so one compiled loop serves every
combination and a user's own ``@njit`` function plugs in. A twin is compiled when a solve first uses it. Its code in the
disk cache carries a stamp of all files of this folder, so that it is never stale.
"""
