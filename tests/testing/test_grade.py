"""The grader: solutions get all points, blank notebooks none, and no attack gets points or does harm."""

from __future__ import annotations

import io
import json
import os
import sys
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path

import numpy as np
import pytest

import refsvm
from refsvm import AVG, TOP, KKTGap, SecondOrder, WorkingSetSelector
from refsvm.datasets import load
from refsvm.testing import assignments as oracles
from refsvm.testing import grade as grader
from refsvm.testing.assignments import ASSIGNMENTS, Lost, replayed

from ..programs import module

ROOT = Path(__file__).parents[2]
in_repository = pytest.mark.skipif(
    not (ROOT / "docs/assignments").is_dir(), reason="the assignments are not here"
)
pytestmark = [pytest.mark.slow, pytest.mark.skipif(os.name != "posix", reason="the grader limits processes")]


@pytest.fixture(autouse=True)
def _alone(tmp_path_factory):
    """Each test counts the processes that are left, so other workers wait."""
    fcntl = pytest.importorskip("fcntl")
    with (tmp_path_factory.getbasetemp().parent / "graders").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


@in_repository
@pytest.mark.parametrize("name", ASSIGNMENTS)
def test_a_solution_gets_all_points_and_a_blank_notebook_none(name, tmp_path):
    maker = module("assignments", "docs/_ext")
    source = ROOT / f"docs/assignments/{name}.py"
    for solved, share in ((True, 1), (False, 0)):
        file = tmp_path / f"{name}.ipynb"
        file.write_text(maker.notebook(source, solved=solved), encoding="utf-8")
        result = grader.grade(file, seed=5)
        assert (result.points, result.assignment) == (share * result.out_of, name), result.lost
    assert sum(
        f"({point.worth}): " in line for point, line in zip(ASSIGNMENTS[name], result.lost, strict=True)
    )


SOURCE = str(Path(refsvm.__file__).parent / "testing/assignments.py")
PROBLEM = "DualProblem.classification(y=y.astype(int), gram=K, C=C).duality_gap(alpha)"
SITE = str(Path(refsvm.__file__).parents[1])
BODIES = {
    "constant": "return 1.0",
    "another number": "return 2.0 * alpha @ K @ alpha",
    "import of the package": f"sys.path[:0] = [{SITE!r}]\n from refsvm import DualProblem\n return PROBLEM",
    "load of the oracle": "from importlib.machinery import SourceFileLoader\n"
    f" SourceFileLoader('numpy.x', {SOURCE!r}).load_module()",
    "file of the oracle": f"raise ValueError(open({SOURCE!r}).read()[:100])",
    "file by NumPy": f"return np.fromfile({SOURCE!r}, np.uint8)",
    "path of another class": f"P = type('P', (str,), dict(startswith=lambda *a: True))\n open(P({SOURCE!r}))",
    "memory of the grader": "open(f'/proc/{os.getppid()}/mem', 'rb')",
    "caught": "try:\n  import sklearn\n except BaseException:\n  return None",
    "ended": "os._exit(0)",
    "exit": "sys.exit(0)",
    "patched": "json.dumps = lambda *a, **k: '{\"value\": true}'\n json.loads = json.dumps\n return 1",
    "printed": "print('{\"value\": 1}' * 10)",
    "written to all files": "for k in range(32):\n  try: os.write(k, b'{\"value\": 1}\\n')\n  except OSError: 0",
    "processes": "import subprocess\n subprocess.Popen(['sleep', '1000'])",
    "fork": "os.fork()\n time.sleep(1000)",
    "end of the grader": "os.kill(os.getppid(), 9)",
    "limits": "import resource",
    "C": "import ctypes\n ctypes.CDLL(None)",
    "objects": "import gc\n gc.get_objects()",
    "deleted": "os.remove(CANARY)",
    "disk": "open('x', 'w').write('x' * 10**9)",
    "memory": "return bytearray(10**11)",
    "hang": "while True: 0",
    "much text": "while True: print('x' * 10**6)",
    "long answer": "return [0] * 10**7",
    "deep answer": "os.write(int(sys.argv[1]), b'[' * 10**6 + b'\\n')",
    "number without end": "os.write(int(sys.argv[1]), b'{\"value\": 1' + b'0' * 10**5 + b'}\\n')",
}
"""Bodies of a function, each an attempt to get its point or to do harm."""

