"""How an agent learns of Sesame, and which session calls it.  Writes only what was shown."""
