"""Audits: is anything wrong, on random problems and on sets? ``python -m benchmarks.audit NAME [--count N]``.

`README.md` says what each of them asks. `frame` runs them, and `problems` has what several draw.
"""
