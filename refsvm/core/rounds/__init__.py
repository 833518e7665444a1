"""Rounds: many related solves, and the algorithms of leave-one-out and folds over them."""
