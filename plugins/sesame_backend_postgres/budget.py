"""What the answer to one query may cost the server."""

from __future__ import annotations

#: Chunks that one query may score, so that 100,000 chunks answer within 50 ms: each takes 3 µs.  Of the labelled
#: queries the first ten sessions are those of SQLite to 95.7 %, with 10,000 to 98.1 %, with 7,000 to 94.6 %.
SCORED = 8_000
#: When even the rarest word has more chunks than that, so many of its newest; 2,000 answer alike.
NEWEST = 2_500
#: Of words with more chunks, word lists that lie apart from their rows are read in so many of the newest.  One takes as
#: long as ten others (12 µs, one of seven with a word), and hardly ever ranks high, being long.
LONG = 2_000
#: So many times as many chunks are looked at when a filter on chunks lets only some of them be scored.
READS = 2
#: Chunks that are read because a word is in them, though a filter on sessions lets only some of them be scored.
LISTED = 15_000
#: Chunks that are read for a phrase, since the index of words does not know in which order they stand; of commoner
#: words the newest.  Each takes 4 µs, with a list that lies apart now and then.
READ = 20_000
#: Entries of the index of words that are read in the time of one chunk.
ROWS = 10
#: Words with more chunks are not counted but looked up in `lexemes`; phrases are counted in a sample so large.
COUNTED = 1_000
#: Of chunks that were chosen by some words only, the best whose score then counts all words; and the newest with all.
RESCORED = 600
#: Of the newest chunks so many with all words are enough: fewer are completed by those just before.
ENOUGH = 300
#: Of the newest chunks so many with all words let expect that there are more of them just before.
FEW = 30
#: Candidates handed to the ranking; more change nothing [facts: 500 as good as all].
CANDIDATES = 500
#: Documents, one for each session, that are looked at to tell in how many of them a word occurs; 400 answer alike.
DOCUMENTS = 1_000
#: Titles that are scored: those with one of the words that choose, and the newest; 600 answer alike.  Each takes 5 µs.
HEADS = 1_000
#: Sessions whose conversation is scored: the best by chunks and head.  Each takes 40 µs; 300 answer alike.
CONVERSATIONS = 100
#: Headless sessions that are looked at, the newest, to tell how many were left out of an answer to common words.
HEADLESS = 1_000
