"""Twins of `refsvm.core.trackers`."""
