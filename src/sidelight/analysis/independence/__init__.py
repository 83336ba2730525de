"""The independence number, or bounds on it where it is out of reach."""
