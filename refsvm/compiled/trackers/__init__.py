"""Compiled twins of `refsvm.core.trackers`."""
