"""Limits of a solve, and several workers.

==========  ===================================================================
`limits`    iterations, seconds, callback, Ctrl-C
`pool`      several workers
`unsolved`  the warning about machines that are not solved
==========  ===================================================================
"""