ORDINARY = """
from __future__ import annotations
import dataclasses, functools, typing, warnings
import numpy as np
@dataclasses.dataclass(frozen=True)
class Ends:
    top: float
    bottom: float = 0.0
@functools.lru_cache
def kkt_gap_of(ends): return ends.top - ends.bottom
def kkt_gap(G, alpha, lower, upper):
    warnings.warn("ordinary")
    np.unique(G); np.setdiff1d(G, G); np.median(G); np.ix_([1], [2]); np.random.default_rng(0).normal(size=3)
    np.linalg.lstsq(np.eye(2), np.ones(2), rcond=None); np.einsum("i,i", G, G); np.array2string(G)
    return kkt_gap_of(Ends(G[alpha < upper].max(), G[alpha > lower].min()))
"""
"""Code that a student may write."""


@pytest.fixture
def attacked(monkeypatch):
    """An assignment of two points; the attacks replace the first function."""
    points = [replace(point, seconds=4.0) for point in ASSIGNMENTS["04_certificate"]]
    chosen = [point for name in ("duality_gap", "kkt_gap") for point in points if point.function == name]
    monkeypatch.setitem(ASSIGNMENTS, "attacked", chosen)


@pytest.mark.parametrize("attack", BODIES)
def test_no_attack_gets_a_point_or_does_harm(attack, attacked, tmp_path, capfd):
    canary, file = tmp_path / "canary", tmp_path / "attack.ipynb"
    canary.write_text("here")
    body = BODIES[attack].replace("CANARY", repr(str(canary))).replace("PROBLEM", PROBLEM)
    code = f"# answer\n{ORDINARY}import json, os, sys, time\ndef duality_gap(K, y, C, alpha):\n {body}\n"
    cells = [{"cell_type": "code", "source": code}]
    file.write_text(json.dumps({"cells": cells, "metadata": {"refsvm": {"assignment": "attacked"}}}))
    assert grader.main([str(file), "--seed", "3", "--json", str(tmp_path / "grade.json")]) == 0
    result = json.loads((tmp_path / "grade.json").read_text())
    assert (result["points"], len(result["lost"])) == (1, 1)
    assert result["lost"][0].startswith("duality_gap, ")
    assert len(result["printed"]) <= grader.PRINTED
    out = capfd.readouterr().out
    assert len(out) < 1_000
    assert "seed" not in out
    assert {each.name for each in tmp_path.iterdir()} == {"canary", "attack.ipynb", "grade.json"}
    if sys.platform == "linux":
        started = (read(each) for each in Path("/proc").glob("[0-9]*/cmdline"))
        mine = os.fsencode(sys.executable)  # other graders may run on this machine
        assert not [each for each in started if each.startswith(mine) and b"HOOK = " in each]


def read(file: Path) -> bytes:
    try:
        return file.read_bytes()
    except OSError:  # the process has ended
        return b""


ESCAPED = """
import os, sys
import numpy as np
def words(address, n):
    data = {"data": (address, False), "shape": (n,), "typestr": "<u8", "version": 3}
    return np.asarray(type("Memory", (), {"__array_interface__": data})())
class All:
    def __contains__(self, event): return True
ALL, NAME = All(), "never"
def opened(path):
    try:
        open(path)
    except PermissionError as error:
        constants = error.__traceback__.tb_next.tb_frame.f_code.co_consts
    for k, constant in enumerate(constants):
        if isinstance(constant, frozenset) or constant == "open":
            words(id(constants) + 24, len(constants))[k] = id(NAME if constant == "open" else ALL)
    if hasattr(os, "setpriority") or hasattr(sys.modules["_imp"], "create_builtin"):
        return "os is here"
    return len(open(path).read())
"""
"""An answer that overwrites the audit hook."""


