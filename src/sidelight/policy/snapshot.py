"""Everything that changes in a policy, bit for bit: what a game that was stopped goes on from.

`Policy.save` is for files that last. It keeps what was learnt and rebuilds the rest, which moves probabilities by
rounding. A snapshot is the memory itself: of one plan, under one version of the kernels, and trusted to be what
`snapshot` gave, since only its form is checked. Whoever keeps one sees to that.
"""

from __future__ import annotations

import numpy as np

from sidelight._archive import Arrays
from sidelight.policy.policy import Policy

PROGRESS = ("_made", "_lost", "_others", "_version", "_warned")


def snapshot(player: object) -> Arrays | None:
    """The memory of a policy of the library; None of other players, and while decisions are open.

    >>> import sidelight as sl
    >>> plan = sl.plan("cycle:6", horizon=1000)
    >>> one, other = plan.policy(seed=7), plan.policy(seed=8)
    >>> for _ in range(100):
    ...     one.tell(np.full(2, float(one.ask() > 2)))
    >>> restore(other, snapshot(one))
    >>> [one.ask() == other.ask(), (one.probabilities == other.probabilities).all().item()]
    [True, True]
    """
    if not isinstance(player, Policy) or player._open:
        return None
    progress = np.array([getattr(player, name) for name in PROGRESS], dtype=np.int64)
    return {name: array.copy() for name, array in player._frozen().items()} | {"progress": progress}


def restore(player: object, arrays: Arrays) -> None:
    """Make a policy go on from a snapshot; ValueError if that is of another plan, and the policy is then useless."""
    if not isinstance(player, Policy):
        raise ValueError(f"{type(player).__name__} has no snapshots")
    try:
        found = dict(arrays)
        progress = found.pop("progress").astype(np.int64, casting="equiv").tolist()
        for name, value in zip(PROGRESS, progress, strict=True):
            setattr(player, name, type(getattr(player, name))(value))
        player._thaw(found)
    except (KeyError, IndexError, TypeError) as error:
        raise ValueError(f"it is no snapshot of this policy ({error!r:.100})") from error


def overwrite(targets: Arrays, arrays: Arrays) -> None:
    """Copy arrays into those of the same names; ValueError, and no change, where shapes or kinds differ."""
    about = [{name: (array.dtype, array.shape) for name, array in each.items()} for each in (targets, arrays)]
    if about[0] != about[1]:
        raise ValueError("its arrays have other shapes than the policy's")
    for name, target in targets.items():
        target[...] = arrays[name]
