"""Sessions that a program writes itself, and indexing as files change.  Reads no agent's format."""
