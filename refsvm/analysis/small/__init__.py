"""Solves many small problems of equal size together, which pairs of small classes and their folds require."""
