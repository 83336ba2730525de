"""Bounds: what one is, all known ones side by side, an independent check."""
