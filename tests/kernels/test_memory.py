"""Memory for kernel rows: handed out in order, made ready by another thread, never touched once it is in use."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from refsvm.kernels import memory
from refsvm.kernels.memory import Room, scratch


@pytest.fixture
def page_by_page(monkeypatch):
    """Treat even small arrays as large ones."""
    for name, size in {"FIRST": 2 * 8192, "AHEAD": 8 * 8192}.items():
        monkeypatch.setattr(memory, name, size)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_what_was_written_stays(dtype, page_by_page, monkeypatch):
    touched = []
    touch = memory.touch
    monkeypatch.setattr(memory, "touch", lambda rows: (touched.append(len(rows)), touch(rows)))
    room, start = Room((100, 8192 // np.dtype(dtype).itemsize), dtype), 0
    assert room.values.dtype == dtype
    with ThreadPoolExecutor(1) as threads:
        monkeypatch.setattr(memory, "helpers", lambda: threads)
        for count in (1, 1, 1, 1, 3, 9, 1, 40, 20, 22, 1):
            room.wait(start + count)
            room.values[start : start + count] = start + 1.0
            start += count
    assert (room.values[0] == 1.0).all()
    assert (np.diff(room.values.min(axis=1)) >= 0.0).all()
    assert (room.values.min(axis=1) == room.values.max(axis=1)).all()
    assert room.values.min() == 1.0
    assert len(touched) > 3
    assert max(touched) == 8  # never more than `AHEAD`
    assert touched[0] <= 3  # and not more than was used so far


def test_a_touched_page_is_the_next_one_to_be_used(page_by_page, monkeypatch):
    seen = []
    room = Room((20, 1024), np.float64)
    monkeypatch.setattr(
        memory, "touch", lambda rows: seen.append((rows.ctypes.data - room.values.ctypes.data) // 8192)
    )
    with ThreadPoolExecutor(1) as threads:
        monkeypatch.setattr(memory, "helpers", lambda: threads)
        for stop in range(1, 21):
            room.wait(stop)
    assert seen == [3, 6, 12]


def test_very_large_arrays_have_no_huge_pages(page_by_page, monkeypatch):
    seen, asked, pages = [], [], memory.pages
    monkeypatch.setattr(memory, "LARGE", 20 * 8192)
    monkeypatch.setattr(memory, "pages", lambda *three: asked.append(three[2]) or pages(*three))
    monkeypatch.setattr(memory, "touch", lambda rows: seen.append(len(rows)))
    with ThreadPoolExecutor(1) as threads:
        monkeypatch.setattr(memory, "helpers", lambda: threads)
        for n in (19, 20):
            Room((n, 1024), np.float64).wait(1)
    assert asked == [2 * 8192, 0]
    assert seen == [1]  # of the larger one


def test_small_arrays_are_not_touched(monkeypatch):
    monkeypatch.setattr(memory, "helpers", lambda: pytest.fail("asked for a thread"))
    Room((100, 100), np.float64).wait(100)


def test_without_helpers_there_is_nothing_to_wait_for(page_by_page, monkeypatch):
    monkeypatch.setattr(memory, "helpers", lambda: None)
    room = Room((100, 1024), np.float64)
    for stop in range(1, 101):
        room.wait(stop)
    assert (room.values == 0.0).all()


@pytest.mark.parametrize("size", [2**40, 2**62])
def test_too_large_an_array_is_a_memory_error(size):
    with pytest.raises((MemoryError, ValueError), match=r"allocate|too (large|big)"):
        Room((size, 2**20), np.float64)


def test_scratch_is_the_same_room_in_one_thread_and_another_one_in_another():
    first = scratch((3, 5))
    assert first.shape == (3, 5)
    assert np.shares_memory(first, scratch((5, 3)))
    with ThreadPoolExecutor(1) as other:
        assert not np.shares_memory(first, other.submit(scratch, (3, 5)).result())
