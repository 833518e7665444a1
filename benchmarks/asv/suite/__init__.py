"""Counts that airspeed velocity follows from commit to commit."""
