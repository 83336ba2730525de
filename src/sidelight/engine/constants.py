"""Numbers of the kernels on which proofs of bounds rest: `planning.tuning` and the kernels take them from here."""

LARGEST_LIST = 24
"""Tsallis groups up to this size are visited one by one and played exactly, larger ones are kept in buckets."""

EXACT_SPREAD = LARGEST_LIST
"""Blocks of up to so many arms play their spread exactly."""

MOST_EXPLORATION = 0.5
"""The proofs need γ̄ ≤ ½; below their horizons exploration is scaled down to it."""

LARGEST_REACH = 1.0 / 64.0
"""Buckets are laid out anew before the multiplier has moved, relative to their edges, by more than this."""

SLACK, ROOM, GROWTH = 0.02, 3.0, 0.01
"""The guard of self-tuning play: rounds may cost 1 + `SLACK` times their price, and what earlier ones saved on that,
of which `ROOM` + `GROWTH`·(all costs so far) is remembered at most."""

FAILED = -1.0
"""In place of the loss of an arm whose reveal failed."""
