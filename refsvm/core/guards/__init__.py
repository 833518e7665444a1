"""Guards: objects that check a run from outside the algorithm's loop.

`refsvm.core.solver.run.Run` takes chunks of steps until a stopping rule or a limit ends the solve. The guards of a run
(`refsvm.core.guards.base.Guard`) check three things: the state before a chunk, the reason for which the run would end,
and the last point. `refsvm.services.guards.chosen` chooses the guards of a run.
"""
