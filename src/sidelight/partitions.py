"""Ready-made legal partitions: `sidelight.partitions.single(g)` and friends."""

from sidelight.partition.natural import components, corrupted, hypercube, single, singletons

__all__ = ["components", "corrupted", "hypercube", "single", "singletons"]
