"""Checks of arguments: each refuses with one sentence naming the argument, the value and the remedy."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterable, Mapping
from functools import wraps
from types import FrameType
from typing import Any, Final, ParamSpec, TypeVar

import numpy as np

LARGEST_NUMBER: Final = 1e300
"""Vectors with a larger number are refused: sums would overflow."""

NO_NUMBERS: Final = (str, bytes, complex, np.complexfloating)
"""Types that `float` or NumPy would turn into one number, or take the real part of."""

LARGEST_TARGET: Final = 1e150
"""Of a regression: squares of differences of targets are computed with."""


Given = ParamSpec("Given")
Result = TypeVar("Result")


def is_sparse(X: Any) -> bool:
    """Whether X is a scipy sparse matrix or array (scipy is not imported to find out)."""
    return hasattr(X, "tocsr")


def column_names(values: Any) -> tuple[str, ...]:
    """Return the names of the columns of a frame, or of the entries of a pandas Series; () where they are numbers."""
    names = getattr(values, "columns", getattr(values, "index", None))
    found = () if names is None or callable(names) else tuple(names)
    return found if all(isinstance(name, str) for name in found) else ()


def hint(
    word: str, known: Iterable[str], otherwise: str, shown: Callable[[str], str] = repr, cutoff: float = 0.6
) -> str:
    """Return the end of a refusal: the known name nearest to a misspelt word, or a remedy if there is none."""
    # imported where something is wrong, so that nothing waits for it where all is right
    from difflib import get_close_matches

    near = get_close_matches(word, list(known), n=1, cutoff=cutoff)
    return f"did you mean {shown(near[0])}?" if near else otherwise


def refuses(
    second: str = "", /, **advice: str
) -> Callable[[Callable[Given, Result]], Callable[Given, Result]]:
    """Return a decorator that refuses arguments which other libraries have, with the call that works.

    Parameters
    ----------
    second : str
        The call to give instead of a second argument by position; as many as the function has are taken if it is
        empty.
    **advice : str
        What to give instead, by the name of the argument; ``{}`` stands for its value.

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

    def of(function: Callable[Given, Result]) -> Callable[Given, Result]:
        @wraps(function)
        def call(*given: Given.args, **options: Given.kwargs) -> Result:
            if (second and len(given) > 1) or advice.keys() & options.keys():
                raise TypeError(refusal(function.__name__, options))
            return function(*given, **options)

        return call

    return of


