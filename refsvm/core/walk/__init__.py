"""The parametric walk, which follows the optimum while v, L, U and z change linearly (`docs/notation`)."""
