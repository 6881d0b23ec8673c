"""What only a history answers: who wrote a line, how an error was fixed, how something is run, who worked on it.

Built on `search`: it finds chunks, and a module here says what they mean.  It reads an index, writes nothing, asks no
model, and knows no format of output and no caller.
"""