def known_options(call: str, options: Iterable[str], known: Iterable[str]) -> None:
    """Refuse an option that a call does not have, by the name of the call.

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
    """Return how many frames of this package are on top of the stack, without that of this function."""
    frame: FrameType | None = sys._getframe(1)
    count = 0
    while frame is not None and frame.f_globals.get("__name__", "").partition(".")[0] == "refsvm":
        frame, count = frame.f_back, count + 1
    return count


def version() -> str:
    """Return the version of the package, which stands above this module."""
    # looked up, as an import of the package from its lowest module would be a circle
    return str(sys.modules["refsvm"].__version__)


def pandas_for(call: str) -> Any:
    """Return pandas, which is imported here when it is first needed.

    Raises
    ------
    ImportError
        If it is not installed; the sentence has the name of the call.
    """
    try:
        import pandas as pd
    except ImportError:
        raise ImportError(f"{call} needs pandas, which is not installed; run: pip install pandas") from None
    return pd


def shown(value: Any) -> str:
    """Return a value as a sentence can show it: an array by its shape, a long list by the number of its items."""
    if hasattr(value, "shape"):
        return f"<{type(value).__name__} of shape {value.shape}>"
    if isinstance(value, list | tuple) and len(value) <= 2:
        return f"({', '.join(map(shown, value))})"
    if isinstance(value, list | tuple):
        return f"<{type(value).__name__} of {len(value)}>"
    return f"{value!r:.200}"


def number(name: str, value: Any) -> float:
    """One real number, NaN and ±inf included, as float; text, None, complex numbers and arrays are none."""
    if type(value) is float:
        return value
    try:
        # float() would take the text '3', the real part of 3j, and an array of one number
        if isinstance(value, NO_NUMBERS) or np.ndim(value):
            raise TypeError
        return float(value)
    except (TypeError, ValueError):
        raise ValueError(f"{name}={value!r} is not a number; give a finite real number.") from None
    except OverflowError:
        raise ValueError(f"{name} is beyond the range of float64; give a finite real number.") from None


def real(name: str, value: Any) -> float:
    """A finite real number, as float."""
    if type(value) in (float, int) and -LARGEST_NUMBER < value < LARGEST_NUMBER:  # as nearly always
        return float(value)
    result = number(name, value)
    if not math.isfinite(result):
        raise ValueError(f"{name}={value!r} is not finite; give a finite real number.")
    return result


def positive(name: str, value: Any) -> float:
    """A finite number above zero, as float."""
    result = real(name, value)
    if result <= 0:
        raise ValueError(f"{name}={value!r} is not positive; give a number above 0.")
    return result


def share(name: str, value: Any) -> float:
    """A share of the examples, above zero and at most one, as float."""
    result = positive(name, value)
    if result > 1.0:
        raise ValueError(
            f"{name}={value!r} is above 1; it is a share of the examples, give a number in (0, 1]."
        )
    return result


def not_negative(name: str, value: Any) -> float:
    """A finite number, zero or more, as float."""
    number = real(name, value)
    if number < 0:
        raise ValueError(f"{name}={value!r} is negative; give 0 or a number above.")
    return number


def positive_or_inf(name: str, value: Any) -> float:
    """A number above zero, or infinity, as float."""
    if type(value) in (float, int) and 0 < value < LARGEST_NUMBER:
        return float(value)
    return math.inf if number(name, value) == math.inf else positive(name, value)


def whole(name: str, value: Any, least: int) -> int:
    """A whole number of at least `least`."""
    if type(value) is int and least <= value < 2**63:
        return value
    # True is an int in Python, and no count
    is_real = isinstance(value, int | float | np.integer | np.floating) and not isinstance(value, bool)
    if is_real and least <= value < 2**63 and value % 1 == 0:
        return int(value)
    limit = " and below 2⁶³" if is_real and 2**63 <= value < math.inf else ""
    raise ValueError(
        f"{name}={value!r:.40} is not a whole number ≥ {least}{limit}; give e.g. {name}={max(least, 1)}."
    )


def numbers(name: str, values: Any) -> np.ndarray:
    """Real numbers as a float64 array; text, None and complex numbers are none."""
    try:
        array = np.asarray(values)
    except ValueError:
        raise ValueError(f"{name} has rows of different lengths; give a table of real numbers.") from None
    if array.dtype.kind in "fiub":
        return np.asarray(array, dtype=np.float64)
    items = np.asarray(values, dtype=object)
    if array.dtype.kind != "O":  # text beside numbers has become text, so the items are looked at
        array = items
    return np.array([_item(name, item) for item in array.flat], dtype=np.float64).reshape(array.shape)


def _item(name: str, value: Any) -> float:
    """Return one item of an array as float."""
    try:
        return number(name, value)
    except ValueError:
        kind = "is beyond the range of float64" if isinstance(value, int) else "is not a real number"
        raise ValueError(f"{name} holds {value!r:.40}, which {kind}; give finite real numbers.") from None


def vector(name: str, values: Any, n: int, *, infinite: bool = False) -> np.ndarray:
    """Return a finite float64 vector of length n; a single number is repeated. `infinite` allows ±inf, but no NaN."""
    array = numbers(name, values)
    # one number stands for all, as users write C=1.0
    if array.ndim == 0:
        array = np.full(n, float(array))
    if array.shape != (n,):
        raise ValueError(f"{name} has shape {array.shape}; expected one number or {n} of them.")
    # no number beyond 1e150, and none is NaN: nearly always the case
    if np.vdot(array, array) <= LARGEST_NUMBER:
        return array
    # NaN first: it compares false with everything, and would pass the look at the size
    if infinite and np.isnan(array).any():
        raise ValueError(f"{name} contains NaN; give numbers.")
    finite = array[np.isfinite(array)]
    if not infinite and len(finite) < n:
        raise ValueError(f"{name} contains NaN or infinity; give finite numbers.")
    if len(finite) and np.abs(finite).max() > LARGEST_NUMBER:
        largest = finite[np.abs(finite).argmax()]
        remedy = "scale it down, or give infinity" if infinite else "scale it down"
        raise ValueError(
            f"{name} contains {largest:.3g}, beyond what can be computed with (1e300); {remedy}."
        )
    return array


def sealed(values: np.ndarray) -> np.ndarray:
    """Return a read-only copy."""
    copy = values.copy()
    copy.flags.writeable = False
    return copy


def read_only(values: np.ndarray) -> np.ndarray:
    """Return a view that cannot be written to."""
    view = np.asarray(values).view()
    view.flags.writeable = False
    return view


def box(lower: Any, upper: Any, z: float, n: int) -> dict[str, Any]:
    """Bounds L ≤ U of n variables between which some α has the sum z, as read-only copies.

    Beside them, whether a bound is infinite (`is_open`), and whether α = 0 is such an α (`zero_is_feasible`).
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
    """Whether these are vectors with −1e150 ≤ L ≤ 0 ≤ U ≤ 1e150, as nearly always: found out in microseconds."""
    for bound in (lower, upper):
        if not isinstance(bound, np.ndarray) or bound.dtype != np.float64 or bound.shape != (n,):
            return False
        if not np.vdot(bound, bound) <= LARGEST_NUMBER:  # nor if one is NaN
            return False
    return np.count_nonzero(lower > 0.0) == 0 and np.count_nonzero(upper < 0.0) == 0


