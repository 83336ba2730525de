"""One hand-written kernel per instance, with everything about that instance hard-wired.

What the machine can do, and what the general engine is measured against: the same algorithms, losses and laws,
nothing general, no ledger and no counts. Like every rival they have `probabilities`, `learn(arm, losses)` and
`play(rounds)`; see `agreement`.
"""

from benchmarks.rivals.prototypes.bandit import Bandit
from benchmarks.rivals.prototypes.cliques import Cliques
from benchmarks.rivals.prototypes.cube import Cube
from benchmarks.rivals.prototypes.cycle import Cycle
from benchmarks.rivals.prototypes.everything import Everything

RIVALS = {"A": Cliques, "B": Cycle, "C": Bandit, "D": Everything, "E": Cube}
