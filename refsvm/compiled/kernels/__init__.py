"""Twins of `refsvm.kernels`."""
