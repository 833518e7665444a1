"""Guards: what watches over a run without being part of the algorithm, each in a file that the loop does not know.

`refsvm.core.solver.run.Run` takes chunks of steps until a verdict stands. Its guards (`refsvm.core.guards.base.Guard`)
look at the state before a chunk, review the verdict, and look at the last point; `refsvm.services.guards.chosen` has
those that apply.
"""
