"""open_data: bundled names, the data directory, paths, in this order."""

import numpy as np
import pytest

from refsvm.datasets import data_directory, load, open_data

from .files import refused, written

X, Y = np.array([[0.0, 1.0], [2.0, 0.0]]), np.array([1, 2])


@pytest.fixture
def directory(tmp_path):
    """A data directory with one archive."""
    folder = tmp_path / "archives"
    folder.mkdir()
    np.savez(folder / "mushrooms.npz", X=X, y=Y)
    return folder


def test_a_bundled_name_comes_first(directory):
    np.savez(directory / "sonar.npz", X=X, y=Y)
    data = open_data("sonar", data_dir=directory)
    np.testing.assert_array_equal(data.X, load("sonar").X)
    assert data.licence == "CC BY 4.0"


def test_a_name_is_found_in_the_directory_of_the_argument_or_the_environment(directory, monkeypatch):
    monkeypatch.delenv("REFSVM_DATA", raising=False)
    for data in (open_data("mushrooms", data_dir=directory), open_data("mushrooms", data_dir=str(directory))):
        assert (data.name, data.n, data.y.tolist()) == ("mushrooms", 2, [1, 2])
        assert data.source == str(directory / "mushrooms.npz")
    monkeypatch.setenv("REFSVM_DATA", str(directory))
    assert open_data("mushrooms").n == 2


def test_the_argument_wins_over_the_environment(directory, tmp_path, monkeypatch):
    monkeypatch.setenv("REFSVM_DATA", str(tmp_path / "nowhere"))
    assert data_directory(directory) == directory
    with pytest.raises(FileNotFoundError, match=r"^REFSVM_DATA='.*nowhere' is not a directory; create it"):
        data_directory()
    with pytest.raises(FileNotFoundError, match=r"^data_dir='none' is not a directory"):
        open_data("mushrooms", data_dir="none")


@pytest.mark.usefixtures("no_data_directory")
def test_an_archive_is_opened_by_path(directory):
    assert open_data(directory / "mushrooms.npz").name == "mushrooms"


@pytest.mark.usefixtures("no_data_directory")
def test_a_csv_file_needs_a_label_and_nothing_else_takes_one(directory, tmp_path):
    pytest.importorskip("pandas")
    path = written(tmp_path / "a.csv", "u,kind\n0,1\n2,2\n")
    refused(path, says=r"^label=None, but '.*a\.csv' is a CSV file; .*first row: u, kind")
    for source in ("heart", directory / "mushrooms.npz"):
        with pytest.raises(ValueError, match=r"^label='kind' is the column of a CSV file, but '.*' is not"):
            open_data(source, label="kind")


@pytest.mark.usefixtures("no_data_directory")
@pytest.mark.parametrize(
    ("source", "sentence"),
    [
        ("hart", r"did you mean 'heart'\?"),
        ("some/folder/ionospere", r"did you mean 'ionosphere'\?"),
        ("nofile", r"give a path, set REFSVM_DATA to your .*, or take one of breast_cancer, heart"),
        ("", r"give a path"),
    ],
)
def test_an_unknown_source_is_refused_with_what_comes_near(source, sentence):
    says = rf"^source={source!r} is neither a bundled set nor a file; {sentence}"
    with pytest.raises(FileNotFoundError, match=says):
        open_data(source)


def test_an_unknown_source_is_compared_with_the_archives_too(directory):
    near = r"^source='mushroom' is neither .* nor an archive in .*archives; did you mean 'mushrooms'\?"
    for source, says in (("mushroom", near), ("nofile", rf"put nofile\.npz in {directory}")):
        with pytest.raises(FileNotFoundError, match=says):
            open_data(source, data_dir=directory)
