"""`Query` to `Answer`: candidates, ranking, grouping, passages.  Only reads the index."""
