"""All that may change in a policy, to say that nothing has."""

from sidelight.engine.fields import CHANGING, views
from sidelight.planning import Plan


def snapshot(policy):
    """All that may change, bit for bit."""
    if isinstance(policy.plan, Plan):
        state = b"".join(array.tobytes() for array in views(policy.memory, CHANGING).values())
        state += policy.memory.words.tobytes()
    else:
        parts = ("numbers", "counts", "sums", "probabilities", "words")
        state = b"".join(getattr(policy.state, name).tobytes() for name in parts)
    progress = policy._progress
    draws = [
        (number, draw.arm, draw.version, None if draw.kept is None else draw.kept.tobytes())
        for number, draw in progress.pop("_open").items()
    ]
    return state, progress, draws
