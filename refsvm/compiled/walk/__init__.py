"""Twins of `refsvm.core.walk`."""