def test_an_answer_that_overwrites_the_hook_opens_no_file():
    process = grader.StudentProcess([ESCAPED], "opened", 4.0)
    try:
        with pytest.raises(Lost, match="Errno 24"):
            process.call(SOURCE)
    finally:
        process.close()


def test_no_set_of_os_holds_a_function():
    """With mkfifo an answer made files: the audit hook does not hear of it."""
    code = (
        "import os\ndef held(): return [f.__name__ for s in vars(os).values() if type(s) is set for f in s]"
    )
    process = grader.StudentProcess([code], "held", 4.0)
    try:
        assert process.call() == []
    finally:
        process.close()


KEEPS_ROWS = """
import numpy as np
rows = {}
def choose(alpha, gradient, lower, upper, diagonal, row):
    if not alpha.any():  # a new problem
        rows.clear()
    for i in [i for i in np.argsort(-np.abs(gradient)).tolist() if i not in rows][:4]:
        rows[i] = row(i)
    up, down = alpha < upper, alpha > lower
    best = int(np.where(up, gradient, -np.inf).argmax()), int(np.where(down, gradient, np.inf).argmin())
    most = 0.0
    for i, of_i in rows.items():
        q = np.maximum(diagonal + diagonal[i] - 2.0 * of_i, 1e-12)
        gain = np.where(down & up[i] & (gradient[i] > gradient), (gradient[i] - gradient) ** 2 / q, 0.0)
        if gain.max() > most:
            most, best = gain.max(), (i, int(gain.argmax()))
    return best
"""
"""A rule that knows more rows than it may ask for in one step, so it finds the pair with the largest gain."""


def test_a_rule_that_keeps_rows_wins_no_race(monkeypatch):
    monkeypatch.setattr(oracles, "FIVE", {"heart": 0.05})
    point = replace(ASSIGNMENTS["09_project"][1], run=oracles.beats(0))
    reason, _, _ = grader.examine(point, [KEEPS_ROWS], np.random.default_rng(1))
    assert "in a new process" in reason


@dataclass(frozen=True)
class KnowsTheSet(WorkingSetSelector):
    """The pair with the largest gain by the examples of the data set, which lack the grader's noise."""

    drawn: list[np.ndarray]

    def select(self, state):
        """Return the pair."""
        if state.gap <= 0.0:
            return -1, -1
        if not state.alpha.any() and len(self.drawn) > 1:  # a new problem
            self.drawn.pop(0)
        q = np.maximum(state.diagonal[:, None] + state.diagonal - 2.0 * self.drawn[0], 1e-12)
        slope = np.maximum(state.gradient[:, None] - state.gradient, 0.0)
        longest = np.minimum((state.upper - state.alpha)[:, None], state.alpha - state.lower)
        step = np.minimum(slope / q, longest)
        return divmod(int((step * (slope - 0.5 * q * step)).argmax()), len(q))


def test_a_rule_that_contains_the_data_sets_does_not_win():
    found, rng, drawn = load("heart"), np.random.default_rng(3), [None]
    for _ in range(oracles.SAMPLES):
        some = found.X[rng.permutation(len(found.y))[:100]]
        drawn.append(oracles.gaussian(some, some, oracles.FIVE["heart"]))
        rng.normal(size=(100, found.X.shape[1]))
    known = oracles.steps_on("heart", 3, KnowsTheSet(drawn))
    assert len(drawn) == 1
    assert known > oracles.steps_on("heart", 3, SecondOrder())


def test_a_rule_that_stalls_does_not_win():
    def choose(alpha, gradient, lower, upper, diagonal, row):
        up, down = np.where(alpha < upper, gradient, np.inf), np.where(alpha > lower, gradient, -np.inf)
        return int(up.argmin()), int(down.argmax())

    for point in ASSIGNMENTS["09_project"][1:]:
        with pytest.raises(Lost):
            point.run(choose, np.random.default_rng(1))


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("{", "is not a notebook"),
        ('{"cells": [], "metadata": {}}', "which does not exist; choose from 01_the_loop"),
    ],
)
def test_what_is_not_an_assignment_is_refused(text, reason, tmp_path, capsys):
    (tmp_path / "a.ipynb").write_text(text)
    assert grader.main([str(tmp_path / "a.ipynb")]) == 2
    assert reason in capsys.readouterr().err


