"""Paths: the optimum for every value of a parameter, such as C, stored as breakpoints."""
