"""Stronger realizations: the same proofs, every constant minimised."""
