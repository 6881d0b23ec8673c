"""Limits for the work of the server for one query."""

from __future__ import annotations

#: Most chunks that one query scores, as in SQLite: each takes 3 µs.  With 10,000 a labelled query loses its place among
#: the first three.
SCORED = 12_000
#: Of words that select more chunks together with the rarer ones, only those with another word are scored, and of the
#: others as many of the newest as `NEWEST` leaves; of one word alone this number of the newest.  Of 150 generated
#: queries of three to five words, the first ten sessions are those of SQLite to 93.9 % (the first one: 99 %) without
#: this bound, with one of 10,000 to 93.3 (99), of 8,000 to 92.1 (97), of 6,000 to 89.3 (95), of 4,000 to 85.1 (90); to
#: score no more than 8,000, as many chunks, to 87.3 (89).  The labelled queries are ranked alike with each.
FULL = 7_000
#: But at least this number of the newest; half as many or twice as many change less than .5 %.
SOLE = 1_000
#: The other words are those in at most this part of all chunks together; .5 changes less than .5 %.
PARTNERS = 0.25
#: When even the rarest word has more chunks than that, this number of its newest; 2,000 give the same answers.
NEWEST = 2_500
#: For words with more chunks, word lists that are stored out of line are read only of the newest.
EXACT = 2_000
#: Of this number of the newest.  A long list takes as long as ten others (12 µs; one of seven lists with a word), and
#: rarely ranks high, because it is long: 600 and 2,000 give the same answers to the labelled queries, to pasted lines
#: and, to .1 %, to generated queries.
LONG = 300
#: Factor on the chunks that are read when a filter on chunks lets only some of them be scored.
READS = 2
#: Most chunks with a word that are read when a filter on sessions lets only some of them be scored.
LISTED = 15_000
#: Most chunks that are read for a phrase, since the index of words does not have their order; of commoner words the
#: newest.  Each takes 4 µs on average, including lists that are stored out of line.
READ = 20_000
#: Most chunks that are read for a phrase which is found but not scored: long ones take 15 µs.
PHRASED = 1_000
#: Of a single word, the newest sessions are read first, which have this many times the chunks that are wanted.
NEAR = 10
#: Entries of the index of words that are read in the time for one chunk.
ROWS = 10
#: Entries of the index of sessions that are read in that time.
ENTRIES = 30
#: Words with more chunks are not counted but looked up in `lexemes`; phrases are counted in a sample of this size.
COUNTED = 1_000
#: Of chunks selected by some words only, the number of the best, and of the newest with all words, that are rescored
#: with all words.
RESCORED = 600
#: This number of chunks with all words among the newest suffices: fewer are completed from older ones.
ENOUGH = 300
#: From this number of chunks with all words among the newest on, more are expected just before them.
FEW = 30
#: Candidates for the ranking; more change nothing [facts: 500 as good as all].
CANDIDATES = 500
#: Documents, one per session, that are scanned to estimate the number with a word; 400 give the same answers.
DOCUMENTS = 1_000
#: The same of those with the words of a phrase, which are read for their order: a long one takes 80 µs.
ORDERED = 200
#: Titles that are scored: those with a selecting word, then the newest.  Each takes 5 µs; with 600 the labelled queries
#: have the same answers, and generated ones the same first ten sessions to .5 %.
HEADS = 300
#: Sessions whose conversation is scored: the best by chunks and head.  Each takes 40 µs; 300 give the same answers.
CONVERSATIONS = 100
#: Newest headless sessions that are scanned to count those left out of an answer to common words.
HEADLESS = 1_000
