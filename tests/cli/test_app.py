"""The command line: what it prints, what it writes, and how it refuses."""

import io
import json
import os
import signal
import subprocess
import sys
import warnings

import numpy as np
import pytest

pytest.importorskip("typer")
pytest.importorskip("rich")
pytest.importorskip("sklearn")

import typer
from rich.console import Console
from sklearn import svm
from sklearn.datasets import dump_svmlight_file
from typer.testing import CliRunner

import refsvm
from refsvm.cli import choices, comparison, tables
from refsvm.cli.app import app
from refsvm.cli.prediction import label_text
from refsvm.datasets import load
from refsvm.datasets import names as bundled_names
from refsvm.solver.limits import Limits

HEADER = "a,b,kind\n"
ROWS = "0,0.5,elm\n1,0.25,oak\n0.25,0,elm\n1.5,2,oak\n1.25,1,oak\n-1,0,elm\n"


@pytest.fixture(autouse=True)
def _no_data_directory(monkeypatch):
    monkeypatch.delenv("REFSVM_DATA", raising=False)


def run(*arguments):
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def works(*arguments):
    result = run(*arguments)
    assert result.exit_code == 0, result.stderr
    return result


def json_of(*arguments):
    return json.loads(works(*arguments, "--json").stdout)


def refused(*arguments):
    """Run what must be refused: exit code 2, nothing on stdout, one sentence on stderr. Return the sentence."""
    result = run(*arguments)
    assert_refusal(result.exit_code, result.stdout, result.stderr)
    return result.stderr


def assert_refusal(code, stdout, stderr):
    assert code == 2
    assert stdout == ""
    assert "Traceback" not in stderr
    assert "╭" not in stderr
    assert stderr.startswith("refsvm: ")
    assert stderr.count("\n") == 1
    assert stderr.endswith((".\n", "?\n"))


@pytest.fixture
def write(tmp_path):
    def write(name, content):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return write


@pytest.fixture
def heart_files(tmp_path):
    """The heart data as a LIBSVM file, a CSV file, an archive."""
    heart = load("heart")
    dump_svmlight_file(heart.X, heart.y, str(tmp_path / "h.libsvm"), zero_based=False)
    header = ",".join([*(f"x{j}" for j in range(heart.d)), "disease"])
    table = np.column_stack([heart.X, heart.y])
    np.savetxt(tmp_path / "h.csv", table, delimiter=",", header=header, comments="", fmt="%.17g")
    np.savez(tmp_path / "h.npz", X=heart.X, y=heart.y)
    return {ending: tmp_path / f"h.{ending}" for ending in ("libsvm", "csv", "npz")}


# -- compare -----------------------------------------------------------------------------------------------------------


def test_compare_lists_every_selector_in_every_engine_and_they_agree():
    document = json_of("compare", "heart")
    runs = document["runs"]
    assert [(r["selector"], r["engine"]) for r in runs] == [
        ("mvp", "numba"), ("mvp", "numpy"), ("second-order", "numba"), ("second-order", "numpy"),
    ]  # fmt: skip
    objectives = [r["objective"] for r in runs]
    assert max(objectives) - min(objectives) <= 1e-6 * max(objectives)
    assert document["objective_spread"] == pytest.approx(
        (max(objectives) - min(objectives)) / max(objectives)
    )
    for compiled, readable in (runs[:2], runs[2:]):
        assert compiled["iterations"] == readable["iterations"]
        assert compiled["kernel_rows"] == readable["kernel_rows"]
    for r in runs:
        assert r["status"] == "CONVERGED"
        assert 0 < r["kkt_gap"] <= 1e-6
        assert r["duality_gap"] == pytest.approx(r["primal_objective"] - r["objective"], abs=1e-12)
        assert r["seconds"] > 0
        assert r["first_use_seconds"] > 0
    assert document["interrupted"] is False
    assert document["left_out"] == []


