"""Compiled twins of `refsvm.core.stopping`."""
