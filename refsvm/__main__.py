"""``python -m refsvm`` is the command line."""

from refsvm.cli import main

if __name__ == "__main__":
    main()
