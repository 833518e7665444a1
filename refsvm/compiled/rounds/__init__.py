"""Twins of `refsvm.rounds`."""