def test_compare_tells_the_same_as_scikit_learn():
    heart = load("heart")
    fitted = svm.SVC(C=2.0, gamma=0.05, tol=1e-8).fit(heart.X, heart.y)
    first = json_of("compare", "heart", "--C", 2, "--gamma", 0.05, "--tol", 1e-8, "--engines", "numpy")[
        "runs"
    ][0]
    coefficients = np.zeros(heart.n)
    coefficients[fitted.support_] = fitted.dual_coef_[0]
    K = refsvm.RBF(0.05)(heart.X, heart.X)
    objective = coefficients @ heart.y - 0.5 * coefficients @ K @ coefficients
    assert first["objective"] == pytest.approx(objective, rel=1e-10)
    assert first["training_error"] == pytest.approx(1.0 - fitted.score(heart.X, heart.y), abs=1e-12)
    assert first["support_vectors"] == len(fitted.support_)
    assert first["bounded_support_vectors"] == np.count_nonzero(np.abs(fitted.dual_coef_) == 2.0)


def test_compare_prints_a_table_and_nothing_on_stderr():
    result = works("compare", "heart")
    lines = result.stdout.splitlines()
    assert lines[0] == "heart: 270 examples, 13 features; rbf kernel (gamma=0.005), C=1, tol=1e-06"
    assert sum(line.split()[:2] == ["second-order", "newton"] for line in lines) == 2
    assert sum("129.6024321" in line for line in lines) == 4
    assert "The objectives agree to" in result.stdout
    assert "status" not in result.stdout
    assert result.stderr == ""


def test_every_public_rule_has_a_name():
    exported = {value for value in vars(refsvm).values() if isinstance(value, type)}
    for table, base in ((choices.SELECTORS, refsvm.WorkingSetSelector), (choices.STEPS, refsvm.StepRule)):
        assert set(table.values()) == {rule for rule in exported if issubclass(rule, base)} - {base}
    assert choices.SELECTORS["mvp"] is refsvm.MostViolatingPair
    assert choices.SELECTORS["second-order"] is refsvm.SecondOrder
    assert choices.STEPS["newton"] is refsvm.NewtonStep


def test_all_takes_every_rule_and_leaves_out_what_does_not_fit_together():
    options = "--selectors all --steps all --engines numpy --max-iter 20 --json"
    result = run("compare", "thyroid", *options.split())
    assert result.exit_code == 0
    document = json.loads(result.stdout)
    total = len(choices.SELECTORS) * len(choices.STEPS)
    assert len(document["runs"]) + len(document["left_out"]) == total
    assert ("mvp", "planning-ahead") in {(s["selector"], s["step"]) for s in document["left_out"]}
    assert {r["selector"] for r in document["runs"]} == set(choices.SELECTORS)
    assert result.stderr.count("\n") == len(document["left_out"])
    assert (
        "note: mvp, planning-ahead, numpy left out: selector=MostViolatingPair() cannot be" in result.stderr
    )


def test_where_every_strategy_is_refused_the_reason_is_the_error():
    message = refused("compare", "heart", "--selectors", "mvp", "--steps", "planning-ahead")
    assert "cannot be combined" in message


@pytest.mark.parametrize(
    ("arguments", "C", "kernel"),
    [
        (["ionosphere"], 3.0, {"name": "rbf", "gamma": 0.4}),
        (["ionosphere", "--C", 2, "--gamma", 0.1], 2.0, {"name": "rbf", "gamma": 0.1}),
        (["ionosphere", "--gamma", "auto"], 3.0, {"name": "rbf", "gamma": 1 / 34}),
        (["ionosphere", "--kernel", "linear", "--tol", 0.1], 1.0, {"name": "linear"}),
        (
            ["ionosphere", "--kernel", "poly", "--degree", 2, "--gamma", 0.5, "--coef0", 1, "--tol", 0.1],
            1.0,
            {"name": "poly", "degree": 2, "gamma": 0.5, "coef0": 1.0},
        ),
    ],
)
def test_the_penalty_and_gamma_are_the_data_sets_own_unless_given(arguments, C, kernel):
    problem = json_of("compare", *arguments, "--engines", "numpy", "--selectors", "second-order")["problem"]
    assert problem["C"] == C
    assert problem["kernel"] == kernel


def test_gamma_scale_is_that_of_scikit_learn(heart_files):
    heart = load("heart")
    fitted = svm.SVC().fit(heart.X, heart.y)
    problem = json_of("compare", heart_files["npz"], "--engines", "numpy")["problem"]
    assert problem["kernel"]["gamma"] == pytest.approx(fitted._gamma, rel=1e-12)
    assert problem["C"] == 1.0


