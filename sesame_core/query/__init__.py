"""Text to `Query`, and back.  Finds nothing: that is the work of `search` and of backends."""
