"""The picker: a list of sessions in a terminal that follows what is typed, with the passage that matched.

A caller like the command line: it reads keys, calls the API, and draws.  It needs no package: a library for full
screens takes longer to import than the first list takes to be drawn.  It resumes nothing itself; what was chosen goes
back to the command that started it.
"""
