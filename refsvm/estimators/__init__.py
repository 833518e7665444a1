"""Estimators with scikit-learn's conventions: the only room that imports scikit-learn.

=============  ====================================================
`svc`          SVC
`validation`   what is checked before training, quickly
=============  ====================================================
"""

from refsvm.estimators.svc import SVC

__all__ = ["SVC"]
