"""`Sesame`, the API that every caller uses.  Composes the packages below; no logic of its own."""
