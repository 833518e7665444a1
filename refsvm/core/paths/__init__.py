"""Paths: the optimum for every C, followed from breakpoint to breakpoint."""
