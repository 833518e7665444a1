"""Twins of `refsvm.core.selectors`."""
