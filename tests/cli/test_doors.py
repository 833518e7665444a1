"""Data by any ending and through pipes, kernel matrices of LIBSVM, outputs that cannot be written."""

from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("pandas")

from .commands import HEADER, ROWS, assert_refusal, json_of, process, refused, works

TABLE = HEADER + ROWS * 3
FULL = Path("/dev/full")


@pytest.mark.parametrize("name", ["a.data", "a.txt", "a.dat", "a", "a.csv", "a.svm"])
def test_every_command_takes_a_table_of_any_ending(name, write, tmp_path):
    data, label = write(name, "# exported today\n" + TABLE), ["--label", "kind"]
    errors = [json_of("loo", each, *label)["error"] for each in (data, write("b.csv", TABLE))]
    assert errors[0] == errors[1]
    works("fit", data, *label, "--model", tmp_path / "m")
    assert "Accuracy" in works("predict", tmp_path / "m", data, *label).stderr
    # the decision of what it is does not need labels
    works("predict", tmp_path / "m", write("new" + Path(name).suffix, "a,b\n1,2\n"))


@pytest.mark.parametrize("source", ["-", "/dev/stdin"])
def test_data_through_a_pipe(source, tmp_path, write):
    if source != "-" and not Path(source).exists():
        pytest.skip("no such device here")
    fit = ["fit", source, "--label", "kind", "--model", tmp_path / "m", "--engine", "numpy"]
    trained = process(*fit, input=TABLE)
    assert trained.returncode == 0, trained.stderr
    with write("t.csv", TABLE).open() as stream:
        found = process("predict", tmp_path / "m", source, "--label", "kind", stdin=stream)
    assert found.returncode == 0, found.stderr
    assert found.stdout == works("predict", tmp_path / "m", write("t.csv", TABLE), "--label", "kind").stdout


def test_a_pipe_that_brings_nothing():
    found = process("loo", "-", "--label", "kind", input="")
    assert_refusal(found.returncode, found.stdout, found.stderr)
    assert "path='-' is empty" in found.stderr


def test_a_kernel_matrix_of_libsvm(write, tmp_path):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(20, 2))
    y, K = np.where(X[:, 0] > 0.0, 1, -1), np.exp(-np.square(X[:, None] - X).sum(axis=2))

    def lines(rows, number="{0}"):
        return "".join(
            f"{y[i]:+d} 0:{number.format(i + 1)} "
            + " ".join(f"{j + 1}:{k!r}" for j, k in enumerate(K[i].tolist()))
            + "\n"
            for i in rows
        )  # fmt: skip

    kernel = ["--kernel", "precomputed"]
    data, shuffled = write("k", lines(range(20))), write("s", lines(rng.permutation(20)))
    plain = write("x", "".join(f"{a:+d} 1:{b!r} 2:{c!r}\n" for a, (b, c) in zip(y, X.tolist(), strict=True)))
    expected = json_of("loo", plain, "--gamma", 1)["error"]
    assert json_of("loo", data, *kernel)["error"] == json_of("loo", shuffled, *kernel)["error"] == expected
    for each in (data, shuffled):
        works("fit", each, *kernel, "--model", tmp_path / each.name.replace("k", "m").replace("s", "n"))
    assert (tmp_path / "m").read_text() == (tmp_path / "n").read_text()
    some = write("new", lines(range(5), "?"))
    assert works("predict", tmp_path / "m", some).stdout.split() == [str(label) for label in y[:5]]
    assert "give --kernel precomputed. If these are features, number them from 1." in refused("loo", data)
    assert "give one row for each column" in refused("loo", some, *kernel)


@pytest.mark.skipif(not FULL.exists(), reason="no /dev/full here")
@pytest.mark.parametrize(
    "arguments",
    [
        ("loo", "heart"), ("loo", "heart", "--json"), ("loo", "heart", "--csv"), ("datasets",), ("--help",),
        ("--version",), ("predict", "m", "heart"),
    ],
    ids=" ".join,
)  # fmt: skip
def test_a_full_output_names_itself(arguments, tmp_path):
    if "predict" in arguments:
        works("fit", "heart", "--model", tmp_path / "m")
    with FULL.open("w") as full:
        found = process(*arguments, stdout=full, cwd=tmp_path)
    assert found.returncode == 2
    sentence = found.stderr.splitlines()[-1]
    assert sentence == "refsvm: The standard output cannot be written: No space left on device."
    assert "Traceback" not in found.stderr


@pytest.mark.skipif(not FULL.exists(), reason="no /dev/full here")
def test_a_full_file_names_itself(tmp_path):
    works("fit", "heart", "--model", tmp_path / "m")
    for command in (("fit", "heart", "--model"), ("predict", tmp_path / "m", "heart", "--output")):
        assert "'/dev/full' cannot be written: No space left" in refused(*command, FULL)
