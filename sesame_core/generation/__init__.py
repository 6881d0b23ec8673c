"""What a language model writes: answers and descriptions.  The only code that asks a model."""
