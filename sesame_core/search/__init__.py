"""`Query` to `Answer`: candidates, ranking, grouping, passages.  Reads the index only."""
