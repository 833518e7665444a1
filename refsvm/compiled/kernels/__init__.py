"""Twins of `refsvm.core.kernels`."""
