"""Self-tuning plans: exploration chosen for its cost, temperature that costs pay for (docs/theory/self-tuning.md)."""
