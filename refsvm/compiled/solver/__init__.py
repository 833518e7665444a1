"""Compiled twin of `refsvm.core.solver`: the loop."""
