"""Solves many small problems of one size together: pairs of small classes, and folds of them."""
