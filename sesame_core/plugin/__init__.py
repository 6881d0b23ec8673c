"""What a plugin is, and how one is found by its name.  Imports no plugin by itself."""
