"""Compiled twins of `refsvm.core.steps`."""
