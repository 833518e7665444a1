"""Makes names of columns, classes and files safe for a terminal or a log, because anyone may have written them."""

from __future__ import annotations


def printable(text: str) -> str:
    r"""Return a text with escapes in place of unprintable characters, but with its spaces, tabs and line ends.

    An escape code in the name of a column could clear the terminal or forge lines of a log. A character that reverses
    the direction of writing could disguise a name.

    Examples
    --------
    >>> from refsvm.services.printable import printable
    >>> printable("größe\x1b[2J") == r"größe\x1b[2J"
    True
    """
    if text.isprintable():  # return most texts unchanged
        return text
    return "".join(c if c.isprintable() or c in "\n\t\xa0" else repr(c)[1:-1] for c in text)
