"""Audits and the random problems of tests: ``python -m benchmarks.audit NAME [--count N]`` runs one of four audits.

`README.md` says what each file asks, and which tests draw its problems. `frame` runs the audits.
"""
