"""Compiled twins of `refsvm.core.kernels`."""
