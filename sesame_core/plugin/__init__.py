"""The contracts of plugins, and the manager that finds a plugin by its name.  Imports no plugin by itself."""
