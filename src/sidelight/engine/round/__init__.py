"""One round: draw an arm, how likely it was to be seen, learn."""
