"""Shows which words each agent's sessions are made of, to see what a parser should have left out.

    python benchmarks/terms.py [--top 10] [--role user]

Of each agent in the index it prints the words that are in most of its chunks, and those that are in far more of its
chunks than in the others': there boilerplate stands out that an agent adds to each prompt or output, keys of JSON, and
encoded data.  Texts are read as answers show them, without the names that the formatter puts before arguments; numbers
and function words of English are left out, and identifiers, which differ each time, have a column of their own.
"""

from __future__ import annotations

import argparse
import math
import re
from collections import Counter
from collections.abc import Iterable

from sesame_core import Filters, Sesame
from sesame_core.text.readable import readable

#: English words that say nothing about what a text is about.
FUNCTION_WORDS = frozenset(
    """a about after all also an and any are as at be been before but by can could did do does done each else for from
    get had has have how i if in into is it its just let like make me more my need no not now of on one only or other
    our out over s same see should so some t than that the their them then there these they this to two up us use used
    using was we were what when where which while who will with would you your""".split()
)
_WORD = re.compile(r"[^\W\d_]\w*")
#: What only a machine reads: letters and digits mixed, as in ids, hashes and base64.
_IDENTIFIER = re.compile(r"(?=\w*\d)(?=\w*[A-Za-z])\w{16,}|[A-Za-z0-9+/]{60,}")


class Terms:
    """In how many chunks of an agent each word is."""

    def __init__(self) -> None:
        self.sessions = 0
        self.chunks = 0
        self.with_identifier = 0
        self.words: Counter[str] = Counter()

    def add(self, texts: Iterable[str]) -> None:
        """Count the words of one session's chunks."""
        self.sessions += 1
        for text in texts:
            self.chunks += 1
            self.with_identifier += bool(_IDENTIFIER.search(text))
            self.words.update(set(_WORD.findall(text.lower())) - FUNCTION_WORDS)

    def common(self, top: int) -> list[str]:
        """Return the words that are in most chunks."""
        return sorted(self.words, key=lambda word: (-self.words[word], word))[:top]

    def share(self, word: str) -> float:
        """Return the share of chunks that have a word, smoothed: none has a share of 0."""
        return (self.words[word] + 0.5) / (self.chunks + 1)


def counted(sesame: Sesame, role: str | None) -> dict[str, Terms]:
    """Return the terms of each agent in an index.

    :param role: only of chunks of this role.
    """
    found: dict[str, Terms] = {}
    stored, _ = sesame.list_sessions(Filters(all_kinds=True), limit=1_000_000)
    for one in stored:
        chunks = sesame.list_messages(one, limit=1_000_000)
        terms = found.setdefault(one.session.agent, Terms())
        terms.add(readable(chunk.text, chunk.kind) for chunk in chunks if role in (None, chunk.role))
    return dict(sorted(found.items()))


def distinctive(agent: Terms, others: list[Terms], top: int) -> list[str]:
    """Return the words by how much likelier a chunk of this agent has them, weighted by how many do."""

    def score(word: str) -> float:
        elsewhere = sum(other.words[word] for other in others) + 0.5
        share = elsewhere / (sum(other.chunks for other in others) + 1)
        return agent.share(word) * math.log(agent.share(word) / share)

    return sorted(sorted(agent.words), key=score, reverse=True)[:top]


def main() -> None:
    """Print a table of the agents in the configured index."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--top", type=int, default=10, help="words of each kind (default: 10)")
    parser.add_argument("--role", help="only chunks of this role: user, assistant, tool …")
    given = parser.parse_args()
    with Sesame() as sesame:
        found = counted(sesame, given.role)
    print("| agent | sessions | chunks | with an identifier | in most chunks | in more chunks than of the others |")
    print("|---|---|---|---|---|---|")
    for agent, terms in found.items():
        identified = f"{terms.with_identifier / max(1, terms.chunks):.1%}"
        common = ", ".join(f"{word} {terms.share(word):.0%}" for word in terms.common(given.top))
        others = [other for name, other in found.items() if name != agent]
        print(
            f"| {agent} | {terms.sessions} | {terms.chunks} | {identified} | {common} "
            f"| {', '.join(distinctive(terms, others, given.top))} |"
        )


if __name__ == "__main__":
    main()
