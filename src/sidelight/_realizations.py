"""The ways to play a graph, by name: what `sl.plan(graph, T, realization=…)` and commands take.

A module of its own, so that `sidelight plan --help` need not import the planner.
"""

from __future__ import annotations

SELF_TUNING = "self-tuning"
UNIFORM = "uniform"

REALIZATIONS = {
    "auto": '"self-tuning" where it keeps to its budget, else "fixed"',
    SELF_TUNING: "one simplex that raises its temperature with what rounds cost, and explores as cheaply as it can",
    "fixed": "the smallest bound of all below, at rates that never change",
    "flat": "one simplex for all arms, no partition needed",
    "interpolated": "each weak block its own Tsallis potential, constants minimised at this horizon",
    "clustered": "Theorem realized-upper-bound",
    "adaptive": "Theorem adapt-realized-upper-bound",
    "hybrid": "each weak block plays the better of these two",
    UNIFORM: "every arm alike, whatever is seen: R ≤ (1 − 1/N)·T",
}
"""Name → meaning, in one line."""

WITHOUT_HORIZON = ("auto", SELF_TUNING)
FAILING = ("auto", SELF_TUNING)
"""For graphs whose reveals may fail, with a horizon or without; with one also "fixed", "flat" and "uniform"."""
