"""What counts as a word: tokens, folding, snippets.  Knows nothing of files and of the index."""