def test_compare_reads_the_same_data_from_every_kind_of_file(heart_files):
    options = ["--gamma", 0.005, "--engines", "numpy", "--selectors", "mvp"]
    for ending, path in heart_files.items():
        label = ["--label", "disease"] if ending == "csv" else []
        first = json_of("compare", path, *options, *label)["runs"][0]
        assert first["objective"] == pytest.approx(129.6024321, rel=1e-9), ending
    assert json_of("compare", "h", "--data-dir", path.parent, *options)["problem"]["n"] == 270


def test_compare_takes_a_kernel_matrix_and_names_for_classes(write, tmp_path):
    heart = load("heart")
    np.savez(
        tmp_path / "K.npz", X=refsvm.RBF(0.005)(heart.X, heart.X), y=np.where(heart.y > 0, "ill", "healthy")
    )
    document = json_of("compare", tmp_path / "K.npz", "--kernel", "precomputed")
    assert document["problem"]["kernel"] == {"name": "precomputed"}
    assert document["problem"]["classes"] == ["healthy", "ill"]
    assert document["runs"][0]["objective"] == pytest.approx(129.6024321, rel=1e-9)
    assert document["runs"][0]["kernel_rows"] == 0


def test_a_limit_ends_a_run_and_the_table_says_so():
    result = works("compare", "thyroid", "--max-iter", 5, "--engines", "numpy", "--time-limit", 60)
    assert "max iter" in result.stdout
    assert "objectives agree" not in result.stdout
    document = json_of("compare", "thyroid", "--max-iter", 5, "--engines", "numpy")
    assert {r["status"] for r in document["runs"]} == {"MAX_ITER"}
    assert document["objective_spread"] == 0.0


def test_shrinking_ends_at_the_same_objective():
    document = json_of("compare", "heart", "--shrinking", "--engines", "numpy", "--selectors", "second-order")
    assert document["problem"]["shrinking"] is True
    assert document["runs"][0]["objective"] == pytest.approx(129.6024321, rel=1e-9)


def test_warnings_become_notes_each_once():
    result = run("compare", "heart", "--kernel", "sigmoid", "--gamma", 1, "--selectors", "second-order")
    assert result.exit_code == 0
    assert result.stderr.startswith("note: The kernel is not positive semi-definite")
    assert result.stderr.count("\n") == 1  # both engines warn


def test_warnings_for_developers_are_not_shown(monkeypatch):
    def deprecated(*_, **__):
        warnings.warn("this will go", DeprecationWarning, stacklevel=2)
        warnings.warn("this is odd", UserWarning, stacklevel=2)
        return load("heart")

    monkeypatch.setattr("refsvm.cli.app.open_data", deprecated)
    assert works("compare", "heart", "--engines", "numpy").stderr == "note: this is odd.\n"


def test_numbers_that_json_does_not_have_become_null(capsys):
    tables.print_json([{"gap": -np.inf, "n": 1}, [float("nan")]])
    assert json.loads(capsys.readouterr().out) == [{"gap": None, "n": 1}, [None]]


def test_a_terminal_sees_how_far_it_is(monkeypatch):
    monkeypatch.setattr(tables, "_REFRESH", 0.0)
    stream = io.StringIO()
    console = Console(file=stream, force_terminal=True, width=100)
    settings = comparison.Settings(1e-3, 200.0, None, None, False)
    wanted = comparison.strategies(["mvp", "second-order"], ["newton"], ["numpy"])
    problem = refsvm.DualProblem.classification(
        load("sonar").X, load("sonar").y, kernel=refsvm.RBF(0.1), C=1e4
    )
    with tables.progress(len(wanted), console) as watch:
        comparison.compare_strategies(problem, wanted, settings, watch)
    assert "1/2  mvp, newton, numpy: 16 iterations, KKT gap" in stream.getvalue()
    assert "2/2  second-order, newton, numpy" in stream.getvalue()
    silent = io.StringIO()
    with tables.progress(1, Console(file=silent, force_terminal=False)) as watch:
        watch(wanted[0], None)
    assert silent.getvalue() == ""


# -- Ctrl-C ------------------------------------------------------------------------------------------------------------


