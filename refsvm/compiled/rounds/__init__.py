"""Twins of `refsvm.analysis.resampling`."""
