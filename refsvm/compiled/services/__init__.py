"""Compiled twins of `refsvm.services`."""
