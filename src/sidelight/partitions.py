"""Ready-made legal partitions: `sidelight.partitions.single(g)` and friends, and the search for a better one."""

from sidelight.partition.natural import *
from sidelight.planning.search.local_search import Search as Search
from sidelight.planning.search.local_search import search as search
from sidelight.planning.search.local_search import searched as searched
