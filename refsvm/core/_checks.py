"""Checks of arguments: each raises an error that names the argument and its value, and says what to write instead."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterable, Mapping
from functools import wraps
from types import FrameType
from typing import Any, Final, ParamSpec, TypeAlias, TypeVar

import numpy as np

LARGEST_NUMBER: Final = 1e300
"""The checks refuse vectors with a larger number, because sums of such numbers could overflow."""

NO_NUMBERS: Final = (str, bytes, complex, np.complexfloating)
"""Types whose values the checks refuse as numbers; `float` or NumPy would convert them, or drop an imaginary part."""

LARGEST_TARGET: Final = 1e150
"""Largest target of a regression: squared differences of larger targets could overflow."""


ArrayLike: TypeAlias = Any
"""Numbers or labels: a list, an array, a column or a table of pandas or polars, or sparse rows."""

Given = ParamSpec("Given")
Result = TypeVar("Result")


def is_sparse(X: Any) -> bool:
    """Return True if X is a sparse matrix or array of SciPy, without importing SciPy."""
    return hasattr(X, "tocsr")


def column_names(values: Any) -> tuple[str, ...]:
    """Return the column names of a DataFrame or the labels of a pandas Series, or () if the names are not texts."""
    names = getattr(values, "columns", getattr(values, "index", None))
    labels = () if names is None or callable(names) else tuple(names)
    return labels if all(isinstance(name, str) for name in labels) else ()


def hint(
    word: str, known: Iterable[str], otherwise: str, shown: Callable[[str], str] = repr, cutoff: float = 0.6
) -> str:
    """Return the end of an error message: the known name most similar to `word`, or `otherwise` if none is similar."""
    # import difflib only when an error is raised, because the import takes time
    from difflib import get_close_matches

    near = get_close_matches(word, list(known), n=1, cutoff=cutoff)
    return f"did you mean {shown(near[0])}?" if near else otherwise


def refuses(
    second: str = "", /, **advice: str
) -> Callable[[Callable[Given, Result]], Callable[Given, Result]]:
    """Return a decorator: the decorated function refuses arguments of other libraries and says what to write instead.

    Parameters
    ----------
    second : str
        Error message for a call of the decorated function with a second positional argument; "" for no error.
    **advice : str
        For each refused argument, what to write instead; the message shows the given value in place of ``{}``.

    Examples
    --------
    >>> from refsvm.core._checks import refuses
    >>> @refuses(tol="give stop=KKTGap({})")
    ... def solve(problem): ...
    >>> solve(1, tol=1e-5)
    Traceback (most recent call last):
    TypeError: solve takes no tol; give stop=KKTGap(1e-05).
    """

    def refusal(call: str, options: Mapping[str, Any]) -> str:
        for name in advice.keys() & options.keys():
            return f"{call} takes no {name}; {advice[name].format(shown(options[name]))}."
        return f"{second}."

    def decorate(function: Callable[Given, Result]) -> Callable[Given, Result]:
        @wraps(function)
        def call(*given: Given.args, **options: Given.kwargs) -> Result:
            if (second and len(given) > 1) or advice.keys() & options.keys():
                raise TypeError(refusal(function.__name__, options))
            return function(*given, **options)

        return call

    return decorate


def known_options(call: str, options: Iterable[str], known: Iterable[str]) -> None:
    """Raise TypeError for the first option that is not in `known`; the message names the function `call`.

    Examples
    --------
    >>> from refsvm.core._checks import known_options
    >>> known_options("cross_validate", ["polsh"], ["polish", "trace"])
    Traceback (most recent call last):
    TypeError: cross_validate takes no polsh; did you mean polish?
    """
    known = [*known]
    for name in options:
        if name not in known:
            raise TypeError(f"{call} takes no {name}; {hint(name, known, f'help({call}) names all.', str)}")


def frames_within() -> int:
    """Return how many frames on top of the call stack belong to this package, not counting this function."""
    frame: FrameType | None = sys._getframe(1)
    count = 0
    while frame is not None and frame.f_globals.get("__name__", "").partition(".")[0] == "refsvm":
        frame, count = frame.f_back, count + 1
    return count


def version() -> str:
    """Return the version of the package."""
    # read sys.modules: importing refsvm here would be circular, because refsvm imports this module
    return str(sys.modules["refsvm"].__version__)


def pandas_for(call: str) -> Any:
    """Import pandas for the function named `call`, and return the module.

    Raises
    ------
    ImportError
        If pandas is not installed; the message names the function.
    """
    try:
        import pandas as pd
    except ImportError:
        raise ImportError(f"{call} needs pandas, which is not installed; run: pip install pandas") from None
    return pd


def shown(value: Any) -> str:
    """Return a value as text for a message: an array as its shape, a long list as the number of its items."""
    if hasattr(value, "shape"):
        return f"<{type(value).__name__} of shape {value.shape}>"
    if isinstance(value, list | tuple) and len(value) <= 2:
        return f"({', '.join(map(shown, value))})"
    if isinstance(value, list | tuple):
        return f"<{type(value).__name__} of {len(value)}>"
    return f"{value!r:.200}"


def number(name: str, value: Any) -> float:
    """Return a real number, NaN or ±inf as float; raise ValueError for text, None, complex numbers and arrays."""
    if type(value) is float:
        return value
    try:
        # float() would accept the text '3' and an array of one number; NumPy would drop the imaginary part of 3j
        if isinstance(value, NO_NUMBERS) or np.ndim(value):
            raise TypeError
        return float(value)
    except (TypeError, ValueError):
        raise ValueError(f"{name}={value!r} is not a number; give a finite real number.") from None
    except OverflowError:
        raise ValueError(f"{name} is beyond the range of float64; give a finite real number.") from None


def real(name: str, value: Any) -> float:
    """Return a finite real number as float."""
    if type(value) in (float, int) and -LARGEST_NUMBER < value < LARGEST_NUMBER:  # usually True
        return float(value)
    result = number(name, value)
    if not math.isfinite(result):
        raise ValueError(f"{name}={value!r} is not finite; give a finite real number.")
    return result


def positive(name: str, value: Any) -> float:
    """Return a finite number above zero as float."""
    result = real(name, value)
    if result <= 0:
        raise ValueError(f"{name}={value!r} is not positive; give a number above 0.")
    return result


def share(name: str, value: Any) -> float:
    """Return a share of the examples as float; raise ValueError for numbers outside (0, 1]."""
    result = positive(name, value)
    if result > 1.0:
        raise ValueError(
            f"{name}={value!r} is above 1, but it is a share of the examples; give a number in (0, 1]."
        )
    return result


def not_negative(name: str, value: Any) -> float:
    """Return a finite number that is zero or above as float."""
    number = real(name, value)
    if number < 0:
        raise ValueError(f"{name}={value!r} is negative; give a number ≥ 0.")
    return number


def positive_or_inf(name: str, value: Any) -> float:
    """Return a number above zero as float; infinity is allowed."""
    if type(value) in (float, int) and 0 < value < LARGEST_NUMBER:
        return float(value)
    return math.inf if number(name, value) == math.inf else positive(name, value)


def whole(name: str, value: Any, least: int) -> int:
    """Return a whole number as int; raise ValueError for numbers below `least`."""
    if type(value) is int and least <= value < 2**63:
        return value
    # bool is a subclass of int, but True is not a count
    is_real = isinstance(value, int | float | np.integer | np.floating) and not isinstance(value, bool)
    if is_real and least <= value < 2**63 and value % 1 == 0:
        return int(value)
    limit = " and below 2⁶³" if is_real and 2**63 <= value < math.inf else ""
    raise ValueError(
        f"{name}={value!r:.40} is not a whole number ≥ {least}{limit}; give e.g. {name}={max(least, 1)}."
    )


def numbers(name: str, values: Any) -> np.ndarray:
    """Return real numbers as a float64 array; raise ValueError for text, None and complex numbers."""
    try:
        array = np.asarray(values)
    except ValueError:
        raise ValueError(f"{name} has rows of different lengths; give a table of real numbers.") from None
    if array.dtype.kind in "fiub":
        return np.asarray(array, dtype=np.float64)
    items = np.asarray(values, dtype=object)
    if array.dtype.kind != "O":  # NumPy has converted numbers, for example to text: check the originals
        array = items
    return np.array([_item(name, item) for item in array.flat], dtype=np.float64).reshape(array.shape)


def _item(name: str, value: Any) -> float:
    """Return one item of the argument `name` as float; raise ValueError if the item is not a real number."""
    try:
        return number(name, value)
    except ValueError:
        kind = "is beyond the range of float64" if isinstance(value, int) else "is not a real number"
        raise ValueError(f"{name} holds {value!r:.40}, which {kind}; give finite real numbers.") from None


def vector(name: str, values: Any, n: int, *, infinite: bool = False) -> np.ndarray:
    """Return n finite numbers, or one finite number n times, as a float64 vector; `infinite` also allows ±inf."""
    array = numbers(name, values)
    # a single number, such as C=1.0, is repeated n times
    if array.ndim == 0:
        array = np.full(n, float(array))
    if array.shape != (n,):
        raise ValueError(f"{name} has shape {array.shape}; expected one number or a vector of {n} numbers.")
    # this fast check usually succeeds: the vector has no NaN and no number beyond 1e150
    if np.vdot(array, array) <= LARGEST_NUMBER:
        return array
    # check for NaN first: every comparison with NaN is False, so the check of the size below would accept NaN
    if infinite and np.isnan(array).any():
        raise ValueError(f"{name} contains NaN; give numbers.")
    finite = array[np.isfinite(array)]
    if not infinite and len(finite) < n:
        raise ValueError(f"{name} contains NaN or infinity; give finite numbers.")
    if len(finite) and np.abs(finite).max() > LARGEST_NUMBER:
        largest = finite[np.abs(finite).argmax()]
        remedy = "scale the numbers down, or give infinity" if infinite else "scale the numbers down"
        raise ValueError(
            f"{name} contains {largest:.3g}, but finite numbers must lie between -1e300 and 1e300; {remedy}."
        )
    return array


def sealed(values: np.ndarray) -> np.ndarray:
    """Return a read-only copy of an array."""
    copy = values.copy()
    copy.flags.writeable = False
    return copy


def read_only(values: np.ndarray) -> np.ndarray:
    """Return a read-only view of an array."""
    view = np.asarray(values).view()
    view.flags.writeable = False
    return view


def box(lower: Any, upper: Any, z: float, n: int) -> dict[str, Any]:
    """Check that L ≤ U and that some α with L ≤ α ≤ U has Σα = z; return a dictionary with copies of L and U.

    The copies are read-only. The dictionary also holds `is_open` (True if a bound is infinite) and `zero_is_feasible`
    (True if z = 0 and α = 0 lies between the bounds).
    """
    is_open, zero_is_feasible = False, z == 0.0 and _surrounds_zero(lower, upper, n)
    if not zero_is_feasible:
        lower, upper = vector("lower", lower, n, infinite=True), vector("upper", upper, n, infinite=True)
        is_open = bool(np.isinf([lower, upper]).any())
        zero_is_feasible = z == 0.0 and bool((lower <= 0.0).all() and (upper >= 0.0).all())
        if not zero_is_feasible:
            _refuse_empty_box(lower, upper, z)
    return {
        "lower": sealed(lower),
        "upper": sealed(upper),
        "is_open": is_open,
        "zero_is_feasible": zero_is_feasible,
    }


def _surrounds_zero(lower: Any, upper: Any, n: int) -> bool:
    """Return True if both bounds are vectors with −1e150 ≤ L ≤ 0 ≤ U ≤ 1e150."""
    for bound in (lower, upper):
        if not isinstance(bound, np.ndarray) or bound.dtype != np.float64 or bound.shape != (n,):
            return False
        if not np.vdot(bound, bound) <= LARGEST_NUMBER:  # `not … <=` also refuses NaN
            return False
    return np.count_nonzero(lower > 0.0) == 0 and np.count_nonzero(upper < 0.0) == 0


def _refuse_empty_box(lower: np.ndarray, upper: np.ndarray, z: float) -> None:
    """Raise ValueError if a lower bound exceeds its upper bound, or if no α between the bounds has Σα = z."""
    crossed = lower > upper
    if crossed.any():
        raise ValueError(
            f"lower exceeds upper at index {crossed.argmax()}; give a box with lower ≤ upper everywhere."
        )
    least, most = lower.sum(), upper.sum()
    # accept −∞ as sum of the lower bounds and +∞ as sum of the upper bounds: finite sums of α lie between them
    if not (least < np.inf and most > -np.inf):
        raise ValueError("lower contains +∞ or upper −∞, which no α reaches; give a box that holds numbers.")
    if least <= z <= most:
        return
    sizes = np.abs([*lower, *upper, z])
    # if z equals the sum of all lower or all upper bounds, the computed sum may differ from z by rounding
    slack = 1e-12 * sizes[np.isfinite(sizes)].sum()
    if not least - slack <= z <= most + slack:
        raise ValueError(
            f"z={z!r} cannot be reached in this box; give z from {least:.6g} to {most:.6g}, or a wider box."
        )


def penalties(C: Any, n: int) -> np.ndarray:
    """Return the penalties of n examples, from one positive number for all or from n numbers that are not negative."""
    if type(C) is float and 0.0 < C <= LARGEST_NUMBER:  # C is usually one positive number
        return np.full(n, C)
    # a single C must be positive: C = 0 leaves no example to train on; in a vector, a 0 leaves out only its example
    if isinstance(C, str | bytes) or numbers("C", C).ndim == 0:
        positive_or_inf("C", C)
    result = vector("C", C, n, infinite=True)
    if (result < 0).any():
        raise ValueError(f"C contains {result.min():.6g}; penalties must not be negative, give numbers ≥ 0.")
    return result


def examples(X: Any, *, copy: bool = False) -> Any:
    """Return finite data as a C-ordered float64 array or CSR matrix of shape (n, d), n ≥ 1; `copy` forces a copy."""
    if is_sparse(X):
        X = _as_csr(X)
        values = X.data
    else:
        given, X = X, np.ascontiguousarray(numbers("X", X))
        values = X = owned(X, given) if copy else X
    if X.ndim != 2 or X.shape[0] == 0:
        raise ValueError(f"X has shape {X.shape}; give a table of shape (n, d) with at least one row.")
    if not np.isfinite(values).all():
        raise ValueError("X contains NaN or infinity; drop or impute those entries first.")
    return X


def _as_csr(X: Any) -> Any:
    """Return a float64 copy of sparse data; without a copy, the caller could change the arrays inside the matrix."""
    if X.dtype.kind not in "fiub":
        raise ValueError(f"X holds values of type {X.dtype}; give real numbers.")
    return X.tocsr().astype(np.float64)


def owned(X: Any, given: Any) -> Any:
    """Return checked data X, copied if they share memory with the user's argument `given`."""
    is_new = not isinstance(X, np.ndarray) or isinstance(given, list | tuple)
    return X if is_new or not np.may_share_memory(X, np.asarray(given)) else X.copy()


