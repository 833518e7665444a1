"""Functions that read kernel and C from an estimator, and format the names of classes, for displays."""

from __future__ import annotations

from typing import Any

import numpy as np

from refsvm.core._checks import shown


def machine_of(model: Any) -> dict[str, Any]:
    """Return kernel and C of a model as keyword arguments.

    Parameters
    ----------
    model : SVC or SVCCV
        A model, or a fitted search, whose best model is used.

    Raises
    ------
    ValueError
        If the model is not a classifier of this package, or is a search that has not trained a model.

    Examples
    --------
    >>> from refsvm import SVC
    >>> from refsvm.display.machine import machine_of
    >>> machine_of(SVC(C=10.0, gamma=0.5))
    {'kernel': 'rbf', 'gamma': 0.5, 'degree': 3, 'coef0': 0.0, 'C': 10.0}
    """
    if hasattr(model, "cv_results_"):
        if not hasattr(model, "best_estimator_"):
            raise ValueError("The search has not trained a model; fit it with refit=True.")
        model = model.best_estimator_
    parameters = model.get_params(deep=False) if hasattr(model, "get_params") else {}
    names = ("kernel", "gamma", "degree", "coef0", "C")
    if any(name not in parameters for name in names) or not hasattr(model, "decision_function"):
        raise ValueError(f"model={shown(model)} is not an SVC; give an SVC or a fitted SVCCV.")
    return {name: parameters[name] for name in names}


def name_of_class(label: Any) -> str:
    """Return the name of a class for a legend; a number is shown in its shortest form.

    Examples
    --------
    >>> import numpy as np
    >>> from refsvm.display.machine import name_of_class
    >>> name_of_class(np.float64(-1.0)), name_of_class(1), name_of_class("ill"), name_of_class(3.5)
    ('-1', '1', 'ill', '3.5')
    """
    if isinstance(label, bool | np.bool_):
        return str(label)
    if isinstance(label, int | float | np.number):
        return f"{label:g}"
    return str(label)