def _refuse_empty_box(lower: np.ndarray, upper: np.ndarray, z: float) -> None:
    """Raise if the bounds cross, or no α between them has the sum z."""
    crossed = lower > upper
    if crossed.any():
        raise ValueError(
            f"lower exceeds upper at index {crossed.argmax()}; give a box with lower ≤ upper everywhere."
        )
    least, most = lower.sum(), upper.sum()
    # sums of infinite bounds are fine as long as they leave some number between them
    if not (least < np.inf and most > -np.inf):
        raise ValueError("lower contains +∞ or upper −∞, which no α reaches; give a box that holds numbers.")
    if least <= z <= most:
        return
    sizes = np.abs([*lower, *upper, z])
    # bounds that are sums of weights add up to z but for rounding
    slack = 1e-12 * sizes[np.isfinite(sizes)].sum()
    if not least - slack <= z <= most + slack:
        raise ValueError(
            f"z={z!r} cannot be reached: the box only allows sums from {least:.6g} to {most:.6g}."
        )


def penalties(C: Any, n: int) -> np.ndarray:
    """C of each of n examples, none negative: one positive number for all, or one for each, zeros allowed."""
    if type(C) is float and 0.0 < C <= LARGEST_NUMBER:  # as nearly always
        return np.full(n, C)
    # a penalty of 0 for all leaves nothing to train, one for some leaves them out
    if isinstance(C, str | bytes) or numbers("C", C).ndim == 0:
        positive_or_inf("C", C)
    result = vector("C", C, n, infinite=True)
    if (result < 0).any():
        raise ValueError(f"C contains {result.min():.6g}; penalties must not be negative.")
    return result


def examples(X: Any, *, copy: bool = False) -> Any:
    """Data as a C-ordered float64 array or CSR of shape (n, d), finite, n ≥ 1; `copy` makes it one of its own."""
    if is_sparse(X):
        if X.dtype.kind not in "fiub":
            raise ValueError(f"X holds values of type {X.dtype}; give real numbers.")
        # a copy in any case: the arrays of a sparse matrix are easily changed in place
        X = X.tocsr().astype(np.float64)
        values = X.data
    else:
        given, X = X, np.ascontiguousarray(numbers("X", X))
        values = X = owned(X, given) if copy else X
    if X.ndim != 2 or X.shape[0] == 0:
        raise ValueError(f"X has shape {X.shape}; expected a table of at least one row, shape (n, d).")
    if not np.isfinite(values).all():
        raise ValueError("X contains NaN or infinity; drop or impute those entries first.")
    return X


def owned(X: Any, given: Any) -> Any:
    """Return checked data, copied if they share memory with the argument."""
    is_new = not isinstance(X, np.ndarray) or isinstance(given, list | tuple)
    return X if is_new or not np.may_share_memory(X, np.asarray(given)) else X.copy()


