"""The guards that the reference is given: the one place that knows all of them is `chosen`."""
