"""The solver state in the form that compiled code gets, and the signatures of the three kinds of rules."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numba
import numpy as np
from numba import float32, float64, int8, int32, int64, types

from refsvm.compiled.interface.by_address import Block, by_address
from refsvm.core._checks import read_only
from refsvm.core.result import TRACE_ROW
from refsvm.core.selectors.conjugate_second_order import LEAST
from refsvm.core.state import SCALARS, SNAP, TAU
from refsvm.core.steps.conjugate import CONJUGATE

if TYPE_CHECKING:
    from refsvm.core.kernels.rows import KernelRows

__all__ = [
    "AT_ONCE", "CHECK", "CONJUGATE", "FALLS", "LEAST", "LENGTH", "LENGTH_AND_CARRY", "NOW", "RISES", "SELECT", "SNAP",
    "STATE", "STATE_WITH_SINGLE_ROWS", "STEPS", "STEPS_WITH_SINGLE_ROWS", "TAU", "Source", "State", "Store",
    "fresh_state", "support_of",
]  # fmt: skip

AT_ONCE = 16
"""Number of variables of the support that a compiled loop handles at once; zeros fill up the support to a multiple."""

RISES, FALLS = 1, 2
"""Marks of variables: RISES if a step may increase the variable, FALLS if a step may decrease it."""

NOW = np.dtype(
    [
        *[(name, SCALARS[name]) for name in SCALARS.names or ()],
        ("end", np.int64),  # number of steps after which the loop returns to Python
        ("missing", np.int64),  # index of the kernel row that the loop waits for, or −1
        ("i", np.int64),  # the selected pair
        ("j", np.int64),
        ("stage", np.int64),  # stage at which the loop continues the step: CHECKING, …
        ("j_first", np.int64),  # 1 if row j is fetched before row i
        ("fetched", np.int64),  # number of rows of the pair that are fetched so far
        ("clock", np.int64),  # KernelRows.clock, .hits and .computed
        ("hits", np.int64),
        ("computed", np.int64),
        ("traced", np.int64),  # number of rows written to the trace buffer
        ("every", np.int64),  # number of steps between traced steps; 0: no trace
        ("n_support", np.int64),  # number of variables in the support, which a step with momentum may move
    ]
)


@by_address(rows="kernel")
class State(NamedTuple):
    """`refsvm.core.state.SolverState` for the twins: the same arrays, and the numbers in ``now[0]``."""

    alpha: np.ndarray
    gradient: np.ndarray
    lower: np.ndarray
    upper: np.ndarray
    diagonal: np.ndarray
    kernel: np.ndarray  # KernelRows.values, read-only: row i of K is kernel[slots[i]]
    slots: np.ndarray
    stamps: np.ndarray
    working_sets: np.ndarray
    curvatures: np.ndarray
    candidates: np.ndarray
    candidate_curvatures: np.ndarray
    selector_memory: np.ndarray
    step_memory: np.ndarray
    stop_memory: np.ndarray
    # for each variable, RISES if it is in I_up, plus FALLS if it is in I_down; step rules read this sum, not α, L and U
    sides: np.ndarray
    scratch: np.ndarray  # memory for one number per variable
    # the next five arrays are empty unless the step rule uses momentum
    displacement: np.ndarray  # Δ; the loop does not keep Δ up to date, but calls `displacement_of`
    displacement_image: np.ndarray  # KΔ
    support: np.ndarray  # the first now.n_support entries: variables that a step may move, the latest last
    places: np.ndarray  # for each variable: its position in the support, or −1
    moving: np.ndarray  # four rows: Δ, α, L and U of the variables in the support
    trace: np.ndarray
    now: np.ndarray  # one record: ``state.now[0].gap`` …


@by_address(rows="values")
class Store(NamedTuple):
    """`refsvm.core.kernels.cached_rows.CachedRows` in the form that compiled code writes to."""

    values: np.ndarray
    slots: np.ndarray
    stamps: np.ndarray
    owners: np.ndarray
    # the fields `filled`, `ready` (the largest value of `filled`, or −1 if Python computes the rows) and `clock`
    numbers: np.ndarray


@by_address(rows="X")
class Source(NamedTuple):
    """The data from which compiled code computes a missing kernel row, and the stores to which it writes the row."""

    X: np.ndarray  # `refsvm.core.kernels.products.RowParts`; empty if Python computes the rows
    features: np.ndarray
    entries: tuple[np.ndarray, ...]
    norms: np.ndarray
    gamma: float
    kept: Store
    copies: Store  # the store that the loop reads: `kept`, or a store with copies of rows of `kept`
    indices: np.ndarray  # for each variable, the index of its row in `kept`; empty if the loop reads `kept`


_vector, _matrix = types.Array(float64, 1, "C"), types.Array(float64, 2, "C")
_bytes, _places = types.Array(int8, 1, "C"), types.Array(int32, 1, "C", readonly=True)
_indices, _pairs = types.Array(int64, 1, "C"), types.Array(int64, 2, "C")
_rows, _single_rows = (types.Array(kind, 2, "C", readonly=True) for kind in (float64, float32))
_now = types.Array(numba.from_dtype(NOW), 1, "C")
_trace = types.Array(numba.from_dtype(TRACE_ROW), 1, "C")

STATE, STATE_WITH_SINGLE_ROWS = (
    Block(
        State,
        (
            _vector, _vector, _vector, _vector, _vector,
            rows, _indices, _indices,
            _pairs, _vector, _pairs, _vector,
            _vector, _vector, _vector, _bytes, _vector,
            _vector, _vector, _indices, _indices, _matrix,
            _trace, _now,
        ),
        np.dtype(kind),
    )
    for kind, rows in ((np.float64, _rows), (np.float32, _single_rows))
)  # fmt: skip
"""The types of the state. Kernel rows are float64; the default rules also accept float32. Compiled code only reads
kernel rows, so that a kernel matrix may be a memory map; writable arrays are passed as `refsvm.core._checks.read_only`
views."""

SELECT = types.UniTuple(int64, 2)(_vector, STATE)
"""select(parameters, state) -> (i, j)"""
LENGTH = float64(_vector, STATE, int64, int64)
"""length(parameters, state, i, j) -> μ"""
LENGTH_AND_CARRY = types.UniTuple(float64, 2)(_vector, STATE, int64, int64)
"""length(parameters, state, i, j) -> (μ, κ), for a step with momentum"""
CHECK = int64(_vector, STATE)
"""check(parameters, state) -> code"""


def _source(kind: Any) -> Block:
    """Return the Numba type of a `Source` whose kernel rows have the type `kind`."""
    line, rows = (types.Array(kind, k, "C", readonly=True) for k in (1, 2))
    entries = types.Tuple((line, _places, _places) * 2)
    dtype = np.dtype(kind.name)
    store = Block(Store, (types.Array(kind, 2, "C"), *[_indices] * 4), dtype)
    return Block(Source, (rows, rows, entries, line, float64, store, store, _indices), dtype)


STEPS, STEPS_WITH_SINGLE_ROWS = (
    (
        types.FunctionType(SELECT), types.FunctionType(LENGTH), types.FunctionType(CHECK),
        _vector, _vector, _vector, state, _source(kind),
    )
    for state, kind in ((STATE, float64), (STATE_WITH_SINGLE_ROWS, float32))
)  # fmt: skip
"""Argument types of compiled_steps: select, length, check, their parameters, state, source"""


def fresh_state(
    rows: KernelRows,
    depth: int,
    memories: tuple[np.ndarray, np.ndarray, np.ndarray],
    lower: np.ndarray,
    upper: np.ndarray,
    uses_momentum: bool = False,
) -> State:
    """Return a state with the box `lower`, `upper` for compiled rounds; each round sets α and G itself.

    Parameters
    ----------
    rows : KernelRows
        The kernel rows, all in memory.
    depth : int
        Number of working sets to remember.
    memories : (ndarray, ndarray, ndarray)
        The memory of the selector, the step rule and the stopping rule.
    lower, upper : ndarrays of shape (n,), float64
        Bounds of the box.
    uses_momentum : bool
        True if the step rule uses momentum.
    """
    n, (selector, step, stop) = len(lower), memories
    m = n * uses_momentum
    return State(
        np.empty(n), np.empty(n), lower, upper, rows.gram.diagonal().astype(np.float64),
        read_only(rows.values), rows.slots, np.zeros(len(rows.stamps), dtype=np.int64),
        np.full((depth, 2), -1), np.zeros(depth), np.full((depth, 2), -1), np.zeros(depth),
        selector, step, stop, np.empty(n, dtype=np.int8), np.empty(n),
        *arrays_for_momentum(m),
        np.zeros(0, dtype=TRACE_ROW).view(np.recarray), np.zeros(1, dtype=NOW).view(np.recarray),
    )  # fmt: skip


def arrays_for_momentum(n: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return Δ, KΔ and the arrays of the support for a step with momentum on n variables."""
    return np.zeros(n), np.zeros(n), *support_of(n)


def support_of(n: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the arrays of an empty support: its variables, their positions, and their Δ, α, L and U."""
    return np.zeros(n, dtype=np.int64), np.full(n, -1), np.zeros((4, -(-n // AT_ONCE) * AT_ONCE))
