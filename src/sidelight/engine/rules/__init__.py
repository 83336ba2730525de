"""Small policies that draw from no simplex: their arrays and their steps."""
