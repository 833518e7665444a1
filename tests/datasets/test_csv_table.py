"""CSV files as people have them: semicolons, tabs, decimal commas, packed, without labels, columns in another order."""

import sys

import numpy as np
import pytest

from refsvm.datasets.cells import csv_table

from .files import written

pytest.importorskip("pandas")


def test_a_semicolon_in_one_name_is_no_delimiter(tmp_path):
    table = csv_table(written(tmp_path / "t.csv", "size;cm,kind\n1,oak\n2,elm\n"), "kind")
    assert table.columns == ("size;cm",)
    assert table.X.tolist() == [[1.0], [2.0]]


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
