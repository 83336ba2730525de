"""Rules, which draw from no simplex of the engine: their arrays, and the loop around the two steps of each."""
