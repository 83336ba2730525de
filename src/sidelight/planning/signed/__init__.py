"""Prices of rounds whose estimates are shifted by c before they are divided, and the smallest bound from them."""
