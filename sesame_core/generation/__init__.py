"""What a language model writes: answers and descriptions.  The only code that calls a model."""
