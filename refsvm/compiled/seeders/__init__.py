"""Compiled twins of `refsvm.core.seeders`."""
