"""``python -m refsvm`` runs the command line."""

from refsvm.cli import main

if __name__ == "__main__":
    main()
