"""What a terminal shows: fitted to its width and height, in colours if it has any.

Text for pipes and files is in the modules above; it is neither cut nor folded.
"""
