"""Files of all kinds on the command line, from `fit` to `predict`."""

import re

import pytest

from refsvm import SVC, read_model, write_model

from .commands import refused, works

TRAIN = "a,b,kind\n1,20,oak\n3,40,elm\n5,60,elm\n7,80,oak\n"


@pytest.fixture
def model(write, tmp_path):
    works("fit", write("train.csv", TRAIN), "--label", "kind", "--model", tmp_path / "m", "--C", 100)
    return tmp_path / "m"


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("t.csv", TRAIN.replace(",", ";")),
        ("t.csv", TRAIN.replace(",", ";").replace("20", "20,0")),
        ("t.tsv", TRAIN.replace(",", "\t")),
    ],
)
def test_fit_and_predict_take_other_delimiters(name, content, write, tmp_path, model):
    path = write(name, content)
    works("fit", path, "--label", "kind", "--model", tmp_path / "other", "--C", 100)
    assert (tmp_path / "other").read_text() == model.read_text()
    assert works("predict", model, path, "--label", "kind").stderr == "Accuracy 1.0000 (4 of 4).\n"


def test_predict_finds_the_columns_by_their_names(model, write):
    turned = write("turned.csv", "b,id,a\n20,x,1\n40,y,3\n60,z,5\n80,w,7\n")
    assert works("predict", model, turned).stdout.split() == ["oak", "elm", "elm", "oak"]
    labelled = write("labelled.csv", "kind,b,a\noak,20,1\nelm,40,3\n")
    assert works("predict", model, labelled, "--label", "kind").stderr == "Accuracy 1.0000 (2 of 2).\n"
    other = write("c.csv", "b,c\n1,2\n")
    assert "has no column 'a'; its columns are b, c." in refused("predict", model, other)


def test_the_names_of_the_columns_are_kept_in_the_file(model, tmp_path):
    assert model.read_text().endswith('# columns ["a", "b"]\n')
    assert read_model(model).columns == ("a", "b")
    plain = SVC(kernel="linear").fit([[0.0], [2.0]], [-1, 1])
    write_model(plain, tmp_path / "plain")
    assert read_model(tmp_path / "plain").columns is None
    write_model(plain, tmp_path / "named", columns=["size"])
    assert read_model(tmp_path / "named").columns == ("size",)
    text = re.sub("SV .*", "SV", (tmp_path / "named").read_text())
    for wrong in ('["size", "size"]', "[]", "7"):
        (tmp_path / "named").write_text(text.replace('["size"]', wrong))
        with pytest.raises(ValueError, match=r"is not a LIBSVM model file .*features"):
            read_model(tmp_path / "named")


def test_a_missing_label_or_target_is_refused(write, tmp_path):
    for rows in ("1,2,x\n3,4,\n5,6,z\n", "1,2,1.5\n3,4,\n5,6,0.2\n"):
        path = write("t.csv", "a,b,y\n" + rows)
        assert "has no label in row 3" in refused("fit", path, "--label", "y", "--model", tmp_path / "m")
    assert not (tmp_path / "m").exists()


def test_novelty_detection_from_a_file_without_labels(write, tmp_path):
    path = write("n.csv", "a,b\n1,2\n3,4\n5,6\n7,9\n")
    told = works("fit", path, "--task", "novelty", "--model", tmp_path / "m").stdout
    assert told.startswith("n: 4 examples, 2 features, RBF(gamma=0.0802005), nu=0.5, labels not used;")
    assert "of 4 are inside" in works("predict", tmp_path / "m", path).stderr
    assert "give its label column" in refused("fit", path, "--model", tmp_path / "m")


def test_targets_are_not_taken_for_classes(write):
    rows = "".join(f"{i},{i * 7 % 11},{i * 13 % 17}.{i % 4 * 25}\n" for i in range(1, 41))
    path = write("r.csv", "a,b,y\n" + rows)
    for command in (["cv"], ["tune", "--Cs", "1"]):
        result = works(*command, path, "--label", "y", "--folds", 4)
        assert {"cv": "r2", "tune": "R²"}[command[0]] in result.stdout
        assert "note: The labels have fractions, so they are taken for targets" in result.stderr
        assert "column 'a' contains row numbers" in result.stderr
        refused(*command, path, "--label", "y", "--folds", 4, "--task", "classification", "-q")
    assert "taken for" not in works("fit", path, "--label", "y", "--model", path.with_name("m")).stderr


def test_many_whole_numbers_may_be_targets(write):
    rows = "".join(f"{i % 7},{i * i % 11},{i * 3 % 29}\n" for i in range(60))
    path = write("w.csv", "a,b,y\n" + rows)
    result = works("fit", path, "--label", "y", "--model", path.with_name("m"))
    assert (
        "note: The 29 different labels are taken for classes; give --task regression if they are targets"
        in result.stderr
    )


def test_a_file_that_is_not_there_is_a_missing_file(write):
    near = write("trees.csv", TRAIN)
    missing = near.with_name("tree.csv")
    assert f"source={str(missing)!r} is not a file; did you mean {str(near)!r}?" in refused("cv", missing)
    assert "is not a file; check spelling and folder." in refused("cv", "nothing/like/this.csv")


def test_a_delimiter_may_be_given(write, model):
    path = write("bars.csv", TRAIN.replace(",", "|"))
    given = [path, "--label", "kind", "--delimiter"]
    assert works("predict", model, *given, "|").stderr.startswith("Accuracy 1.0000")
    assert "delimiter='||' is not a single character" in refused("cv", *given, "||")


OUTPUTS = [
    ["fit", "DATA", "--label", "kind", "--model", "FILE"],
    ["predict", "MODEL", "DATA", "--output", "FILE"],
    ["loo", "DATA", "--label", "kind", "--plot", "FILE"],
    ["cv", "DATA", "--label", "kind", "--plot", "FILE"],
    ["path", "DATA", "--label", "kind", "--plot", "FILE"],
    ["tune", "DATA", "--label", "kind", "--plot", "FILE"],
    ["compare", "DATA", "--label", "kind", "--plot", "FILE"],
]


@pytest.mark.parametrize("words", OUTPUTS, ids=lambda words: words[0])
def test_an_output_that_is_one_of_the_inputs_is_refused(words, write, tmp_path, model):
    """By its name, by another spelling and by links; before any work, and with nothing changed."""
    pytest.importorskip("matplotlib")
    data = write("t.csv", TRAIN)
    for read in (data, model) if words[0] == "predict" else (data,):
        symbolic, hard = tmp_path / f"symbolic {read.name}", tmp_path / f"hard {read.name}"
        symbolic.symlink_to(read)
        hard.hardlink_to(read)
        content = read.read_bytes()
        for name in (read, f"{tmp_path}/../{tmp_path.name}/{read.name}", symbolic, hard):
            given = {"DATA": data, "MODEL": model, "FILE": name}
            says = refused(*(given.get(word, word) for word in words))
            assert f"is the file {str(read)!r}, which this command reads; give another file." in says
            assert read.read_bytes() == content
            assert symbolic.is_symlink()
