"""Guards: what watches over a run without being part of the algorithm, each in a file that the loop does not know.

`refsvm.solver.run.Run` takes chunks of steps until a verdict stands. Its guards (`refsvm.guards.base.Guard`) look at
the state before a chunk, review the verdict, and look at the last point; `refsvm.guards.chosen` has those that apply.
"""
