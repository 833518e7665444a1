"""A guard checks a solve for faults; `chosen` selects the guards of a run."""
