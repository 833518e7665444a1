"""Solves many small problems of equal size in one call, for pairs of small classes."""
