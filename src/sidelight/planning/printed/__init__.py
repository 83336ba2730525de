"""The theorems of the paper as printed."""
