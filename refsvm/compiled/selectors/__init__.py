"""Compiled twins of `refsvm.core.selectors`."""
