"""What counts as a word: tokens, folding, snippets.  Knows no query, no file and no index."""
