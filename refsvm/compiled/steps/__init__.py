"""Twins of `refsvm.core.steps`."""
