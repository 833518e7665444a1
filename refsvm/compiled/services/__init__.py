"""Twins of `refsvm.services`."""
