"""Twins of `refsvm.trackers`."""
