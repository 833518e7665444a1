"""The guards that are passed to the reference; `chosen` selects the guards of a run."""
