"""Twins of `refsvm.core.seeders`."""