def signs(y: Any, n: int) -> np.ndarray:
    """Return the labels of n examples as float64; raise ValueError unless all are −1 or +1 and both values occur."""
    refuse_missing(y, n, "labels")
    try:
        array = np.asarray(y)
    except ValueError:
        raise ValueError(
            f"y has parts of different lengths; give {n} labels, one for each row of X."
        ) from None
    if array.shape != (n,):
        raise ValueError(f"y has shape {array.shape}; expected {n} labels, one for each row of X.")
    # this check accepts correct labels in microseconds; for other labels, `_refuse_signs` finds out what is wrong
    if array.dtype.kind in "if" and (np.abs(array) == 1).all() and array.min() < array.max():
        return array.astype(np.float64)
    _refuse_signs(array)
    return array.astype(np.float64)


def _refuse_signs(y: np.ndarray) -> None:
    """Raise ValueError unless the labels are −1 and +1 and both occur; the message says what is wrong with y."""
    refuse_nan_labels(y)
    refuse_targets(y)
    distinct = _distinct(y)
    if len(distinct) == 1:
        raise ValueError(
            f"y holds a single class, {distinct[0]!r}; two classes are needed, so give examples of both."
        )
    if y.dtype.kind == "c" or len(distinct) != 2 or set(distinct) != {-1, 1}:
        shown = ", ".join(map(repr, distinct[:4])) + (", …" if len(distinct) > 4 else "")
        pairs = "" if len(distinct) < 3 else " for each pair of classes, or use SVC, which does this"
        raise ValueError(f"y holds the labels {shown}; code the two classes as -1 and +1{pairs}.")


