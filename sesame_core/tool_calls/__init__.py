"""What the tool calls of agents say, read from the text of their chunks.

`form` has the form in which formatters write a call (docs/hooks.md), `commands` the commands of a shell and `patches`
patches; `call_files` says which files a call names and changes, `call_edits` which lines it wrote, `results` what came
of it.
"""
