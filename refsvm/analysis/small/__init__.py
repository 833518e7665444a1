"""Solves many small problems of equal size together, for pairs of small classes and for their folds."""
