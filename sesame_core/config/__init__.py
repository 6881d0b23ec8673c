"""What the user configures, where things are, and who this machine is.  Opens no index."""
