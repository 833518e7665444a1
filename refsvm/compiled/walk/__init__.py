"""Compiled twins of `refsvm.core.walk`."""
