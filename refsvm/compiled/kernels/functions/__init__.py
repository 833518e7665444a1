"""Twins of kernels."""
