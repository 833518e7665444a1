"""Twins of `refsvm.analysis.small`."""
