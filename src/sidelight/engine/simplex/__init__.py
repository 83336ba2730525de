"""One point of a simplex, held by sums and a multiplier: lists, buckets, trees."""
