"""Tables and LIBSVM files as programs write them are read as meant or refused by line."""

import pytest

from ..programs import module

pytest.importorskip("pandas")
pytest.importorskip("sklearn")
files = module("audit.files")


@pytest.mark.seeds(*range(300))
def test_a_file_is_read_as_meant_or_refused_with_its_line(seed, tmp_path):
    complaints, shown = files.tried(seed, tmp_path)
    assert complaints == [], shown
