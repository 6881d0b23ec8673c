"""String to `Query`, and back.  Searches nothing: that is the work of `search` and of backends."""
