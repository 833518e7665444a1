"""Twins of `refsvm.seeders`."""
