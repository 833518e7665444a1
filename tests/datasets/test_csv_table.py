"""CSV files as people have them: semicolons, tabs, decimal commas, packed, without labels, columns in another order."""

import sys

import numpy as np
import pytest

from refsvm.datasets.cells import csv_table

from .files import refused, written

pytest.importorskip("pandas")


POINTS = "a,b,kind\n1.5,2,oak\n3,4,elm\n5,-.25,oak\n"


def test_a_comma_beside_points_is_no_decimal_comma(tmp_path):
    path = written(tmp_path / "t.csv", "a;b\n1,234;0.5\n")
    refused(path, says="'1,234' in row 2, column .*, which is not a number", read=csv_table)


def test_a_semicolon_in_one_name_is_no_delimiter(tmp_path):
    table = csv_table(written(tmp_path / "t.csv", "size;cm,kind\n1,oak\n2,elm\n"), "kind")
    assert table.columns == ("size;cm",)
    assert table.X.tolist() == [[1.0], [2.0]]


@pytest.mark.parametrize(
    ("text", "row"),
    [("a,y\n1,x\n2,\n3,z\n", 3), ("a,y\n1,0.5\n2, \n3,1\n", 3), ("1,x\n2,\n", 2), ("1,\n2,x\n", 1)],
)
def test_a_row_without_a_label_is_refused(text, row, tmp_path):
    path = written(tmp_path / "t.csv", text)
    says = rf"has no label in row {row}, column .*; complete that row or remove it\.$"
    refused(path, "y" if text.startswith("a") else 1, says=says, read=csv_table)


@pytest.mark.parametrize(("text", "columns"), [("a,b\n1,2\n3,4\n", ("a", "b")), ("1,2\n3,4\n", None)])
def test_a_file_without_labels(text, columns, tmp_path):
    table = csv_table(written(tmp_path / "t.csv", text))
    assert (table.X.tolist(), table.y, table.columns) == ([[1, 2], [3, 4]], None, columns)


def test_columns_are_found_by_their_names(tmp_path):
    path = written(tmp_path / "t.csv", "id,b,kind,a\nrow 1,2,oak,1\nrow 2,4,elm,3\n")
    assert csv_table(path, columns=["a", "b"]).X.tolist() == [[1, 2], [3, 4]]
    assert csv_table(path, "kind", columns=["b"]).y.tolist() == ["oak", "elm"]
    with pytest.raises(ValueError, match=r"has no column 'c'; its columns are id, b, kind, a\.$"):
        csv_table(path, columns=["a", "c"])
    plain = written(tmp_path / "p.csv", "1,2\n3,4\n")
    np.testing.assert_array_equal(csv_table(plain, columns=["b", "a"]).X, [[1, 2], [3, 4]])


def test_a_damaged_package_is_a_sentence(tmp_path):
    path = written(tmp_path / "t.csv.gz", POINTS)
    path.write_bytes(path.read_bytes()[:-12])
    refused(path, "kind", says="is not a CSV text in UTF-8", read=csv_table)


def test_a_column_costs_about_as_many_calls_of_python_as_pandas_makes(tmp_path):
    """Tables of genes have 50,000 columns: a few calls of pandas for each of them took minutes."""
    import pandas as pd

    def calls(read, d):
        names, row = ",".join(f"c{j}" for j in range(d)), ",".join(["1.5"] * d)
        path, count = written(tmp_path / "t.csv", f"{names},k\n{row},a\n{row},b\n"), 0

        def note(frame, event, argument):
            nonlocal count
            count += event == "call"

        sys.setprofile(note)
        try:
            read(path, names.split(","))
        finally:
            sys.setprofile(None)
        return count

    ours, theirs = (
        calls(read, 800) - calls(read, 400)
        for read in (
            lambda path, names: csv_table(path, "k", columns=names),
            lambda path, _: pd.read_csv(path, dtype=object),
        )
    )
    assert ours < 4 * theirs


@pytest.mark.parametrize("above", ["", "# a comment\n\n"])
def test_a_cell_that_is_too_long_is_refused(above, tmp_path):
    long = "x" * 200_000
    for text, row in (
        (f"a,k\n1,x\n1,{long}\n2,y\n", 3),
        (f"a,k\n{long},x\n2,y\n", 2),
        (f"{long},k\n1,x\n", 1),
    ):
        path = written(tmp_path / "t.csv", above + text)
        at = row + above.count("\n")
        refused(
            path,
            "k",
            says=rf"has a cell of more than 131,072 characters in row {at}; shorten",
            read=csv_table,
        )
