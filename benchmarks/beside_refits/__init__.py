"""Leave-one-out and folds of every machine beside refits: the problems, and the comparison."""
