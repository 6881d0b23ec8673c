"""Helpers for plugin authors: what several plugins share.  Knows no configuration."""
