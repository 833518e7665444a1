"""Compiled twins of `refsvm.analysis`."""
