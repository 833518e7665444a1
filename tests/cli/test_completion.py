"""A shell completes data, kernels and rules."""

from __future__ import annotations

import os

import pytest

from refsvm.cli.choices import SELECTORS
from refsvm.services.names import KERNELS

from .commands import process


def completed(*words, folder=None):
    """Return what bash is offered for the last word."""
    typed = {"COMP_WORDS": " ".join(["refsvm", *words]), "COMP_CWORD": str(len(words))}
    variables = os.environ | typed | {"_REFSVM_COMPLETE": "complete_bash"}
    return process(env=variables, cwd=folder).stdout.split()


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["compare", "hea"], {"heart"}),
        (["compare", "heart", "ches"], {"chessboard"}),
        (["loo", "heart", "--kernel", ""], {*KERNELS}),
        (["fit", "heart", "--selector", "max"], {"maximum-gain"}),
        (["compare", "heart", "--selectors", "mvp,max"], {"mvp,maximum-gain"}),
        (["cv", "heart", "--seeders", "a"], {"active-set", "ato", "avg"}),
    ],
)
def test_names_are_completed(words, expected, tmp_path):
    assert set(completed(*words, folder=tmp_path)) == expected


def test_files_and_folders_are_completed(tmp_path):
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "mine.csv").touch()
    assert completed("loo", "fol", folder=tmp_path) == ["folder/"]
    assert completed("loo", "folder/m", folder=tmp_path) == ["folder/mine.csv"]
    assert "mvp" in SELECTORS
