"""Twins of `refsvm.stopping`."""
