"""Files as pandas, R, spreadsheets, older programs and LIBSVM's own sets have them: read as meant, or refused."""

import sys

import numpy as np
import pytest

from refsvm.datasets import open_data, read_csv
from refsvm.datasets.cells import csv_table

from .files import refused, written

pd = pytest.importorskip("pandas")
pytest.importorskip("sklearn")

RNG = np.random.default_rng(0)


def column(tmp_path, labels, extra="1,2"):
    """A table with these labels, in column y."""
    rows = "".join(f"{i % 5},{i * i % 7},{label}\n" for i, label in enumerate(labels))
    return written(tmp_path / "t.csv", "a,b,y\n" + rows)


# -- labels ------------------------------------------------------------------------------------------------------------


def test_signs_and_words_are_classes(tmp_path):
    assert open_data(column(tmp_path, "+-+-+"), "y").y.tolist() == list("+-+-+")
    assert open_data(column(tmp_path, ["3a", "4", "3b", "4"]), "y").y.tolist() == ["3a", "4", "3b", "4"]


@pytest.mark.parametrize(
    "labels",
    [
        ("007", "7"),
        ("1E5", "100000", "2E3"),
        ("9007199254740993", "9007199254740992"),
        ("3.1", "3.10", "3.2"),
    ],
)
def test_labels_stay_texts_where_numbers_would_merge_them(labels, tmp_path):
    path = column(tmp_path, labels * 4)
    with pytest.warns(UserWarning, match="the labels stay text, as a number would print"):
        assert open_data(path, "y").y.tolist() == list(labels * 4)


def test_python_would_take_a_bar_for_part_of_a_number(tmp_path):
    assert open_data(column(tmp_path, ["2_1", "21", "3"]), "y").y.tolist() == ["2_1", "21", "3"]


def test_many_targets_of_mixed_form_are_numbers(tmp_path):
    labels = ["0.5", "0.50", *(str(i / 8) for i in range(30))]
    assert open_data(column(tmp_path, labels), "y").y.tolist() == [float(label) for label in labels]


# -- headers -----------------------------------------------------------------------------------------------------------

YEARS = "2019,2020,2021\n1.5,2.5,0\n2.5,3.5,1\n1.2,2.2,0\n2.9,3.9,1\n"


def test_names_go_before_places(tmp_path):
    path = written(tmp_path / "t.csv", YEARS)
    table = csv_table(path, "2021")
    assert table.columns == ("2019", "2020")
    assert table.y.tolist() == [0, 1, 0, 1]
    # 1 is the second column by its place, and the first by its name
    path = written(tmp_path / "t.csv", "1,0,2\n7,5,6\n7,8,9\n")
    assert csv_table(path, "1").y.tolist() == [0, 5, 8]
    assert read_csv(path, 1)[1].tolist() == [0, 5, 8]


@pytest.mark.parametrize("label", ["2", 2, "-1"])
def test_a_header_of_years_is_taken_for_one_with_a_warning(label, tmp_path):
    path = written(tmp_path / "t.csv", YEARS)
    with pytest.warns(UserWarning, match=r"row 1 \(2019, 2020, 2021\) is taken for the names of the columns"):
        table = csv_table(path, label)
    assert table.X.tolist() == [[1.5, 2.5], [2.5, 3.5], [1.2, 2.2], [2.9, 3.9]]


AGES = "age,,y\n" + "".join(f"{a},{a // 2 * 0.5},{a % 2}\n" for a in (40, 31, 22, 50, 61, 77, 18, 19))
OAKS = "a,kind\n" + "".join(f"{a},{'oaks' if a > 3 else 'oak'}\n" for a in (0, 3, 6, 9, 2, 5, 8, 0, 3))


@pytest.mark.parametrize(
    ("content", "label", "n"),
    [("1,2,3\n4,5,6\n7,8,9\n", -1, 3), ("0,1,2\n1,0,2\n4,4,1\n", "2", 3), (AGES, "y", 8), (OAKS, "kind", 9)],
)
def test_an_ordinary_table_is_read_without_a_warning(content, label, n, tmp_path):
    assert len(csv_table(written(tmp_path / "t.csv", content), label).X) == n  # a warning would be an error


def test_the_numbers_that_pandas_gives_to_columns_are_a_header(tmp_path):
    frame = pd.DataFrame(np.column_stack([RNG.normal(size=(8, 3)), [1, -1] * 4]))
    frame.to_csv(tmp_path / "t.csv", index=False)
    with pytest.warns(UserWarning, match=r"row 1 \(0, 1, 2, 3\) is taken for the names"):
        table = csv_table(tmp_path / "t.csv", "3")
    np.testing.assert_array_equal(table.X, frame.to_numpy()[:, :3])


# -- R, spreadsheets, older programs -----------------------------------------------------------------------------------


@pytest.mark.parametrize("first", ["sep=;\n", '"sep=;"\r\n', "\ufeffSEP=;\r\n"])
@pytest.mark.parametrize("delimiter", [None, ";"])
def test_the_first_line_of_a_spreadsheet(first, delimiter, tmp_path):
    path = written(tmp_path / "t.csv", f"{first}y;a;b\nx;1,5;2\nz;3;4\nx;1;1\n;;\n;;\n")
    data = open_data(path, "y", None, delimiter)
    assert data.X.tolist() == [[1.5, 2], [3, 4], [1, 1]]
    path.write_text(path.read_text().replace("3;4", "drei;4"))
    refused(path, "y", says="has 'drei' in row 4")


def test_a_comma_that_separates_no_thousands_is_a_decimal_one(tmp_path):
    assert open_data(written(tmp_path / "t.csv", "a;y\n1,234;x\n0,5;z\n"), "y").X.tolist() == [[1.234], [0.5]]


def test_tables_need_pandas(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ImportError, match=r"reading tables needs pandas, .* run: pip install pandas"):
        csv_table(written(tmp_path / "t.csv", "1,2\n3,4\n"))
