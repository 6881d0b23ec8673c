"""Sessions that a program writes itself, and indexing as files change.  Knows no agent's format."""
