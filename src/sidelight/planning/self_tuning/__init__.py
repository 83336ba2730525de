"""Plans that tune themselves while they are played, and what they promise before."""
