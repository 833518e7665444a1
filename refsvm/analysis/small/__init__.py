"""Many small problems of one size at once: pairs of small classes, folds of them."""
