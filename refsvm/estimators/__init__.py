"""Estimators with scikit-learn's conventions: the only room that imports scikit-learn.

=============  ====================================================
`base`         what all estimators share
`svc`          SVC: classification
`svccv`        SVCCV: SVC with C and γ chosen by cross-validation
`search`       the grid behind it
`svr`          SVR: regression
`one_class`    OneClassSVM: novelty detection
`single`       what SVR and OneClassSVM share: one problem, one decision function
`plain`        estimators in plain types, for pickle and skops
`validation`   what is checked before training, quickly
=============  ====================================================
"""

from refsvm.estimators.one_class import OneClassSVM
from refsvm.estimators.svc import SVC
from refsvm.estimators.svccv import SVCCV
from refsvm.estimators.svr import SVR

__all__ = ["SVC", "SVCCV", "SVR", "OneClassSVM"]
