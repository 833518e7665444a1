"""Compiled twins of kernels."""