@pytest.mark.parametrize("name", ASSIGNMENTS)
def test_no_point_is_earned_by_a_constant_or_by_an_argument(name):
    answers = [lambda *given, row=None, value=value: value for value in (0, 1, -1, [], None, "x", [0, 1])]
    answers += [lambda *given, row=None, k=k: np.asarray(given[k % len(given)]).tolist() for k in range(4)]
    for point, answer in product(ASSIGNMENTS[name], answers):
        with pytest.raises(Lost):
            point.run(answer, np.random.default_rng(1))


def without_rest(K, y, C, alpha, r):
    seed, missing, (lower, upper) = alpha.copy(), alpha[r], oracles.box_without(y, C, r)
    seed[r] = 0.0
    free = (seed > lower) & (seed < upper)
    while abs(missing) > 1e-12 and (takers := free & (seed < upper if missing > 0.0 else seed > lower)).any():
        given = np.where(takers, np.clip(seed + missing / takers.sum(), lower, upper), seed)
        seed, missing = given, missing - (given - seed).sum()
    return seed


def on_a_grid(K, y, C_min, C_max):
    C = np.geomspace(C_min, C_max, 80)
    C[0], C[-1] = C_min, C_max
    of = [oracles.solve(oracles.problem_of(K, y, c), stop=KKTGap(1e-12), engine="numpy").alpha for c in C]
    slopes = np.diff(of, axis=0) / np.diff(C)[:, None]
    bends = np.flatnonzero(np.abs(np.diff(slopes, axis=0)).max(axis=1) > 1e-5) + 1
    return [[C[k], *of[k]] for k in (0, *bends, 79)]


def test_half_an_answer_does_not_earn_the_other_half():
    def trains(second_order):
        def train(K, y, C, tol):
            (lower, upper), alpha, G, pairs = oracles.box(y, C), np.zeros(len(y)), y.copy(), []
            while oracles.gap_of(G, alpha, lower, upper) > tol:
                i, j = oracles.most_violating(G, alpha, lower, upper)
                if second_order:
                    j = int(oracles.gains(G, alpha, lower, K[i], np.diag(K), i).argmax())
                oracles.take(K, G, alpha, lower, upper, i, j)
                pairs.append([i, j])
            return [alpha.tolist(), pairs]

        return train

    loop, second, loo, seeder, path = (ASSIGNMENTS[sorted(ASSIGNMENTS)[k]] for k in (0, 2, 5, 6, 7))
    for points, is_second in ((loop, False), (second, True)):
        points[-1].run(trains(is_second), np.random.default_rng(0))
    halves = [
        *((loop[k], lambda K, G, a, L, U, i, j: min(U[i] - a[i], a[j] - L[j])) for k in (1, 2)),
        *((loop[k], trains(True)) for k in (-2, -1)),
        *((second[k], trains(False)) for k in (-2, -1)),
        (loo[-1], lambda *given: np.sign(oracles.left_out_values(*given, 10))),
        *((seeder[k], oracles.seed_of(TOP())) for k in (0, 1)),
        *((seeder[k], oracles.seed_of(AVG())) for k in (2, 3)),
        (second[2], lambda G, a, L, row, d, i: np.where(np.arange(len(G)) == i, 9e9, d - 2.0 * row).argmin()),
        *((second[k], lambda G, a, L, *rest: np.where(a > L, G, 9e9).argmin()) for k in (1, 2, 3)),
        (ASSIGNMENTS["04_certificate"][0], lambda G, a, L, U: np.ptp(G[(a > L) & (a < U)])),
        *((path[k], lambda K, y, free: np.zeros(4)) for k in (1, 2)),
        (loop[2], lambda K, G, a, L, U, i, j: (G[i] - G[j]) * 1e12),
        (loop[3], lambda G, a, L, U: oracles.most_violating(G, a, L + 1e-3, U - 1e-3)),
        *((loop[k], lambda K, *rest: oracles.step_of(K + np.diag(1 - np.diag(K)), *rest)) for k in range(3)),
        (second[3], lambda G, *rest: -1 if G[rest[-1]] <= G.min() else oracles.gains(G, *rest).argmax()),
        (seeder[1], without_rest),
        (path[3], on_a_grid),
    ]
    for (point, answer), seed in product(halves, range(5)):
        with pytest.raises(Lost):
            point.run(answer, np.random.default_rng(seed))


