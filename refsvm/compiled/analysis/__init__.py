"""Twins of `refsvm.analysis`."""
