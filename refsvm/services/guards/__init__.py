"""The guards that callers pass to the reference; `chosen` selects the guards of a run."""