@pytest.fixture
def ctrl_c_at(monkeypatch):
    """Press Ctrl-C `times` times just before the k-th solve (the warm-up ones count too)."""

    def arrange(k, times=1):
        count = 0

        def solve(*arguments, **options):
            nonlocal count
            count += 1
            if count == k:
                for _ in range(times):
                    signal.raise_signal(signal.SIGINT)
            return refsvm.solve(*arguments, **options)

        monkeypatch.setattr(comparison, "solve", solve)

    return arrange


@pytest.mark.parametrize(
    ("k", "times", "statuses"),
    [
        (4, 1, ["CONVERGED", "INTERRUPTED"]),  # in the second run
        (3, 1, ["CONVERGED"]),  # while the second strategy is compiled
        (4, 2, ["CONVERGED"]),  # impatiently
        (1, 1, []),
    ],
)
def test_ctrl_c_prints_what_was_computed_and_exits_130(ctrl_c_at, k, times, statuses):
    before = signal.getsignal(signal.SIGINT)
    ctrl_c_at(k, times)
    result = run("compare", "thyroid", "--engines", "numpy", "--json")
    assert result.exit_code == 130
    document = json.loads(result.stdout)
    assert [r["status"] for r in document["runs"]] == statuses
    assert document["interrupted"] is True
    assert result.stderr == f"note: Interrupted; {len(statuses)} of 2 strategies were tried.\n"
    assert signal.getsignal(signal.SIGINT) is before


def test_ctrl_c_prints_the_table_too(ctrl_c_at):
    ctrl_c_at(4)
    result = run("compare", "thyroid", "--engines", "numpy")
    assert result.exit_code == 130
    assert "interrupted" in result.stdout


def test_ctrl_c_before_the_first_run_prints_no_table(ctrl_c_at):
    ctrl_c_at(1)
    result = run("compare", "thyroid", "--engines", "numpy")
    assert (result.exit_code, result.stdout) == (130, "")


def test_ctrl_c_in_fit_keeps_the_model(monkeypatch, tmp_path):
    reached = Limits.reached

    def pressed(limits, state):
        signal.raise_signal(signal.SIGINT)
        return reached(limits, state)

    monkeypatch.setattr(Limits, "reached", pressed)
    result = run("fit", "thyroid", "--model", tmp_path / "m", "--C", 1e8, "--tol", 1e-9, "--engine", "numpy")
    assert result.exit_code == 130
    assert "model written to" in result.stdout
    assert result.stderr.startswith("note: Interrupted from the keyboard")
    assert works("predict", tmp_path / "m", "thyroid").stdout.count("\n") == 215


@pytest.mark.parametrize("signalled", [KeyboardInterrupt, typer.Abort])
def test_ctrl_c_anywhere_else_exits_130(monkeypatch, signalled):
    def interrupted(*_, **__):
        raise signalled

    monkeypatch.setattr("refsvm.cli.app.open_data", interrupted)
    result = run("compare", "heart")
    assert result.exit_code == 130
    assert "Traceback" not in result.stderr


# -- fit and predict ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("ending", ["libsvm", "csv", "npz"])
def test_fit_and_predict_agree_with_the_estimator(heart_files, tmp_path, ending):
    heart, model = load("heart"), tmp_path / "m.model"
    label = ["--label", "disease"] if ending == "csv" else []
    told = works("fit", heart_files[ending], "--model", model, "--C", 2, "--gamma", 0.1, *label).stdout
    fitted = refsvm.SVC(C=2.0, gamma=0.1).fit(heart.X, heart.y)
    assert f"h: 270 examples, 13 features, 2 classes; {len(fitted.support_)} support vectors" in told
    assert f"training error {1 - fitted.score(heart.X, heart.y):.4f}" in told
    result = works("predict", model, heart_files[ending], *label)
    assert result.stdout.split() == [f"{int(y)}" for y in fitted.predict(heart.X)]
    right = round(270 * fitted.score(heart.X, heart.y))
    assert result.stderr == f"Accuracy {right / 270:.4f} ({right} of 270).\n"


def test_the_model_is_that_of_scikit_learn(heart_files, tmp_path):
    options = "--kernel poly --coef0 1 --tol 1e-8 --engine numpy"
    works("fit", heart_files["libsvm"], "--model", tmp_path / "m", *options.split())
    heart = load("heart")
    fitted = svm.SVC(kernel="poly", coef0=1.0, tol=1e-8).fit(heart.X, heart.y)
    model = refsvm.multiclass.model_file.read_model(tmp_path / "m")
    # LIBSVM keeps kernel rows in single precision
    np.testing.assert_allclose(
        model.decision_function(heart.X), fitted.decision_function(heart.X), rtol=0, atol=1e-5
    )


