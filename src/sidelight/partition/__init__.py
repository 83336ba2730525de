"""Legal partitions: the type, the reasons why blocks are not one, the natural ones."""

from sidelight.partition.legality import Violation, legality_violations
from sidelight.partition.partition import Partition

__all__ = ["Partition", "Violation", "legality_violations"]
