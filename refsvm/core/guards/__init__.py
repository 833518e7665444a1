"""Guards: objects that watch over a run without being part of the algorithm; the loop does not know them.

`refsvm.core.solver.run.Run` takes chunks of steps until a verdict ends the solve. The guards of a run
(`refsvm.core.guards.base.Guard`) check the state before a chunk, review the verdict, and check the last point.
`refsvm.services.guards.chosen` chooses the guards of a run.
"""
