"""Limits of a solve, and what it tells.

==========  ===================================================================
`limits`    iterations, seconds, callback, Ctrl-C
`progress`  Progress: how far a call is, as its line and its callback are told
`unsolved`  the warning about machines that are not solved
==========  ===================================================================
"""
