"""Twins of `refsvm.walk`."""
