"""Questions that only a history can answer.  Reads an index, writes nothing, and asks no model."""
