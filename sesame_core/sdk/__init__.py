"""Helpers for plugin authors: whatever two plugins share.  Nothing here knows a configuration."""
