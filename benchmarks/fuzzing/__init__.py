"""The parts of `fuzz.py` and `scales.py`, and of the property test that draws its problems by hypothesis.

==========  ==============================================================
`trials`    Trial: a problem, rules and settings; drawn from a seed
`verdict`   what is wrong with what both engines return for a trial
`families`  leave-one-out, folds, grids and paths, compared with training from scratch
`paths`     the family of paths
==========  ==============================================================

and, of problems in any unit and at any origin,

===============  ==============================================================
`scaled`         Scaled: features, targets, kernel and caller; drawn from a seed
`callers`        what each caller makes of it, as machines and values
`exact`          kernel sums in extended precision
`scale_verdict`  what is wrong with that, and with what the caller says
===============  ==============================================================
"""
