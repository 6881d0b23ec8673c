"""Questions that a history answers: how an error was fixed, how something is run.

Built on `search`: it finds chunks, and a module here says what they mean.  Knows no format of output and no caller.
"""
