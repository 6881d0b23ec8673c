"""How an agent learns of Sesame, and which session calls it.  Writes only what it has shown before."""
