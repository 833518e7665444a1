"""Limits of a solve, and several workers.

==========  ===================================================================
`engine`    Engine: one solve, until its rule, a limit or Ctrl-C says stop
`loops`     the Loop protocol, and what runs the readable loop
`compiled`  what runs the compiled loop
`handover`  when the compiled loop takes over from the readable one
`limits`    iterations, seconds, callback, Ctrl-C
`pool`      several workers
==========  ===================================================================
"""
