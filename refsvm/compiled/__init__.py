"""Twins: the rules of `refsvm.core` compiled by Numba, each in a file with the same path as in `refsvm.core`.

For example, ``compiled/selectors/second_order.py`` holds the twin of the rule in ``core/selectors/second_order.py``.
``interface/`` has no counterpart: it holds the parts that all compiled code shares.

=================================  ====================================================================
``interface.layout``               the arrays that a twin gets, the signature of each role, constants
``interface.twin``                 the decorators: how functions are compiled and cached
``interface.seeding``              the arguments of a seeder's twin
``interface.dispatch``             how the loop calls a rule
``interface.extremes``             the largest of many floats
``interface.rows``                 how a twin gets a kernel row and the memory for it
``interface.stamp``                the stamp in the names of files of compiled code
``interface.families``             the functions that are loaded or compiled together
``interface.background_compiler``  lets a child process compile code that is not on disk
``auto``                           chooses NumPy or compiled code for each chunk of work
``backend``, ``session``           run a chunk of work in compiled code
``twins``, ``trouble``             which rules have twins; why Numba cannot be used
``arithmetic``, ``warming``        arithmetic on whole arrays; compilation of all code on request
=================================  ====================================================================

A twin is a function of ``(parameters, state, …)`` where ``parameters`` is a float64 array of the rule's
hyper-parameters. The arrays in ``state`` are named as in `refsvm.core.state.SolverState`; the numbers of the state are
in ``state.now[0]``. All twins of a family, such as the selectors, share one signature. One compiled loop can
therefore call every combination of rules, including ``@njit`` functions that users write. A twin is compiled when a
solve first uses it, and kept in a disk cache. The names of cached files contain a stamp of the source files of compiled
code, so that outdated code is never used.
"""
