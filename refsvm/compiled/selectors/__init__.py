"""Twins of `refsvm.selectors`."""
