"""Names, summaries and tags written about sessions, and how they get into the index.  Calls no model."""
