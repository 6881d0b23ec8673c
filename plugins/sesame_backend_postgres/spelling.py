"""SQL that looks up words for other spellings of a query's words.

The words of all chunks are counted now and then (`tables.tidy`), and of a large index only those of a sample.  Words
that are not counted are found in the words of the sessions that have one, up to a limit.
"""

from __future__ import annotations

#: Newest lists of words with a prefix that are read for words that are not counted.
LISTS = 50

#: Words that start with `part`, which as a tsquery is `prefix`; the first `most`, with their numbers of chunks.  The
#: words of a list are not joined, which would store each of them once more.
BEGINNING = f"""
SELECT lexeme, max(chunks) AS chunks FROM (
  SELECT lexeme, chunks FROM lexemes WHERE lexeme >= %(part)s AND lexeme < %(part)s || U&'\\+10FFFF'
  UNION ALL
  SELECT w, 1 FROM (
    SELECT unnest(tsvector_to_array(words)) AS w FROM (
      SELECT words FROM vocabularies WHERE words @@ (%(prefix)s::text)::tsquery ORDER BY session DESC LIMIT {LISTS}
    ) AS v
  ) AS v WHERE starts_with(w, %(part)s)
) AS t GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT %(most)s
"""
#: Words that contain `part`, likewise.
CONTAINING = """
SELECT lexeme, chunks FROM lexemes WHERE strpos(lexeme, %(part)s) > 0 ORDER BY 2 DESC, 1 LIMIT %(most)s
"""
