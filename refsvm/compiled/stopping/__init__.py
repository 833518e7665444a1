"""Twins of `refsvm.core.stopping`."""