def test_names_of_classes_and_data_without_labels(write, tmp_path):
    train, model, output = write("trees.csv", HEADER + ROWS), tmp_path / "m", tmp_path / "out.txt"
    works("fit", train, "--label", "kind", "--model", model, "--C", 100)
    assert works("predict", model, train, "--label", "kind").stdout.split() == [
        "elm",
        "oak",
        "elm",
        "oak",
        "oak",
        "elm",
    ]
    unlabelled = "\n".join(row.rsplit(",", 1)[0] for row in ROWS.split("\n"))
    for header in ("", "a,b\n"):
        result = works("predict", model, write("new.csv", header + unlabelled), "--output", output)
        assert output.read_text().split() == ["elm", "oak", "elm", "oak", "oak", "elm"]
        assert result.stdout == ""
        assert result.stderr == ""


def test_several_classes_and_labels_the_model_does_not_know(tmp_path, write):
    lines = [f"{5 * (i % 3)} 1:{i % 3} 2:{i / 30}" for i in range(30)]
    train, model = write("three.libsvm", "\n".join(lines)), tmp_path / "m"
    works("fit", train, "--model", model)
    result = works("predict", model, train)
    assert result.stdout.split() == [line.split()[0] for line in lines]
    assert result.stderr == "Accuracy 1.0000 (30 of 30).\n"
    unknown = write("unknown.libsvm", "\n".join("7" + line[1 + (line[1] != " ") :] for line in lines))
    assert "No accuracy: none of the labels" in works("predict", model, unknown).stderr


def test_labels_are_written_as_libsvm_does():
    assert [label_text(value) for value in (1.0, np.int64(-3), "oak", 1e16, 0.5)] == [
        "1", "-3", "oak", "10000000000000000", "0.5",
    ]  # fmt: skip


def test_fit_takes_the_rules_by_name(tmp_path):
    works("fit", "heart", "--model", tmp_path / "m", "--selector", "mvp", "--step", "overrelaxed-newton",
          "--engine", "numpy", "--max-iter", 100000, "--time-limit", 60)  # fmt: skip
    assert (tmp_path / "m").read_text().startswith("svm_type c_svc\nkernel_type rbf\ngamma 0.005")


