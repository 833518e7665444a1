"""``python -m benchmarks.audit NAME``."""

from .frame import main

if __name__ == "__main__":
    raise SystemExit(main())
