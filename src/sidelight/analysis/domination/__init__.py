"""The fractional domination number δ*: the least exploration that sees every arm, with its certificate."""
