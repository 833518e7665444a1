"""`to_sklearn` converts a fitted estimator to scikit-learn's class, with the same decisions.

Converters to ONNX, for instance, expect scikit-learn's classes. `to_sklearn` trains nothing, but sets the attributes
that scikit-learn's `predict` reads.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from sklearn import svm

from refsvm.core._checks import is_sparse
from refsvm.core.kernels import RBF, Linear, Polynomial, Precomputed, Sigmoid

NAMES: Final[dict[type, str]] = {
    Linear: "linear", Polynomial: "poly", RBF: "rbf", Sigmoid: "sigmoid", Precomputed: "precomputed",
}  # fmt: skip
"""scikit-learn's names of its kernels; every other kernel is passed to scikit-learn as a callable."""

COPIED: Final = (
    "support_", "support_vectors_", "dual_coef_", "intercept_", "shape_fit_", "fit_status_", "n_iter_", "offset_",
    "classes_", "class_weight_", "n_features_in_", "feature_names_in_",
)  # fmt: skip
"""Fitted attributes with the same meaning in both packages."""


def to_sklearn(estimator: Any) -> Any:
    """Return the fitted estimator of the same name in `sklearn.svm`, with the same decisions up to rounding.

    Parameters
    ----------
    estimator : SVC, SVR or OneClassSVM
        A fitted estimator.

    Returns
    -------
    sklearn.svm.SVC, SVR or OneClassSVM
    """
    theirs = getattr(svm, type(estimator).__name__)()
    known = theirs.get_params()
    ours = {name: value for name, value in estimator.get_params(deep=False).items() if name in known}
    ours["verbose"] = estimator.verbose not in (False, 0, "auto")
    ours["max_iter"] = -1 if estimator.max_iter is None else estimator.max_iter
    ours["tol"] = estimator._stopping_rule.tolerance
    theirs.set_params(**ours | _kernel_parameters(estimator.kernel_))
    for name in COPIED:
        if hasattr(estimator, name):
            setattr(theirs, name, getattr(estimator, name))
    # LIBSVM takes the first class as positive; scikit-learn's public attributes take the second class as positive
    sign = -1.0 if len(getattr(estimator, "classes_", ())) == 2 else 1.0
    theirs._dual_coef_, theirs._intercept_ = sign * estimator.dual_coef_, sign * estimator.intercept_
    is_callable = callable(theirs.kernel)
    theirs._sparse = is_sparse(estimator.support_vectors_) and not is_callable
    if is_callable:  # for a callable, scikit-learn stores no vectors
        theirs.support_vectors_ = np.empty((0, 0))
    if theirs._sparse:
        theirs.dual_coef_, theirs._dual_coef_ = map(_all_stored, (theirs.dual_coef_, theirs._dual_coef_))
    # if `n_support_` has one entry, store this entry twice: scikit-learn expects two entries and reads the first
    theirs._n_support = np.resize(estimator.n_support_, max(2, len(estimator.n_support_))).astype(np.int32)
    gamma = 0.0 if is_callable else getattr(estimator.kernel_, "gamma", 0.0)
    theirs._gamma, theirs._num_iter = float(gamma), np.atleast_1d(theirs.n_iter_)
    theirs._effective_probability, theirs._probA, theirs._probB = False, np.empty(0), np.empty(0)
    if is_callable:
        theirs._BaseLibSVM__Xfit = _examples(estimator)
    return theirs


def _examples(estimator: Any) -> Any:
    """Return the examples as an array; rows other than support vectors may be 0, because scikit-learn ignores them."""
    if estimator._examples is not None:
        return estimator._examples
    vectors = estimator.support_vectors_
    examples = np.zeros(estimator.shape_fit_)
    examples[estimator.support_] = vectors.toarray() if is_sparse(vectors) else vectors
    return examples


def _kernel_parameters(kernel: Any) -> dict[str, Any]:
    """Return scikit-learn's name and parameters of a kernel, or the kernel if scikit-learn has no such kernel."""
    named = {name: getattr(kernel, name) for name in ("gamma", "degree", "coef0") if hasattr(kernel, name)}
    if type(kernel) not in NAMES or isinstance(named.get("gamma"), tuple):
        return {"kernel": kernel}
    return {"kernel": NAMES[type(kernel)], **named}


def _all_stored(coefficients: np.ndarray) -> Any:
    """Return a matrix as CSR that also stores zeros, because scikit-learn's wrapper of LIBSVM requires them."""
    from scipy.sparse import csr_matrix

    k, m = coefficients.shape
    indices, starts = np.tile(np.arange(m, dtype=np.int32), k), m * np.arange(k + 1, dtype=np.int32)
    return csr_matrix((np.ravel(coefficients), indices, starts), (k, m))
