"""The parametric walk: following an optimum while its problem moves along a line (`docs/notation`)."""
