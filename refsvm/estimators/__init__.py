"""Estimators with scikit-learn's conventions: the only room that imports scikit-learn.

===============  ====================================================
`base`           what all estimators share
`svc`            SVC: classification
`svccv`          SVCCV: SVC with C and γ chosen by cross-validation
`svrcv`          SVRCV: SVR with C, γ and ε chosen by cross-validation
`choosing`       what all that choose parameters share
`gradient_cv`    SVCGradientCV and SVRGradientCV: many parameters chosen by the gradient of a held-out loss
`search_cv`      what SVCCV and SVRCV share
`search_scores`  what these score cells by
`search`         the grid behind them
`results_table`  its table
`scoring`        scorers of scikit-learn on decision values that are known
`svr`            SVR: regression
`one_class`      OneClassSVM: novelty detection
`single`         what SVR and OneClassSVM share: one problem, one decision function
`column_matrix`  the kernel matrix of one γ of a search
`pairwise`       the solutions of the pairs of classes of a fitted SVC
`incremental`    examples that come and go, by `partial_fit` and `forget`
`nested`         parameters of kernels and rules by name: kernel__gamma
`export`         to_sklearn: the same decisions by scikit-learn
`progress`       what a fit with ``verbose=1`` says
`plain`          estimators in plain types, for pickle and skops
`validation`     what is checked before training, quickly
===============  ====================================================
"""

from refsvm.estimators.gradient_cv import SVCGradientCV, SVRGradientCV
from refsvm.estimators.one_class import OneClassSVM
from refsvm.estimators.svc import SVC
from refsvm.estimators.svccv import SVCCV
from refsvm.estimators.svr import SVR
from refsvm.estimators.svrcv import SVRCV

__all__ = ["SVC", "SVCCV", "SVR", "SVRCV", "OneClassSVM", "SVCGradientCV", "SVRGradientCV"]
