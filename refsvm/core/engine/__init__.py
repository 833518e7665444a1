"""The limits of a solve, its progress report, and the warning after a solve that did not converge.

==========  ===================================================================
`limits`    iterations, seconds, callback, Ctrl-C
`progress`  Progress: what a call has done, for the progress line and the callback
`unsolved`  the warning about models that are not solved
==========  ===================================================================
"""
