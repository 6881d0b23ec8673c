"""Secrets: how they are detected and kept out of an index.  Knows nothing of visibility."""
