"""Seeders: one rule per file, `base` first; `spread`, `exchange` and `bordered` hold what they share."""

from refsvm.seeders.active_set import ActiveSet
from refsvm.seeders.ato import ATO
from refsvm.seeders.avg import AVG
from refsvm.seeders.base import Seeder
from refsvm.seeders.cold import Cold
from refsvm.seeders.mir import MIR
from refsvm.seeders.sir import SIR
from refsvm.seeders.top import TOP

__all__ = ["ATO", "AVG", "MIR", "SIR", "TOP", "ActiveSet", "Cold", "Seeder"]
