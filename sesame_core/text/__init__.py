"""What counts as a word: tokens, folding, snippets.  Knows nothing of files and of the index."""

#: Version of the words that are indexed (`tokens.subwords`); files that were indexed with another one are read again.
VERSION = 2