# -- what is refused ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ("compare nofile", "source='nofile' is neither a bundled set nor a file"),
        ("compare hart", "did you mean 'heart'?"),
        ("compare .", "source='.' is neither"),
        ("compare heart --C -1", "C=-1.0 is not positive"),
        ("compare heart --C nan", "C=nan is not finite"),
        ("compare heart --C ten", "Invalid value for '--C'"),
        ("compare heart --gamma -1", "gamma='-1' is not a positive number"),
        ("compare heart --gamma wide", "gamma='wide' is not a positive number"),
        ("compare heart --tol 0", "tol=0.0 is not positive"),
        ("compare heart --cache-mb 0", "cache_mb=0.0 is not positive"),
        ("compare heart --cache-mb 0.001", "does not hold two kernel rows"),
        ("compare heart --max-iter 0", "max_iter=0 is not a whole number"),
        ("compare heart --time-limit -1", "time_limit=-1.0 is not positive"),
        ("compare heart --degree 0 --kernel poly", "degree=0 is not a whole number"),
        ("compare heart --coef0 inf --kernel poly", "coef0=inf is not finite"),
        ("compare heart --kernel gauss", "choose from linear, poly, rbf, sigmoid, precomputed."),
        ("compare heart --kernel precomputed", "expected a square matrix"),
        ("compare heart --selectors mvp,foo", f"choose from {', '.join(choices.SELECTORS)}."),
        ("compare heart --selectors second-ordr", "did you mean second-order?"),
        ("compare heart --steps foo", f"choose from {', '.join(choices.STEPS)}."),
        ("compare heart --engines cuda", "choose from numba, numpy."),
        ("compare heart --selectors ,", "selectors='' is unknown"),
        ("compare heart --label age", "label='age' names the column of a CSV file"),
        ("compare x --data-dir nowhere", "data_dir='nowhere' is not a directory"),
        ("compare heart --colour red", "No such option: --colour"),
        ("datasets heart", "unexpected extra argument"),
        ("compare", "Missing argument 'DATA...'"),
        ("train heart", "No such command 'train'"),
        ("--verbose", "No such option"),
        ("fit heart", "Missing option '--model'"),
        ("fit heart --model nowhere/m", "model='nowhere/m' cannot be written"),
        ("fit heart --model .", "model='.' cannot be written"),
        ("fit heart --model m --selector foo", "selector='foo' is unknown"),
        ("fit heart --model m --step foo", "step='foo' is unknown"),
        ("fit heart --model m --engine foo", "choose from auto, numba, numpy."),
        ("fit heart --model m --kernel foo", "kernel='foo' is unknown"),
        ("fit heart --model m --C 0", "C=0.0 is not positive"),
        ("fit heart --model m --tol 0", "tol=0.0 is not positive"),
        ("fit heart --model m --cache-mb -1", "cache_mb=-1.0 is not positive"),
        ("fit heart --model m --max-iter 0", "max_iter=0 is not a whole number"),
        ("fit heart --model m --time-limit 0", "time_limit=0.0 is not positive"),
        ("fit heart --model m --selector mvp --step planning-ahead", "cannot be combined"),
        ("predict nomodel heart", "path='nomodel' is not a file"),
    ],
)
def test_wrong_usage_is_one_sentence(arguments, says, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert says in refused(*arguments.split())
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("command", ["compare", "fit"])
@pytest.mark.parametrize(
    ("name", "content", "says"),
    [
        ("a.libsvm", "+1 1:2\n-1 one:2\n", "is not a LIBSVM file"),
        ("a.libsvm", "", "a.libsvm"),
        ("a.libsvm", bytes(range(256)) * 8, "is not a LIBSVM file"),
        ("a.libsvm", "+1 1:nan\n-1 1:2\n", "NaN"),
        ("a.libsvm", "+1 1:1\n+1 1:2\n", "class"),
        ("a.csv", HEADER + ROWS + "1,2\n", "cells in row"),
        ("a.csv", "", "is empty"),
        ("a.csv", bytes(range(256)) * 8, "is not a CSV text"),
        ("a.csv", HEADER + "nan,1,elm\n" + ROWS, "NaN"),
        ("a.csv", HEADER + "wide,1,elm\n" + ROWS, "'wide' in row 2, which is not a number"),
        ("a.csv", HEADER + "1,2,elm\n2,1,elm\n", "class"),
        ("a.csv", "a,b,sort\n1,2,elm\n", "label='kind' is no column"),
        ("a.npz", b"PK\x03\x04 no archive", "npz archive"),
        ("a.npz", bytes(range(256)), "npz archive"),
    ],
)
def test_bad_data_is_one_sentence(command, name, content, says, write, tmp_path):
    data = write(name, content)
    label = ["--label", "kind"] if name.endswith(".csv") else []
    model = ["--model", tmp_path / "m"] if command == "fit" else []
    message = refused(command, data, *label, *model)
    if says == "class" and command == "compare":
        says = "but two are needed"
    assert says in message
    assert not (tmp_path / "m").exists()


def test_fit_wants_labels_that_a_model_file_can_hold(write, tmp_path):
    data = write("a.libsvm", "0.5 1:1\n1.5 1:2\n")
    assert "y holds the labels 0.5, 1.5, but" in refused("fit", data, "--model", tmp_path / "m")


def test_compare_wants_two_classes_and_a_csv_its_label(write):
    three = write("three.csv", HEADER + ROWS + "1,1,ash\n")
    assert "3 distinct values" in refused("compare", three, "--label", "kind")
    assert "name its label column" in refused("compare", three)


@pytest.mark.parametrize(
    ("model", "data", "says"),
    [
        ("", "1,2\n", "is not a LIBSVM model file"),
        (bytes(range(256)), "1,2\n", "is not a LIBSVM model file"),
        (None, "1,2,3\n", "X has 3 features, but the model was trained on 2"),
        (None, "1,two\n", "is not a CSV file of numbers"),
        (None, "", "is not a CSV file of numbers"),
        (None, "a,b\n", "is not a CSV file of numbers (it has no rows)"),
        (None, bytes(range(256)), "is not a CSV file of numbers"),
        (None, "1,nan\n", "NaN"),
        (None, "1,2\n3\n", "is not a CSV file of numbers"),
    ],
)
def test_predict_refuses_a_bad_model_and_bad_data(model, data, says, write):
    header = "svm_type c_svc\nkernel_type linear\nnr_class 2\ntotal_sv 2\nrho 0\nlabel 0 1\nnr_sv 1 1\n"
    good = header + "SV\n1 1:1 2:0\n-1 1:2\n"
    path = write("m", good if model is None else model)
    assert says in refused("predict", path, write("new.csv", data))


def test_labels_cannot_be_written_to_a_directory(tmp_path, write):
    works("fit", "heart", "--model", tmp_path / "m")
    message = refused("predict", tmp_path / "m", "heart", "--output", tmp_path)
    assert "cannot be opened: Is a directory" in message


def test_what_the_system_refuses_is_a_sentence(monkeypatch):
    def closed(*_, **__):
        raise PermissionError(13, "Permission denied", "closed/a.csv")

    monkeypatch.setattr("refsvm.cli.app.open_data", closed)
    message = refused("compare", "closed/a.csv", "--label", "y")
    assert message == "refsvm: 'closed/a.csv' cannot be opened: Permission denied.\n"


def test_too_little_memory_is_a_sentence(monkeypatch):
    def exhausted(*_, **__):
        raise MemoryError

    monkeypatch.setattr("refsvm.cli.app.open_data", exhausted)
    assert "do not fit into memory" in refused("compare", "heart")


# -- the rest ----------------------------------------------------------------------------------------------------------


def test_datasets_lists_what_is_bundled():
    listed = json_of("datasets")
    assert [entry["name"] for entry in listed] == bundled_names()
    heart = next(entry for entry in listed if entry["name"] == "heart")
    assert (heart["n"], heart["d"], heart["C"], heart["gamma"]) == (270, 13, 1.0, 0.005)
    assert heart["licence"]
    text = works("datasets").stdout
    for entry in listed:
        assert f"{entry['n']}" in text
        assert entry["source"] in text


def test_without_a_command_there_is_help():
    assert "compare" in works().stdout
    assert works("--version").stdout == f"refsvm {refsvm.__version__}\n"
    assert "second-order" in works("compare", "--help").stdout


def process(*arguments, code=None):
    command = (
        [sys.executable, "-m", "refsvm", *arguments]
        if code is None
        else [sys.executable, "-c", code, *arguments]
    )
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)