def signs(y: Any, n: int) -> np.ndarray:
    """Labels as float64 ±1, both present, one for each of n examples."""
    refuse_missing(y, n, "labels")
    try:
        array = np.asarray(y)
    except ValueError:
        raise ValueError(
            f"y has parts of different lengths; give {n} labels, one for each row of X."
        ) from None
    if array.shape != (n,):
        raise ValueError(f"y has shape {array.shape}; expected {n} labels, one for each row of X.")
    # the usual labels pass in microseconds; what is wrong with others is found out below
    if array.dtype.kind in "if" and (np.abs(array) == 1).all() and array.min() < array.max():
        return array.astype(np.float64)
    _refuse_signs(array)
    return array.astype(np.float64)


def _refuse_signs(y: np.ndarray) -> None:
    """Raise unless the labels are −1 and +1, both of them."""
    refuse_nan_labels(y)
    refuse_targets(y)
    distinct = _distinct(y)
    if len(distinct) == 1:
        raise ValueError(
            f"y holds a single class, {distinct[0]!r}; two classes are needed to train a classifier."
        )
    if y.dtype.kind == "c" or len(distinct) != 2 or set(distinct) != {-1, 1}:
        shown = ", ".join(map(repr, distinct[:4])) + (", …" if len(distinct) > 4 else "")
        pairs = "" if len(distinct) < 3 else "; do it for each pair of classes, or use SVC, which does"
        raise ValueError(f"y holds the labels {shown}; code the two classes as -1 and +1{pairs}.")


def targets(y: Any, n: int) -> np.ndarray:
    """Targets of a regression for n examples, as float64."""
    refuse_missing(y, n, "targets")
    array = vector("y", np.atleast_1d(y), n)
    # the error of a fit is a sum of squares, which would be infinite
    if np.abs(array).max() > LARGEST_TARGET:
        raise ValueError(f"y reaches {np.abs(array).max():.3g}; scale the targets down (StandardScaler).")
    return array


def refuse_missing(y: Any, n: int, kind: str) -> None:
    """Refuse None in place of labels or targets."""
    if y is None:
        raise ValueError(f"y is missing; give {n} {kind}, one for each row of X.")


def refuse_targets(y: np.ndarray) -> None:
    """Refuse numbers that are not whole, and many: the targets of a regression where classes are wanted."""
    if y.dtype.kind == "f" and np.isfinite(y).all() and (y != np.floor(y)).any() and len(np.unique(y)) > 20:
        raise ValueError(
            f"y holds {y[y != np.floor(y)][0]:.6g} and other fractions, which look like the targets of a regression; "
            "this is for classes. Train with SVR, and validate with epsilon= in leave_one_out or cross_validate."
        )


def refuse_nan_labels(y: np.ndarray) -> None:
    """Refuse NaN among numeric labels; estimators have scikit-learn's sentence for it."""
    if y.dtype.kind == "f" and (is_missing := np.isnan(y)).any():
        place = int(is_missing.argmax())
        raise ValueError(f"y[{place}] is nan, a missing value; complete that example or drop it.")


def _distinct(labels: np.ndarray) -> list[Any]:
    """Return the different labels: sorted, or, where they cannot be compared, in the order of their first use."""
    try:
        return list(np.unique(labels).tolist())
    except TypeError:
        # a mixture of texts and numbers has no order, and the sentence shows some of them all the same
        return list(dict.fromkeys(labels.tolist()))


def positions(name: str, values: Any, n: int) -> np.ndarray:
    """Return different positions among n as an int64 vector."""
    array = np.asarray(values)
    # NumPy makes an empty list float64
    if array.size == 0:
        array = array.astype(np.int64)
    if array.ndim != 1 or array.dtype.kind not in "iu":
        shown = " ".join(repr(values).split())
        raise ValueError(
            f"{name}={shown:.80} is not a list of positions; give whole numbers from 0 to {n - 1}."
        )
    array = array.astype(np.int64)
    if len(array) and not (-n <= array.min() and array.max() < n):
        raise ValueError(
            f"{name} holds {array[np.abs(array + 0.5).argmax()]}; give positions from 0 to {n - 1}."
        )
    return array
