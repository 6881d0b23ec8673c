"""Files to index: what has changed, and one file into the index.  Knows nothing of searching."""
