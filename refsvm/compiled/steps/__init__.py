"""Twins of `refsvm.steps`."""
