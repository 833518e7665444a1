"""Limits of a solve, and several workers.

==========  ===================================================================
`limits`    iterations, seconds, callback, Ctrl-C
`progress`  Progress: how far a call is, as its line and its callback are told
`line`      one line on stderr, rewritten while a long call goes on
`pool`      several workers
`unsolved`  the warning about machines that are not solved
==========  ===================================================================
"""
