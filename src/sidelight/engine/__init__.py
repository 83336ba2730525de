"""Compiled loops on plain arrays. Nothing here knows about graphs, plans or policies."""
