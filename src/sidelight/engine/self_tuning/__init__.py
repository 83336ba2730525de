"""Self-tuning plans: exploration chosen for its price, temperature that is bought (docs/theory/self-tuning.md)."""
