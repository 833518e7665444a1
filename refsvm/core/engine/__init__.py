"""The limits of a solve, its progress report, and the warning after a solve that did not converge.

==========  ===================================================================
`limits`    iterations, seconds, callback, Ctrl-C
`progress`  Progress: how far a call is, for the progress line and the callback
`unsolved`  the warning about models that are not solved
==========  ===================================================================
"""
