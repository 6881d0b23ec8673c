"""The user's configuration, Sesame's directories, and the identity of this machine.  Opens no index."""
