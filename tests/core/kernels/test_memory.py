"""Memory for kernel rows: written in order, mapped ahead by a second thread, never touched once it is in use."""

from __future__ import annotations

import mmap
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from refsvm import RBF, DualProblem, solve
from refsvm.core.kernels import memory
from refsvm.core.kernels.memory import KEPT_FROM_BYTES, RowBuffer, reused, scratch

ROW_BYTES = 8192
LONG = KEPT_FROM_BYTES // 8
needs_lending = pytest.mark.skipif(not hasattr(mmap, "MADV_FREE"), reason="no memory is kept on this system")


@pytest.fixture
def nothing_kept(monkeypatch):
    monkeypatch.setattr(memory, "_kept", [])


@pytest.fixture
def page_by_page(nothing_kept, monkeypatch):
    """Treat even small buffers as large ones."""
    monkeypatch.setattr(memory, "AHEAD_FROM_BYTES", 3 * ROW_BYTES)
    monkeypatch.setattr(memory, "MAPPED_AHEAD_BYTES", 8 * ROW_BYTES)


@pytest.fixture
def touched(monkeypatch):
    """What the second thread has mapped when it has ended: the address and the number of rows of each part."""
    seen, touch = [], memory.touch
    monkeypatch.setattr(
        memory, "touch", lambda rows: (seen.append((rows.ctypes.data, len(rows))), touch(rows))
    )
    with ThreadPoolExecutor(1) as threads:
        monkeypatch.setattr(memory, "helper_threads", lambda: threads)
        yield lambda: threads.shutdown() or seen


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_what_was_written_stays(dtype, page_by_page, touched):
    buffer, start = RowBuffer((100, ROW_BYTES // np.dtype(dtype).itemsize), dtype), 0
    assert buffer.values.dtype == dtype
    for count in (1, 1, 1, 1, 3, 9, 1, 40, 20, 22, 1):
        buffer.ensure_ready(start + count)
        buffer.values[start : start + count] = start + 1.0
        start += count
    assert (buffer.values[0] == 1.0).all()
    assert (np.diff(buffer.values.min(axis=1)) >= 0.0).all()
    assert (buffer.values.min(axis=1) == buffer.values.max(axis=1)).all()
    assert buffer.values.min() == 1.0
    counts = [count for _, count in touched()]
    assert len(counts) > 3
    assert max(counts) == 8  # never more than `MAPPED_AHEAD_BYTES`
    assert counts[0] <= 3  # and not more than was used so far


def test_the_rows_mapped_ahead_are_the_next_ones(page_by_page, touched):
    buffer = RowBuffer((20, 1024), np.float64)
    for stop in range(1, 21):
        buffer.ensure_ready(stop)
    assert [(place - buffer.values.ctypes.data) // ROW_BYTES for place, _ in touched()] == [1, 2, 4, 8, 16]


def test_only_large_buffers_have_a_second_thread(page_by_page, touched):
    for n in (2, 3):
        RowBuffer((n, 1024), np.float64).ensure_ready(1)
    assert [count for _, count in touched()] == [1]


@needs_lending
def test_memory_that_is_mapped_already_needs_no_second_thread(nothing_kept, touched, monkeypatch):
    monkeypatch.setattr(memory, "AHEAD_FROM_BYTES", KEPT_FROM_BYTES)
    n = 2 * KEPT_FROM_BYTES // ROW_BYTES
    for _ in range(2):
        buffer = RowBuffer((n, 1024), np.float64)
        buffer.ensure_ready(1)
        del buffer
    RowBuffer((2 * n, 1024), np.float64).ensure_ready(1)
    assert [count for _, count in touched()] == [1, 1]  # the first, and one that is larger than what is kept


def test_small_buffers_ask_for_no_thread(monkeypatch):
    monkeypatch.setattr(memory, "helper_threads", lambda: pytest.fail("asked for a thread"))
    RowBuffer((100, 100), np.float64).ensure_ready(100)


def test_without_helper_threads_there_is_nothing_to_wait_for(page_by_page, monkeypatch):
    monkeypatch.setattr(memory, "helper_threads", lambda: None)
    buffer = RowBuffer((100, 1024), np.float64)
    buffer.values[:] = 1.0
    for stop in range(1, 101):
        buffer.ensure_ready(stop)
    assert (buffer.values == 1.0).all()


@pytest.mark.parametrize("size", [2**40, 2**62])
def test_too_large_a_buffer_is_a_memory_error(size):
    with pytest.raises((MemoryError, ValueError), match=r"allocate|too (large|big)"):
        RowBuffer((size, 2**20), np.float64)


def test_scratch_is_the_same_memory_in_one_thread_and_other_memory_in_another():
    first = scratch((3, 5))
    assert first.shape == (3, 5)
    assert np.shares_memory(first, scratch((5, 3)))
    with ThreadPoolExecutor(1) as other:
        assert not np.shares_memory(first, other.submit(scratch, (3, 5)).result())


@needs_lending
def test_the_memory_of_an_array_that_is_gone_serves_the_next_one(nothing_kept):
    array = reused((LONG,))
    array[:], place = 7.0, array.ctypes.data
    del array
    again = reused((2, LONG), np.float32)
    assert again.ctypes.data == place
    assert again.shape == (2, LONG)
    assert again.dtype == np.float32
    assert again.flags.c_contiguous
    assert again.flags.writeable


@needs_lending
@pytest.mark.parametrize(
    "view",
    [
        lambda a: a[1:],
        lambda a: a.reshape(2, -1)[1],
        lambda a: a.view(np.int64)[::2].T,
        memoryview,
    ],
)
def test_no_memory_is_taken_from_a_view(nothing_kept, view):
    array = reused((LONG,))
    array[:] = 7.0
    left = view(array)
    del array
    other = reused((LONG,))
    other[:] = 8.0
    assert not np.shares_memory(np.asarray(left), other)
    assert (np.asarray(left).view(np.float64) == 7.0).all()


@needs_lending
def test_kept_memory_grows_and_its_pages_stay(nothing_kept):
    array = reused((LONG,))
    array[:] = 7.0
    del array
    larger = reused((3 * LONG,))
    assert larger.shape == (3 * LONG,)
    assert (larger[:LONG] == 7.0).all()  # nothing was mapped anew
    larger[:] = 1.0
    assert memory._kept == []


@needs_lending
def test_the_smallest_memory_that_is_large_enough_is_lent(nothing_kept):
    """The largest for the smaller of two arrays, and the larger one would map new pages each time."""
    three, two, five = (reused((size * KEPT_FROM_BYTES,), np.uint8) for size in (3, 2, 5))
    places = three.ctypes.data, two.ctypes.data
    del three, two, five
    again = [reused((size * KEPT_FROM_BYTES,), np.uint8) for size in (3, 2)]
    assert tuple(each.ctypes.data for each in again) == places
    assert [len(each) // KEPT_FROM_BYTES for each in memory._kept] == [5]


@needs_lending
def test_larger_memory_is_lent_and_new_memory_takes_the_place_of_what_cannot_grow(nothing_kept, monkeypatch):
    class Fixed(mmap.mmap):
        def resize(self, size):
            raise OSError

    monkeypatch.setattr(memory.mmap, "mmap", Fixed)
    places = []
    for size in (3, 1, 4):
        array = reused((size * LONG,))
        array[-1] = 1.0
        places.append((array.ctypes.data, array.shape))
        del array
    assert places[0][0] == places[1][0]
    assert [shape for _, shape in places] == [(3 * LONG,), (LONG,), (4 * LONG,)]


@needs_lending
def test_no_more_is_kept_than_said_and_the_largest_rather(nothing_kept, monkeypatch):
    monkeypatch.setattr(memory, "KEPT_BYTES", 5 * KEPT_FROM_BYTES)
    sizes = (1, 6, 3, 2)
    for array in [[reused((size * LONG,))] for size in sizes]:
        array.clear()
    assert sorted(len(each) // KEPT_FROM_BYTES for each in memory._kept) == [2, 3]


@needs_lending
def test_what_is_lent_to_the_system_can_be_used_again(nothing_kept, monkeypatch):
    monkeypatch.setattr(memory, "LENT_FROM_BYTES", 0)
    array = reused((LONG,))
    array[:] = 7.0
    del array
    again = reused((LONG,))
    again[:] = 8.0
    assert (again == 8.0).all()


@needs_lending
def test_a_small_array_in_large_memory_does_not_have_all_of_it_lent_again(nothing_kept, monkeypatch):
    """To lend pages takes time for each of them."""
    lent = []

    class Memory(mmap.mmap):
        def madvise(self, option, start, length):
            lent.append((start, length))

    monkeypatch.setattr(memory.mmap, "mmap", Memory)
    monkeypatch.setattr(memory, "LENT_FROM_BYTES", 2 * KEPT_FROM_BYTES)
    for size in (3, 1, 2):  # in units of KEPT_FROM_BYTES; the last two in the memory of the first
        array = reused((size * LONG,))
        del array
        assert len(memory._kept) == 1
    assert lent == [(0, 3 * KEPT_FROM_BYTES), (0, 2 * KEPT_FROM_BYTES)]


def test_small_arrays_are_those_of_numpy(nothing_kept):
    array = reused((3, 2), np.float32)
    assert array.base is None
    assert memory._kept == []


def test_threads_never_share_memory(nothing_kept):
    """Each fills an array with a number of its own, and finds it there."""

    def work(number):
        for _ in range(200):
            array = reused((LONG,))
            array[:: mmap.PAGESIZE // 8] = number
            if not (array[:: mmap.PAGESIZE // 8] == number).all():
                return False
        return True

    with ThreadPoolExecutor(8) as threads:
        assert all(threads.map(work, range(8)))


def test_fits_leave_their_memory_to_the_next(nothing_kept):
    """A second problem of the same size maps nothing anew, and what the first one returned stays as it is."""
    X = np.random.default_rng(0).normal(size=(600, 3))
    y = np.where(X[:, 0] * X[:, 1] > 0.0, 1, -1)
    first = DualProblem.classification(X, y, kernel=RBF(1.0))
    alpha = solve(first).alpha
    copy = alpha.copy()
    second = solve(DualProblem.classification(-X, y, kernel=RBF(1.0), C=0.1))
    assert (alpha == copy).all()
    assert second.objective == pytest.approx(solve(second.problem, engine="numpy").objective)


def test_rows_of_a_small_buffer_are_ready_at_once():
    assert RowBuffer((3, 5), np.float64).ready == 3
