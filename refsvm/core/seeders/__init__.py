"""Seeders: each file holds one rule, and importing the rule in this ``__init__`` registers it.

`base` holds the base class; `spread`, `exchange` and `neighbour` hold functions that several seeders share.
"""

from refsvm.core.rule import export
from refsvm.core.seeders.active_set import ActiveSet as ActiveSet
from refsvm.core.seeders.ato import ATO as ATO
from refsvm.core.seeders.avg import AVG as AVG
from refsvm.core.seeders.base import Seeder as Seeder
from refsvm.core.seeders.cold import Cold as Cold
from refsvm.core.seeders.mir import MIR as MIR
from refsvm.core.seeders.sir import SIR as SIR
from refsvm.core.seeders.top import TOP as TOP

export(vars())
