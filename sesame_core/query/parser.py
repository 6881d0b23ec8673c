"""The query language: parses what a person types into a `Query`.

    query  =  list { AND list } { OR list { AND list } }
    list   =  item { item }                     any of its words; all required items, no excluded one
    item   =  [ + | - | NOT ] ( word | word* | "phrase" | field:value | "(" query ")" )

A phrase is required in its list, like an item with a plus sign.  When all lists have words, fields and exclusions
hold for the whole query, or for the parentheses that contain them: `a OR b -c` is `(a OR b) AND -c`.  Any string is
a query: quotes and parentheses need not be closed, an operator without operands is ignored, and an unknown field is
a word.  What only looks like an operator in a text that was pasted is a word, too (`pasted`).
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

from ..dataclass import dataclass
from ..errors import QueryError
from ..text.folding import without_escapes
from ..text.tokens import clean, has_word, pieces
from ..text.words import word_of
from ..types.query import Condition, Has, Is, Query, Word
from . import fields
from .boolean import all_of, any_of, depth, is_any_of, leaves, negated, positive_words, some, taken_apart
from .lexer import FIELD, OPERATORS, Token, nesting, tokens

#: Words that say nothing about a session; dropped from a list unless it has no others.
STOP_WORDS = frozenset(
    "a about after all am an and any are as at be been before being but by can could did do does doing down for from "
    "had has have having he her here him his how i if in into is it its just me more most my no nor not now of off on "
    "once only or other our out over own same she should so some such than that the their them then there these they "
    "this those through to too under until up very was we were what when where which while who whom why will with "
    "would you your".split()
)
#: Most words that are ranked, the rarest of a query (`search.rarest`); more only cost time.  A query with more is a
#: text, without operators.
MAX_WORDS = 32
#: Most different words of a query; later ones are ignored.  A stack trace of 45 lines has about 270.
MAX_KNOWN = 400
#: Greatest nesting depth of conditions, and most words and fields in them; a query beyond is read as plain words, so
#: that every database can answer it (older SQLite stops at about 30 parentheses).
MAX_DEPTH = 10
MAX_LEAVES = 4 * MAX_WORDS
#: Greatest depth of parentheses that is parsed before simplification decides how deep a query really is.
MAX_GROUPS = 50


@dataclass(frozen=True, slots=True)
class _Part:
    """The meaning of a part of a query."""

    condition: Condition | None = None
    #: Words that are ranked although they are not required.
    extra: tuple[Word, ...] = ()
    #: The fields of a list, and its exclusions.
    needed: tuple[Condition, ...] = ()

    @property
    def words(self) -> tuple[Word, ...]:
        """All words that are searched for."""
        return (*self.extra, *positive_words(self.condition))

    @property
    def has_words(self) -> bool:
        """Whether there is more than fields and exclusions."""
        return self.condition is not None


def parse(text: str, *, now: datetime | None = None) -> Query:
    """Parse a query; any string is one.  `*` alone, like the empty string, has no words.

    :param now: the time that dates are relative to; the system clock's when None.
    """
    text = without_escapes(text)
    read, hints = meant(tokens(clean(text)))
    return read_tokens(text, read, hints, now=now)


def meant(read: Iterable[Token]) -> tuple[list[Token], list[str]]:
    """Return the tokens of a query as they are meant, and messages about those whose meaning is not certain."""
    read = list(read)
    if all(token.kind in ("word", "phrase", "OR", "(", ")") and not token.sign for token in read):
        return read, []
    from . import pasted  # most queries are words

    return pasted.meant(read)


def read_tokens(text: str, read: list[Token], hints: Iterable[str] = (), *, now: datetime | None = None) -> Query:
    """Return the query that some tokens of a text make.

    :param hints: messages about the tokens.
    """
    reading = _Reading(read, now)
    part = reading.expression() if nesting(read) <= MAX_GROUPS else None
    is_long = len(reading.known) > MAX_WORDS
    if is_long or part is None or depth(part.condition) > MAX_DEPTH or leaves(part.condition) > MAX_LEAVES:
        from . import pasted

        plain = pasted.plain(read)
        reading = _Reading(plain, now)
        part = reading.expression()
        if not is_long:
            reading.hints.append("the query is too deep or too long, so all of it was read as plain words")
        elif any(token.kind in ("AND", "NOT") or token.sign for token in set(read).difference(plain)):
            reading.hints.append(f"the query has more than {MAX_WORDS} words, so all of it was read as plain words")
    else:
        reading.hints[:0] = hints
    if len(reading.known) == MAX_KNOWN:
        reading.hints.append(f"only the first {MAX_KNOWN} different words of the query were read")
    if part == _Part():
        operators = dict.fromkeys(t.kind for t in read if t.kind in OPERATORS)
        part = _Part(extra=tuple(map(word_of, operators)))
    filters, rest, others = taken_apart(some(part.condition))
    conditions = [*rest, *others]
    ranked = dict.fromkeys([*part.extra, *(word for c in conditions for word in positive_words(c))])
    conditions = [c for c in conditions if not is_any_of(c, ranked)]
    needed = dict.fromkeys(word for condition in conditions for word in positive_words(condition))
    words = [*(word for word in ranked if word not in needed), *needed]
    return Query(
        text=text,
        words=tuple(words),
        condition=all_of(conditions),
        filters=filters,
        typed=_typed(clean(text), read),
        choices=tuple(reading.choices),
        hints=tuple(dict.fromkeys(reading.hints)),
    )


def _typed(text: str, read: Iterable[Token]) -> str:
    """Return a query without its fields and exclusions, on one line."""
    kept, position = [], 0
    for token in read:
        if token.kind == "field" or token.sign == "-":
            kept.append(text[position : token.start])
            position = token.end
    return " ".join(" ".join([*kept, text[position:]]).split())


class _Reading:
    """A recursive-descent parser: one pass over the tokens of a query."""

    def __init__(self, tokens: list[Token], now: datetime | None) -> None:
        self._tokens = tokens
        self._now = now
        self._next = 0
        #: All words, ranked or not, by their text in one case.
        self.known: dict[str, Word] = {}
        self.hints: list[str] = []
        self.choices: list[tuple[frozenset[str], ...]] = []

    def expression(self) -> _Part:
        """Parse lists joined by AND, and those joined by OR."""
        lists = [[self._list()]]
        while (kind := self._peek()) in ("AND", "OR"):
            self._next += 1
            if kind == "OR":
                lists.append([])
            lists[-1].append(self._list())
        sides = [frozenset(word.text for part in together for word in part.words) for together in lists]
        if len(sides := list(filter(None, sides))) > 1:
            self.choices.append(tuple(sides))
        read = [part for together in lists for part in together if part != _Part()]
        is_common = all(part.has_words for part in read)
        alternatives = [
            all_of([c for part in together for c in (part.condition, *(() if is_common else part.needed)) if c])
            for together in lists
        ]
        needed = [condition for part in read for condition in part.needed] if is_common else []
        return _Part(
            all_of([*some(any_of(some(*alternatives))), *needed]),
            tuple(word for part in read for word in part.extra),
        )

    def _peek(self) -> str:
        return self._tokens[self._next].kind if self._next < len(self._tokens) else ""

    def _list(self) -> _Part:
        required: list[Condition] = []
        optional: list[Condition] = []
        empty: list[Condition] = []
        needed: list[Condition] = []
        extra: list[Word] = []
        is_negated = False
        while (kind := self._peek()) not in ("", "AND", "OR", ")"):
            token = self._tokens[self._next]
            self._next += 1
            if kind == "NOT":
                is_negated = not is_negated
                continue
            parts = self._item(token)
            if is_negated != (token.sign == "-"):
                needed += [negated(part.condition) for part in parts if part.condition]
            else:
                for part in parts:
                    extra += part.extra
                    if part.condition is None:
                        continue
                    if isinstance(part.condition, Is):
                        needed.append(part.condition)
                    elif token.sign == "+" or kind == "phrase":
                        required.append(part.condition)
                    elif kind == "word" and token.text.casefold() in STOP_WORDS:
                        empty.append(part.condition)
                    else:
                        optional.append(part.condition)
            is_negated = False
        if required:
            extra += [word for condition in optional for word in positive_words(condition)]
        else:
            required = some(any_of(optional or empty))
        return _Part(all_of(required), tuple(extra), tuple(needed))

    def _item(self, token: Token) -> list[_Part]:
        if token.kind == "(":
            part = self.expression()
            self._next += self._peek() == ")"
            return [part]
        if token.kind == "field":
            field, value = token.field.lower(), token.text
            try:
                return [_Part(Is(fields.read(field, value, now=self._now)))]
            except QueryError as error:
                self.hints.append(f"{token.field}:{value} was read as a word: {error}")
                return self._words(f"{token.field}:{value}")
        if token.kind == "phrase":
            word = self._word(token.text) if has_word(token.text) else None
            return [_Part(Has(word))] if word else []
        if match := FIELD.fullmatch(token.text):
            near = None if match[1].lower() in fields.KEYS else fields.nearest(match[1])
            if near:
                self.hints.append(f"{token.text} was read as a word: did you mean {near}:{match[2]}?")
        return self._words(token.text)

    def _words(self, raw: str) -> list[_Part]:
        found = []
        for text in raw.replace('"', " ").split():
            star = "*" if text.endswith("*") else ""
            parts = pieces(text.rstrip("*"))
            if parts:
                parts[-1] += star
            found += [_Part(Has(word)) for part in parts if (word := self._word(part))]
        return found

    def _word(self, text: str) -> Word | None:
        """Return the one `Word` for a string, ignoring case; None when the query has too many words."""
        made = word_of(text)
        key = made.text.casefold()
        if key not in self.known:
            if len(self.known) == MAX_KNOWN:
                return None
            self.known[key] = made
        return self.known[key]
