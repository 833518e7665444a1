"""Paths: the optimum for every C or along another line, stored as breakpoints."""
