"""Classification by pairs of classes, and trained models that predict without scikit-learn.

=============  ====================================================
`one_vs_one`   k classes as k(k − 1)/2 binary problems, and their votes
`small_pairs`  training of all pairs; pairs of small classes are solved in few calls
`prediction`   decision values
`model`        a trained model without its training data
`model_file`   models in LIBSVM's text format
`model_text`   reads and checks the lines of a model file
=============  ====================================================
"""
