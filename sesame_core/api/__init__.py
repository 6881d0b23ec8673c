"""`Sesame`, the calls that every caller stands on.  Composes the packages below; no logic of its own."""