@pytest.mark.parametrize(
    ("found", "wins"),
    [
        ((0.97, 1.0, 1.03, 0.99, 1.01), ()),  # chance: one set is won
        ((0.97, 0.97, 0.97, 1.03, 1.03), ()),  # chance: three sets are won, the mean is 0.994
        ((0.9, 0.96, 0.99, 0.99, 0.99), (0,)),
        ((0.96, 0.94, 0.97, 0.95, 0.91), (0, 3)),  # the model solution
    ],
)
def test_a_race_is_won_by_a_margin(found, wins, monkeypatch):
    monkeypatch.setattr(oracles, "ratios", lambda *_: dict(zip(oracles.FIVE, found, strict=True)))
    monkeypatch.setattr(oracles, "keeps_nothing", lambda *_: None)
    for most in (0, 3):
        if most in wins:
            oracles.beats(most)(None, None)
        else:
            with pytest.raises(Lost, match="the geometric mean of the ratios"):
                oracles.beats(most)(None, None)


def test_a_student_reads_causes_once_and_gets_the_arguments(attacked, tmp_path, capsys):
    file, shown = tmp_path / "a.ipynb", tmp_path / "failed.json"
    code = "# answer\ndef kkt_gap(G, *rest): pass"
    cells = [{"cell_type": "code", "source": source} for source in (code, "# answer\ndef duality_gap(:")]
    file.write_text(json.dumps({"cells": cells, "metadata": {"refsvm": {"assignment": "attacked"}}}))
    assert grader.main([str(file), "--show", str(shown)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert (
        "no cell that begins with # answer defines duality_gap() (answer cell 2 raised SyntaxError"
        in lines[0]
    )
    assert "the answer is None; end the function with return" in lines[1]
    assert lines[2].startswith("attacked: 0 of 2 points (seed ")
    failed = json.loads(shown.read_text())
    assert list(failed) == lines[:2]
    assert len(failed[lines[1]][0]) == 24


def test_a_terminal_without_greek_letters_gets_escapes(attacked, tmp_path, monkeypatch):
    source = "# answer\ndef kkt_gap(G, *rest): raise ValueError('\u03c8')"
    book = {"cells": [{"cell_type": "code", "source": source}], "metadata": {}}
    (tmp_path / "a.ipynb").write_text(json.dumps(book))
    written = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(written, encoding="ascii"))
    assert grader.main([str(tmp_path / "a.ipynb"), "--assignment", "attacked"]) == 0
    assert rb"it raised ValueError: \u03c8." in written.getvalue()


@pytest.mark.parametrize(
    ("pairs", "reason"),
    [
        ([[1, 0], [1, 0]], "step 2: .*; is the order"),
        ([[1, 0], [0, 1]], r"the pair \(0, 1\); the rule chooses \(3, 2\)"),
    ],
)
def test_a_wrong_step_is_named_with_the_pair_of_the_rule(pairs, reason):
    y, G = np.array([-1.0, 1.0, -1.0, 1.0]), np.array([0.0, 1.0, 0.0, 1.0])
    K = np.outer(G, G) + np.eye(4)
    check = replayed(second_order=False, whole=False)
    with pytest.raises(Lost, match=reason):
        check([[0.0] * 4, pairs], K, y, 0.1, 1e-3)
