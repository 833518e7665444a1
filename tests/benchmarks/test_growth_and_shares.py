"""Growth, shares of the work, and the store of finished rows."""

import json
import math

import numpy as np
import pytest

from .rows import cells, row


def test_the_exponent_is_that_of_the_power_law_whatever_is_missing(peers):
    sizes = np.array([1e3, 2e3, 5e3, 1e4])
    times = 3e-7 * sizes**1.7
    times[2] = math.nan
    assert peers("growth").exponent(sizes, times) == pytest.approx(1.7)
    assert math.isnan(peers("growth").exponent(sizes[:1], times[:1]))


def grown(peers):
    rows = [
        row(peers, "board", n=n, ours=1e-6 * n, b=1e-9 * n**2, c="over 10 min") for n in (1000, 2000, 4000)
    ]
    return peers("growth").Growth("board", "n", rows)


def test_the_growth_table_ends_with_the_exponents(peers):
    pytest.importorskip("tabulate")
    lines = cells(peers("report").growth_tables([grown(peers)]).split("\n\n")[1])
    assert lines[0] == ["", "n = 1,000", "n = 2,000", "n = 4,000", "exponent"]
    assert [(line[0], line[-1]) for line in lines[2:]] == [
        ("ours, s", "1.00"), ("b, s", "2.00"), ("c, s", "–"), ("ours, iterations", "–"), ("ours, kernel rows", "–"),
    ]  # fmt: skip


def test_the_plot_is_a_small_png(peers, tmp_path):
    pytest.importorskip("matplotlib")
    peers("growth").plotted([grown(peers)], tmp_path / "growth.png")
    drawn = (tmp_path / "growth.png").read_bytes()
    assert drawn.startswith(b"\x89PNG")
    assert len(drawn) < 200_000


def test_the_stopwatch_books_nested_parts_apart(peers):
    ticks = iter([0.0, 1.0, 3.0, 7.0, 8.0, 16.0])
    stopwatch = peers("watching").Stopwatch(clock=lambda: next(ticks))
    inner = stopwatch.timed("rows", lambda: None)
    stopwatch.timed("loop", inner)()
    stopwatch.turn()
    assert dict(stopwatch.seconds) == {"rest": 1.0 + 8.0, "loop": 2.0 + 1.0, "rows": 4.0}


@pytest.mark.slow
def test_a_watched_fit_shows_every_part_and_leaves_the_package_as_it_was(peers, thyroid):
    pytest.importorskip("sklearn")
    pytest.importorskip("numba")
    from refsvm.kernels import Gram

    before = Gram.block
    ours = peers("libraries").LIBRARIES[0]
    parts = peers("watching").Watch(ours, thyroid, 100.0).answer().evidence.parts
    assert {"kernel rows", "loop", "rest"} <= set(parts)
    assert min(parts[part] for part in ("kernel rows", "loop", "rest")) > 0.0
    assert Gram.block is before


def test_finished_rows_are_kept_and_a_new_one_replaces_the_old(peers, tmp_path):
    keep, path = peers("store").keep, tmp_path / "runs" / "large.json"
    for seconds in (1.0, 2.0):
        keep(path, row(peers, "a", ours=seconds, b="over 16 GB"))
    keep(path, row(peers, "b", ours=3.0))
    assert len(json.loads(path.read_text())) == 2
    kept = peers("store").kept(path)
    assert (kept["a"].outcomes["ours"].seconds, kept["a"].outcomes["b"].stopped) == (2.0, "over 16 GB")
