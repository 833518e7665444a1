"""Compiled twins of `refsvm.core.rounds`."""