def targets(y: Any, n: int) -> np.ndarray:
    """Return the targets of a regression for n examples as float64."""
    refuse_missing(y, n, "targets")
    array = vector("y", np.atleast_1d(y), n)
    # with targets beyond 1e150, the squared error of a fit would overflow
    if np.abs(array).max() > LARGEST_TARGET:
        raise ValueError(f"y holds targets up to {np.abs(array).max():.3g}, beyond 1e150; scale y down.")
    return array


def refuse_missing(y: Any, n: int, kind: str) -> None:
    """Raise ValueError if y is None where labels or targets are needed."""
    if y is None:
        raise ValueError(f"y is missing; give {n} {kind}, one for each row of X.")


def refuse_targets(y: np.ndarray) -> None:
    """Raise ValueError if y holds many different fractions, which look like targets of a regression, not classes."""
    if y.dtype.kind == "f" and np.isfinite(y).all() and (y != np.floor(y)).any() and len(np.unique(y)) > 20:
        raise ValueError(
            f"y holds {y[y != np.floor(y)][0]:.6g} and other fractions, which look like the targets of a regression, "
            "not like classes; train with SVR, and validate with epsilon= in leave_one_out or cross_validate."
        )


def refuse_nan_labels(y: np.ndarray) -> None:
    """Raise ValueError if a numeric label is NaN; in estimators, scikit-learn's own check raises an error first."""
    if y.dtype.kind == "f" and (is_missing := np.isnan(y)).any():
        place = int(is_missing.argmax())
        raise ValueError(f"y[{place}] is nan, a missing value; complete that example or drop it.")


def _distinct(labels: np.ndarray) -> list[Any]:
    """Return the distinct labels, sorted; labels that cannot be compared keep the order in which they first occur."""
    try:
        return list(np.unique(labels).tolist())
    except TypeError:
        # texts and numbers cannot be sorted together: keep the order in which the labels first occur
        return list(dict.fromkeys(labels.tolist()))


def positions(name: str, values: Any, n: int) -> np.ndarray:
    """Return distinct positions from 0 to n − 1 as an int64 vector."""
    array = np.asarray(values)
    # NumPy converts an empty list to float64, so convert it to int64
    if array.size == 0:
        array = array.astype(np.int64)
    if array.ndim != 1 or array.dtype.kind not in "iu":
        shown = " ".join(repr(values).split())
        raise ValueError(
            f"{name}={shown:.80} is not a list of positions; give different whole numbers from 0 to {n - 1}."
        )
    array = array.astype(np.int64)
    if len(array) and not (-n <= array.min() and array.max() < n):
        raise ValueError(
            f"{name} holds {array[np.abs(array + 0.5).argmax()]}; give positions from 0 to {n - 1}."
        )
    return array
