"""The query language: a text as a person types it into a query, and back.

    query  =  list { AND list } { OR list { AND list } }
    list   =  item { item }                     any of its words; all that is required, nothing that is excluded
    item   =  [ + | - | NOT ] ( word | word* | "phrase" | field:value | "(" query ")" )

A phrase is required in its list, like what has a plus sign.  When all lists have words, fields and what is excluded
hold for the whole query, or for the parentheses they stand in: `a OR b -c` is `(a OR b) AND -c`.  Any text is a
query: quotes and parentheses need not be closed, an operator without something to operate on says nothing, and what
looks like a field but is none is a word.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from datetime import datetime
from typing import NamedTuple

from . import fields
from .errors import QueryError
from .query import AllOf, AnyOf, Condition, Filters, Has, Is, Not, Query, Word, asked, both, positive_words, word_of
from .tokens import clean, pieces

#: Words that say nothing about a session; left out of a list unless nothing else is in it.
STOP_WORDS = frozenset(
    "a about after all am an and any are as at be been before being but by can could did do does doing down for from "
    "had has have having he her here him his how i if in into is it its just me more most my no nor not now of off on "
    "once only or other our out over own same she should so some such than that the their them then there these they "
    "this those through to too under until up very was we were what when where which while who whom why will with "
    "would you your".split()
)
OPERATORS = ("AND", "OR", "NOT")
#: Words that are ranked; more only cost time.
MAX_WORDS = 32
#: Different words of a query, ranked or not; later ones are not read.
MAX_KNOWN = 2 * MAX_WORDS
#: Conditions below conditions, and words and fields in them; a query beyond is read as plain words, so that every
#: database can answer (older SQLite stops at about 30 parentheses).
MAX_DEPTH = 10
MAX_LEAVES = 2 * MAX_KNOWN
#: Parentheses in parentheses that are read before simplification decides how deep a query really is.
MAX_GROUPS = 50

_QUOTED = re.compile(r'([+-]?)(?:([A-Za-z]+):)?"([^"]*)(?:"|$)')
_GROUP = re.compile(r"([+-]?)\(")
_RAW = re.compile(r"\S+")
_FIELD = re.compile(r"([A-Za-z]+):(.+)")
_BARE = re.compile(r"\w+(?:[./@#-]+\w+)*\*?")


class _Token(NamedTuple):
    #: "word", "phrase", "field", "(", ")" or an operator.
    kind: str
    text: str = ""
    sign: str = ""
    field: str = ""


class _Part(NamedTuple):
    """What a piece of a query means."""

    condition: Condition | None = None
    #: Words that are ranked although no session needs them.
    extra: tuple[Word, ...] = ()
    #: The fields of a list, and what it excludes.
    needed: tuple[Condition, ...] = ()

    @property
    def has_words(self) -> bool:
        """There is more than fields and exclusions."""
        return self.condition is not None


def parse(text: str, *, now: datetime | None = None) -> Query:
    """Read a query; any text is one.  `*` alone, like nothing at all, asks for no word.

    :param now: what dates are relative to; the clock's when None.
    """
    tokens = list(_tokens(clean(text)))
    reading = _Reading(tokens, now)
    part = reading.expression() if _groups(tokens) <= MAX_GROUPS else None
    if part is None or _depth(part.condition) > MAX_DEPTH or _leaves(part.condition) > MAX_LEAVES:
        plain = [token._replace(sign="") for token in tokens if token.sign != "-"]
        plain = [token._replace(kind="word") if token.kind == "phrase" else token for token in plain]
        reading = _Reading([token for token in plain if token.kind in ("word", "field")], now)
        part = reading.expression()
        reading.hints.append("the query is too deep or too long, so all of it was read as plain words")
    if part == _Part():
        operators = dict.fromkeys(t.kind for t in tokens if t.kind in OPERATORS)
        part = _Part(extra=tuple(map(word_of, operators)))
    filters, rest, others = _taken_apart(_some(part.condition))
    conditions = [*rest, *others]
    ranked = dict.fromkeys([*part.extra, *(word for c in conditions for word in positive_words(c))])
    conditions = [c for c in conditions if not _is_any_of(c, ranked)]
    needed = dict.fromkeys(word for condition in conditions for word in positive_words(condition))
    words = [*(word for word in ranked if word not in needed), *needed]
    return Query(
        text=text,
        words=tuple(words[:MAX_WORDS]),
        condition=_all_of(conditions),
        filters=filters,
        hints=tuple(dict.fromkeys(reading.hints)),
    )


def unparse(query: Query) -> str:
    """Return a text that is read as an equal query; equal queries have the same."""
    needed = set(positive_words(query.condition))
    extra = [Has(word) for word in query.words if word not in needed]
    facts = [*([Is(query.filters)] if asked(query.filters) else []), *_some(query.condition)]
    if all(_bare(has.word) for has in extra):
        words = " ".join(has.word.text for has in extra)
    else:
        words = _written(AnyOf(tuple(extra)))
        words = f"({words})" if facts else words
    return " ".join(filter(None, [words, *(_item(part) for part in _parts(AllOf, facts))]))


# -- reading ----------------------------------------------------------------------------------------------


def _tokens(text: str) -> Iterator[_Token]:
    """Split a text where its words, phrases, fields and parentheses begin."""
    position = depth = 0
    while position < len(text):
        if text[position].isspace():
            position += 1
        elif match := _QUOTED.match(text, position):
            sign, field, phrase = match.groups()
            position = match.end()
            if not field:
                yield _Token("phrase", phrase, sign)
            elif field.lower() in fields.FIELDS:
                yield _Token("field", phrase, sign, field)
            else:
                yield _Token("word", f"{field}:", sign)
                yield _Token("phrase", phrase, sign)
        elif match := _GROUP.match(text, position):
            depth += 1
            position = match.end()
            yield _Token("(", sign=match[1])
        elif depth and text[position] == ")":
            depth -= 1
            position += 1
            yield _Token(")")
        else:
            raw = _RAW.match(text, position)
            assert raw is not None
            word = _within(raw[0]) if depth else raw[0]
            position += len(word)
            yield _word_token(word)


def _within(raw: str) -> str:
    """Return a word up to a parenthesis that it does not open itself: `main()` whole, `dog)` without it."""
    opened = 0
    for position, character in enumerate(raw):
        opened += (character == "(") - (character == ")")
        if opened < 0:
            return raw[:position]
    return raw


def _word_token(raw: str) -> _Token:
    if raw in OPERATORS:
        return _Token(raw)
    sign = raw[0] if len(raw) > 1 and raw[0] in "+-" and raw[1] not in "+-" else ""
    text = raw[len(sign) :]
    match = _FIELD.fullmatch(text)
    if match and match[1].lower() in fields.FIELDS:
        return _Token("field", match[2].replace('"', ""), sign, match[1])
    return _Token("word", text, sign)


class _Reading:
    """One pass over the tokens of a query, by recursive descent."""

    def __init__(self, tokens: list[_Token], now: datetime | None) -> None:
        self._tokens = tokens
        self._now = now
        self._next = 0
        self._known: dict[str, Word] = {}
        self.hints: list[str] = []

    def expression(self) -> _Part:
        """Read lists joined by AND, and those joined by OR."""
        lists = [[self._list()]]
        while (kind := self._peek()) in ("AND", "OR"):
            self._next += 1
            if kind == "OR":
                lists.append([])
            lists[-1].append(self._list())
        read = [part for together in lists for part in together if part != _Part()]
        is_common = all(part.has_words for part in read)
        alternatives = [
            _all_of([c for part in together for c in (part.condition, *(() if is_common else part.needed)) if c])
            for together in lists
        ]
        needed = [condition for part in read for condition in part.needed] if is_common else []
        return _Part(
            _all_of([*_some(_any_of(_some(*alternatives))), *needed]),
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
                needed += [_not(part.condition) for part in parts if part.condition]
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
            required = _some(_any_of(optional or empty))
        return _Part(_all_of(required), tuple(extra), tuple(needed))

    def _item(self, token: _Token) -> list[_Part]:
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
            word = self._word(token.text) if any(c.isalnum() for c in token.text) else None
            return [_Part(Has(word))] if word else []
        if match := _FIELD.fullmatch(token.text):
            near = fields.nearest(match[1])
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
        """Return the one word for a text, whatever its case; None when the query has too many."""
        made = word_of(text)
        key = made.text.casefold()
        if key not in self._known:
            if len(self._known) == MAX_KNOWN:
                return None
            self._known[key] = made
        return self._known[key]


# -- conditions -------------------------------------------------------------------------------------------


def _some(*conditions: Condition | None) -> list[Condition]:
    return [condition for condition in conditions if condition is not None]


def _parts(kind: type[AllOf] | type[AnyOf], conditions: Iterable[Condition]) -> list[Condition]:
    """Return conditions that are joined, those of the same kind taken apart, each once."""
    flat: dict[Condition, None] = {}
    for condition in conditions:
        flat.update(dict.fromkeys(condition.parts if isinstance(condition, kind) else (condition,)))
    return list(flat)


def _taken_apart(conditions: Iterable[Condition]) -> tuple[Filters, list[Condition], list[Condition]]:
    """Return the fields of joined conditions as filters, those that are asked for twice, and all others."""
    filters, rest, others = Filters(), list[Condition](), list[Condition]()
    for condition in _parts(AllOf, conditions):
        if isinstance(condition, Is):
            filters, more = both(filters, condition.filters)
            rest += more
        else:
            others.append(condition)
    return filters, list(dict.fromkeys(rest)), others


def _all_of(conditions: Iterable[Condition]) -> Condition | None:
    """Join conditions in the order in which they are written: fields, what is needed, what is excluded."""
    filters, rest, parts = _taken_apart(conditions)
    parts = [*([Is(filters)] if asked(filters) else []), *rest, *sorted(parts, key=lambda p: isinstance(p, Not))]
    return AllOf(tuple(parts)) if len(parts) > 1 else next(iter(parts), None)


def _any_of(conditions: Iterable[Condition]) -> Condition | None:
    parts = _parts(AnyOf, conditions)
    return AnyOf(tuple(parts)) if len(parts) > 1 else next(iter(parts), None)


def _not(condition: Condition) -> Condition:
    return condition.part if isinstance(condition, Not) else Not(condition)


def _is_any_of(condition: Condition, words: Iterable[Word]) -> bool:
    """Tell whether a condition is met by each session in which any of the words was found."""
    parts = condition.parts if isinstance(condition, AnyOf) else (condition,)
    return all(isinstance(part, Has) for part in parts) and set(positive_words(condition)) == set(words)


def _depth(condition: Condition | None) -> int:
    match condition:
        case Not(part):
            return 1 + _depth(part)
        case AllOf(parts) | AnyOf(parts):
            return 1 + max(map(_depth, parts))
        case _:
            return 0


def _leaves(condition: Condition | None) -> int:
    match condition:
        case Not(part):
            return _leaves(part)
        case AllOf(parts) | AnyOf(parts):
            return sum(map(_leaves, parts))
        case _:
            return 1


def _groups(tokens: Iterable[_Token]) -> int:
    depth = deepest = 0
    for token in tokens:
        depth += (token.kind == "(") - (token.kind == ")")
        deepest = max(deepest, depth)
    return deepest


# -- writing ----------------------------------------------------------------------------------------------


def _written(condition: Condition) -> str:
    """Return a condition as a list, or as lists joined by OR."""
    match condition:
        case Has(word):
            return word.text if _bare(word) else f'"{word.text}"'
        case Is(filters):
            return " ".join(fields.written(filters))
        case AllOf(parts):
            return " ".join(map(_item, parts))
        case AnyOf(parts):
            return " OR ".join(f"({_written(p)})" if isinstance(p, AllOf) else _written(p) for p in parts)
        case Not():
            return _item(condition)


def _item(condition: Condition) -> str:
    """Return a condition as an item of a list that must be met."""
    match condition:
        case Has():
            return f"+{_written(condition)}"
        case Not(part):
            text = _written(part)
            is_one = isinstance(part, Has) or (isinstance(part, Is) and len(list(fields.written(part.filters))) == 1)
            return f"-{text}" if is_one else f"-({text})"
        case AnyOf():
            return f"+({_written(condition)})"
        case _:
            return _written(condition)


def _bare(word: Word) -> bool:
    """Tell whether a word needs no quotes to be read as itself."""
    text = word.text
    is_plain = _BARE.fullmatch(text) is not None and text not in OPERATORS and text.casefold() not in STOP_WORDS
    stem = text.rstrip("*")
    return is_plain and pieces(stem) == [stem] and word == word_of(text)
