"""Rules that hang, exit or crash are checked in a process of their own, if the caller asks for it."""

import os
import time
from dataclasses import dataclass

import pytest

from refsvm import WorkingSetSelector
from refsvm.testing import check_strategy

pytestmark = [
    pytest.mark.skipif(not hasattr(os, "fork"), reason="the rules of these tests cannot be imported"),
    pytest.mark.filterwarnings("ignore:.*use of fork"),
]


@dataclass(frozen=True)
class Ends(WorkingSetSelector):
    """A selector that does something else than to select."""

    how: str

    def select(self, state):
        if self.how == "hangs":
            time.sleep(1000.0)
        elif self.how == "exits":
            os._exit(3)
        elif self.how == "crashes":
            os.kill(os.getpid(), 9)
        raise SystemExit if self.how == "is told to exit" else RuntimeError("of the rule")


@pytest.mark.parametrize(
    ("how", "says"),
    [
        ("hangs", "hangs: its check did not end within 3 seconds"),
        ("exits", "ended its process with the code 3"),
        ("crashes", "ended its process with the signal 9"),
        ("is told to exit", "SystemExit|ended its process with the code 1"),
        ("raises", "of the rule"),
    ],
)
def test_the_caller_goes_on(how, says):
    began = time.monotonic()
    with pytest.raises(AssertionError, match=says):
        check_strategy(Ends(how), time_limit=3.0 if how == "hangs" else 60.0)
    assert time.monotonic() - began < 60.0
