"""Memory for kernel rows: written in order, mapped ahead by a second thread, never touched once it is in use."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from refsvm.kernels import memory
from refsvm.kernels.memory import RowBuffer, scratch

ROW_BYTES = 8192


@pytest.fixture
def page_by_page(monkeypatch):
    """Treat even small buffers as large ones."""
    monkeypatch.setattr(memory, "SMALL_PAGES_FROM_BYTES", 3 * ROW_BYTES)
    monkeypatch.setattr(memory, "MAPPED_AHEAD_BYTES", 8 * ROW_BYTES)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_what_was_written_stays(dtype, page_by_page, monkeypatch):
    touched = []
    touch = memory.touch
    monkeypatch.setattr(memory, "touch", lambda rows: (touched.append(len(rows)), touch(rows)))
    buffer, start = RowBuffer((100, ROW_BYTES // np.dtype(dtype).itemsize), dtype), 0
    assert buffer.values.dtype == dtype
    with ThreadPoolExecutor(1) as threads:
        monkeypatch.setattr(memory, "helper_threads", lambda: threads)
        for count in (1, 1, 1, 1, 3, 9, 1, 40, 20, 22, 1):
            buffer.ensure_ready(start + count)
            buffer.values[start : start + count] = start + 1.0
            start += count
    assert (buffer.values[0] == 1.0).all()
    assert (np.diff(buffer.values.min(axis=1)) >= 0.0).all()
    assert (buffer.values.min(axis=1) == buffer.values.max(axis=1)).all()
    assert buffer.values.min() == 1.0
    assert len(touched) > 3
    assert max(touched) == 8  # never more than `MAPPED_AHEAD_BYTES`
    assert touched[0] <= 3  # and not more than was used so far


def test_the_rows_mapped_ahead_are_the_next_ones(page_by_page, monkeypatch):
    seen = []
    buffer = RowBuffer((20, 1024), np.float64)
    first = buffer.values.ctypes.data
    monkeypatch.setattr(memory, "touch", lambda rows: seen.append((rows.ctypes.data - first) // ROW_BYTES))
    with ThreadPoolExecutor(1) as threads:
        monkeypatch.setattr(memory, "helper_threads", lambda: threads)
        for stop in range(1, 21):
            buffer.ensure_ready(stop)
    assert seen == [1, 2, 4, 8, 16]


def test_only_large_buffers_have_small_pages_and_a_second_thread(page_by_page, monkeypatch):
    made, touched, with_small_pages = [], [], memory.with_small_pages
    monkeypatch.setattr(
        memory, "with_small_pages", lambda shape, dtype: made.append(shape) or with_small_pages(shape, dtype)
    )
    monkeypatch.setattr(memory, "touch", lambda rows: touched.append(len(rows)))
    with ThreadPoolExecutor(1) as threads:
        monkeypatch.setattr(memory, "helper_threads", lambda: threads)
        for n in (2, 3):
            RowBuffer((n, 1024), np.float64).ensure_ready(1)
    assert made == [(3, 1024)]
    assert touched == [1]


def test_small_buffers_ask_for_no_thread(monkeypatch):
    monkeypatch.setattr(memory, "helper_threads", lambda: pytest.fail("asked for a thread"))
    RowBuffer((100, 100), np.float64).ensure_ready(100)


def test_without_helper_threads_there_is_nothing_to_wait_for(page_by_page, monkeypatch):
    monkeypatch.setattr(memory, "helper_threads", lambda: None)
    buffer = RowBuffer((100, 1024), np.float64)
    for stop in range(1, 101):
        buffer.ensure_ready(stop)
    assert (buffer.values == 0.0).all()


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