def test_the_module_is_the_command():
    result = process("--version")
    assert (result.returncode, result.stdout) == (0, f"refsvm {refsvm.__version__}\n")


def test_a_process_compares():
    result = process("compare", "heart", "--engines", "numpy", "--json")
    assert result.returncode == 0
    assert len(json.loads(result.stdout)["runs"]) == 2
    assert result.stderr == ""


@pytest.mark.parametrize(
    "arguments", [["compare", "nofile"], ["compare", "heart", "--C", "-1"], ["--nonsense"]]
)
def test_a_process_refuses_in_one_sentence(arguments):
    result = process(*arguments)
    assert_refusal(result.returncode, result.stdout, result.stderr)


@pytest.mark.parametrize("missing", ["typer", "rich", "sklearn"])
def test_without_its_extra_the_command_names_it(missing):
    code = f"import sys; sys.modules[{missing!r}] = None; from refsvm.cli import main; main()"
    result = process("compare", "heart", code=code)
    assert_refusal(result.returncode, result.stdout, result.stderr)
    assert missing in result.stderr
    assert "refsvm[cli]" in result.stderr


def test_importing_the_command_imports_none_of_it():
    result = process(
        code="import sys, refsvm.cli; print({'typer', 'rich', 'sklearn', 'numba'} & set(sys.modules))"
    )
    assert result.stdout == "set()\n"


@pytest.mark.skipif(os.name != "posix", reason="needs a shell")
def test_a_reader_that_leaves_early_is_no_error():
    command = f"{sys.executable} -m refsvm datasets --json | true"
    result = subprocess.run(command, shell=True, capture_output=True, text=True, check=False, timeout=60)
    assert "Traceback" not in result.stderr
