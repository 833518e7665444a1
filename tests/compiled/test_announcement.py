"""One record says that Numba compiles, and only where it does."""

import pytest

from ..programs import printed_by
from ..settings import needs_jit

pytestmark = needs_jit

SOLVE = """
import logging, sys
logging.basicConfig(level=logging.INFO, format="%(name)s %(levelname)s %(notice)s %(message)s", stream=sys.stdout)
import numba, refsvm.compiled
{first}
import refsvm.compiled.arithmetic
"""


def printed(cache, first=""):
    return printed_by("-c", SOLVE.format(first=first), NUMBA_CACHE_DIR=str(cache))


@pytest.mark.slow
def test_the_first_process_says_once_that_it_compiles_and_the_next_and_functions_of_others_say_nothing(
    tmp_path,
):
    (line,) = printed(tmp_path).splitlines()
    assert line.startswith("refsvm INFO True Numba compiles refsvm's loop and rules for this machine")
    assert printed(tmp_path, "numba.njit('f8(f8)')(lambda x: x + 1.0)") == ""
