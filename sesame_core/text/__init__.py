"""What counts as a word: tokens, folding, snippets; and which words make a title.

Knows nothing of files and of the index.
"""

#: Version of the words that are indexed (`tokens.subwords`), and of the choice of prompts (`titles.is_telling`); files
#: that were indexed with another one are read again.
VERSION = 4
