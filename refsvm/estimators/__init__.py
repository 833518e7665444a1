"""Estimators with scikit-learn's conventions. This is the only folder that imports scikit-learn.

===============  ====================================================
`base`           the base class of all estimators
`svc`            SVC: classification
`svccv`          SVCCV: SVC with C and γ chosen by cross-validation
`svrcv`          SVRCV: SVR with C, γ and ε chosen by cross-validation
`choosing`       the base class of estimators that choose parameters
`gradient_cv`    SVCGradientCV and SVRGradientCV: many parameters chosen by the gradient of a held-out loss
`search_cv`      the base class of SVCCV and SVRCV
`search_scores`  how SVCCV and SVRCV read `scoring` and `refit`
`shown`          the summary of a fitted search that a notebook shows
`search`         the grid that SVCCV and SVRCV solve
`results_table`  the table `cv_results_`
`scoring`        scikit-learn's scorers, called with decision values that are known already
`svr`            SVR: regression
`one_class`      OneClassSVM: novelty detection
`single`         the base class of SVR and OneClassSVM, which solve one problem
`column_matrix`  the kernel matrix for one γ of a search
`pairwise`       the solutions for the pairs of classes of a fitted SVC
`incremental`    `partial_fit` and `forget`, which add and remove examples
`nested`         parameters of kernels and rules by name: kernel__gamma
`export`         to_sklearn: convert a fitted estimator to scikit-learn's class
`progress`       writes an estimate of the duration of a search to the log
`plain`          converts fitted estimators to plain types, for pickle and skops
`validation`     fast checks before training
===============  ====================================================
"""

from refsvm.estimators.gradient_cv import SVCGradientCV, SVRGradientCV
from refsvm.estimators.one_class import OneClassSVM
from refsvm.estimators.svc import SVC
from refsvm.estimators.svccv import SVCCV
from refsvm.estimators.svr import SVR
from refsvm.estimators.svrcv import SVRCV

__all__ = ["SVC", "SVCCV", "SVR", "SVRCV", "OneClassSVM", "SVCGradientCV", "SVRGradientCV"]
