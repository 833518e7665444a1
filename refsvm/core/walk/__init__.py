"""The parametric walk, which follows an optimum while its problem moves along a line (`docs/notation`)."""
