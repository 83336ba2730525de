"""Compiled loops on plain arrays. Nothing here knows about graphs, plans or policies."""

from sidelight.engine._numba.cache import forget_stale_kernels

forget_stale_kernels()
