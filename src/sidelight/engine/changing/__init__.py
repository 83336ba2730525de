"""Self-tuning play on a graph of its own in every round, dense: docs/theory/changing-graphs.md."""
