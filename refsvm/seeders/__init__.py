"""Seeders: one rule per file, `base` first; `spread` holds what they share."""

from refsvm.seeders.avg import AVG
from refsvm.seeders.base import Seeder
from refsvm.seeders.cold import Cold
from refsvm.seeders.top import TOP

__all__ = ["AVG", "TOP", "Cold", "Seeder"]
