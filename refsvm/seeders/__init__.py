"""Seeders: one rule per file, `base` first."""

from refsvm.seeders.base import Seeder
from refsvm.seeders.cold import Cold

__all__ = ["Cold", "Seeder"]
