"""Questions that only a history can answer, from an index: who wrote a line, and what else is asked of the past.

A module owns one noun, and each answer is found by what sessions really did: their edits, commands and results.  It
reads the index through the contract of its backend; it writes nothing, and prints nothing.
"""
