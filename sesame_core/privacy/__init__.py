"""Secrets: how they are recognised and kept out of an index.  Decides nothing about who sees what."""
