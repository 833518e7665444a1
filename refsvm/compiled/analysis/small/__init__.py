"""Compiled twins of `refsvm.analysis.small`."""
