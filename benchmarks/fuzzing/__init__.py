"""The parts of `fuzz.py`, and of the property test that draws its problems by hypothesis.

==========  ==============================================================
`trials`    Trial: a problem, rules and settings; drawn from a seed
`verdict`   what is wrong with what both engines return for a trial
`families`  leave-one-out, folds, grids and paths, compared with training from scratch
`paths`     the family of paths
==========  ==============================================================
"""
