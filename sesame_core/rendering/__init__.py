"""Turns answers into text for people and into JSON for programs.

Transcripts may hold anything, so text for people loses its control characters; JSON escapes them.  Field names of
seed 000 stay as they are; additions are new fields, and `schemaVersion` counts changes of meaning.  What prints what is
in a module of its own, so that a command loads what it prints.
"""
