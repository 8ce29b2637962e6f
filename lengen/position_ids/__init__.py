"""Schemes of position ids: one file each."""

from lengen.position_ids.abacus import Abacus
from lengen.position_ids.base import PositionIds
from lengen.position_ids.consecutive import Consecutive
from lengen.position_ids.coupled import Coupled
from lengen.position_ids.cyclic import Cyclic
from lengen.position_ids.none import NoPositionIds
from lengen.position_ids.randomised import Randomised

__all__ = ["Abacus", "Consecutive", "Coupled", "Cyclic", "NoPositionIds", "PositionIds", "Randomised"]
