"""Seeders: one rule per file, `base` first; its line here registers it.

`spread`, `exchange` and `neighbour` hold what they share.
"""

from refsvm.rule import export
from refsvm.seeders.active_set import ActiveSet as ActiveSet
from refsvm.seeders.ato import ATO as ATO
from refsvm.seeders.avg import AVG as AVG
from refsvm.seeders.base import Seeder as Seeder
from refsvm.seeders.cold import Cold as Cold
from refsvm.seeders.mir import MIR as MIR
from refsvm.seeders.sir import SIR as SIR
from refsvm.seeders.top import TOP as TOP

export(vars())
