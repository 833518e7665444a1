"""Paths store the optimum along a line of problems as breakpoints."""
