"""How work is shared among threads, and that it does not show in the results."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace

import numpy as np
import pytest

from refsvm import RBF, Polynomial
from refsvm.core import arithmetic
from refsvm.core.kernels import Gram
from refsvm.core.kernels.threads import _helper_threads, helper_threads, run_in_pieces

from ...settings import needs_jit

rng = np.random.default_rng(3)
X = np.where(rng.random((370, 11)) < 0.4, rng.normal(size=(370, 11)), 0.0)


@pytest.fixture
def three_threads(monkeypatch):
    """One helper more than a machine of two processors has."""
    with ThreadPoolExecutor(2) as threads:
        monkeypatch.setattr("refsvm.core.kernels.threads.helper_threads", lambda: threads)
        monkeypatch.setattr(type(arithmetic.current), "threads", 3)
        yield


@pytest.mark.parametrize(("size", "width"), [(0, 3), (1, 3), (3, 3), (7, 3), (100, 1)])
def test_every_piece_is_done_once(size, width, three_threads):
    done = np.zeros(size, dtype=int)
    run_in_pieces(lambda part: done.__setitem__(part, done[part] + 1), size, width)
    assert (done == 1).all()


def test_the_caller_and_its_helpers_work_at_once(three_threads):
    meeting = threading.Barrier(3, timeout=20)
    run_in_pieces(lambda part: meeting.wait(), 3, 1)  # no thread gets past it alone


def test_what_a_helper_raises_reaches_the_caller(three_threads):
    meeting, here = threading.Barrier(3, timeout=20), threading.current_thread()

    def work(part):
        meeting.wait()
        if threading.current_thread() is not here:
            raise MemoryError("no room")

    with pytest.raises(MemoryError, match="no room"):
        run_in_pieces(work, 3, 1)


@pytest.mark.parametrize(("pieces", "helpers"), [(1, 0), (2, 1), (3, 2), (9, 2)])
def test_no_more_helpers_are_asked_than_there_are_threads_or_pieces(pieces, helpers, monkeypatch):
    """Of three threads the caller is one."""
    asked = []
    pool = SimpleNamespace(submit=lambda take: asked.append(take) or SimpleNamespace(result=lambda: None))
    monkeypatch.setattr("refsvm.core.kernels.threads.helper_threads", lambda: pool)
    monkeypatch.setattr(type(arithmetic.current), "threads", 3)
    done = []
    run_in_pieces(done.append, 5 * pieces, 5)
    assert len(asked) == helpers
    assert done == [slice(at, at + 5) for at in range(0, 5 * pieces, 5)]


@pytest.mark.parametrize("threads", [1, 2, 3])
def test_the_main_thread_alone_has_helpers_where_there_is_more_than_one(threads, monkeypatch):
    monkeypatch.setattr(arithmetic, "current", SimpleNamespace(threads=threads))
    _helper_threads.cache_clear()
    pool = helper_threads()
    assert (pool is None) == (threads == 1)
    with ThreadPoolExecutor(1) as other:
        assert other.submit(helper_threads).result() is None
    if pool is not None:
        assert pool._max_workers == threads - 1
        pool.shutdown()
    _helper_threads.cache_clear()


def test_there_is_no_help_without_compiled_code(monkeypatch):
    monkeypatch.setattr(arithmetic, "current", arithmetic.Arithmetic())
    assert helper_threads() is None


@needs_jit
@pytest.mark.parametrize("kind", ["dense", "sparse"])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_kernel_rows_are_the_same_on_one_thread_and_on_several(kind, dtype, monkeypatch, three_threads):
    monkeypatch.setattr("refsvm.core.kernels.sparse.TABLE_FROM_ENTRIES", 1)
    monkeypatch.setattr("refsvm.core.kernels.gram.TILE_ENTRIES", 1000)
    data = X if kind == "dense" else pytest.importorskip("scipy.sparse").csr_matrix(X)
    gram, rows = Gram(RBF(0.3), data), np.arange(0, 370, 12)
    several = gram.block(rows, out=np.empty((31, 370), dtype))
    monkeypatch.setattr("refsvm.core.kernels.threads.helper_threads", lambda: None)
    one = gram.block(rows, out=np.empty((31, 370), dtype))
    np.testing.assert_array_equal(one, several)


def test_two_threads_that_evaluate_one_matrix_do_not_write_to_the_same_room():
    """One thread starts and ends while the other is in the middle."""

    class Interrupted(Polynomial):
        busy = False

        def from_inner(self, *three):
            if not Interrupted.busy:
                Interrupted.busy = True
                out = np.empty((10, 370), np.float32)
                other = threading.Thread(target=gram.block, args=(np.arange(20, 30),), kwargs={"out": out})
                other.start()
                other.join()
                np.testing.assert_allclose(
                    out, Gram(Polynomial(degree=2), X).block(np.arange(20, 30)), rtol=1e-6
                )
            return super().from_inner(*three)

    gram, rows = Gram(Interrupted(degree=2), X), np.arange(10)
    for _ in range(2):
        Interrupted.busy = False
        found = gram.block(rows, out=np.empty((10, 370), np.float32))
        np.testing.assert_allclose(found, Gram(Polynomial(degree=2), X).block(rows), rtol=1e-6, atol=1e-6)
