"""Twins of `refsvm.core.rounds`."""
