"""Several classes by pairs, and trained models: no scikit-learn is needed to read or use one.

=============  ====================================================
`one_vs_one`   k classes as k(k − 1)/2 binary problems, and the votes of these
`small_pairs`  the training of all pairs, those of small classes in few calls
`prediction`   decision values
`model`        a trained model without its training data
`model_file`   models in LIBSVM's text format
`model_text`   the lines of such a file, checked
=============  ====================================================
"""
