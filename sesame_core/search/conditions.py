"""What each condition of an empty or thin answer kept out.

Each filter, and of an empty answer each required or excluded part of the query, is left out once; the number of
sessions that match then is told, with values that were perhaps meant.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from datetime import datetime
from typing import Any

from ..dataclass import dataclass, replace
from ..plugin.backend import IndexReader
from ..query import fields
from ..query.boolean import all_of, parts_of, positive_words, some
from ..query.filters import asked
from ..text.suggest import nearest
from ..types.answer import OPERATORS, Answer, KeptOut
from ..types.index import StoredSession
from ..types.query import AllOf, Filters, Is, Not, Query
from . import nearby, values

#: Most conditions that are left out, one at a time: each is a search.
MOST = 6
#: Most results of such a search that are looked at for values.
LOOKED = 20
#: Most values that a hint lists.
LISTED = 5
#: The fields of filters that an answer never blames: they are set without being asked for, or name what is unwanted.
_SILENT = ("all_kinds", "exclude")
#: Answers a query with filters, at most `LOOKED` results; the filters of the query come in addition.
Ask = Callable[[Query, Filters], Answer]


@dataclass(frozen=True, slots=True)
class _Left:
    """A search without one of its conditions."""

    #: The condition as it was written: `--tool Bsh`, `tool:Bsh`, `+word`.
    label: str
    #: The fields of `Filters` that are left out, both of an interval; none for a part of the query.
    names: tuple[str, ...]
    values: tuple[Any, ...]
    query: Query
    filters: Filters

    @property
    def value(self) -> Any:
        """The value of the first field."""
        return self.values[0]

    @property
    def interval(self) -> tuple[datetime | None, datetime | None]:
        """The bounds that are left out."""
        bounds = dict(zip(self.names, self.values, strict=True))
        return bounds.get("after"), bounds.get("before")


def kept_out(reader: IndexReader, answer: Answer, query: Query, filters: Filters, ask: Ask) -> KeptOut:
    """Return what the conditions of an answer kept out; nothing if there are enough results.

    :param query: the query as parsed, with the filters of its fields.
    :param filters: the filters that were given beside it.
    """
    # Of a list of sessions a filter is expected to leave few.
    if answer.is_truncated or (answer.total and answer.mode == "browse"):
        return KeptOut()
    without = list(_without(query, filters, is_empty=not answer.total))
    # What the query's operators left out was said already.
    without = [left for left in without if left.names or OPERATORS not in answer.left_out]
    hints: list[str] = []
    counts: dict[str, int] = {}
    is_any = False
    for left in without[:MOST]:
        found = ask(left.query, left.filters)
        more = found.total - answer.total
        is_any = is_any or more > 0
        for name in left.names if more > 0 else ():
            option = next(field.name for field in fields.FIELDS if field.filter == name)
            counts[option] = max(more, counts.get(option, 0))
        if hint := _hint(reader, left, found, is_more=more > 0):
            hints.append(hint)
    if not answer.total and not is_any and len(without) > 1:
        found = ask(_bare(query), _silent(filters))
        if found.total:
            labels = ", ".join(left.label for left in without)
            hints.append(f"{_matching(found.total)} without all of these: {labels}")
    return KeptOut(hints=tuple(dict.fromkeys(hints)), counts=counts)


def _without(query: Query, filters: Filters, *, is_empty: bool) -> Iterator[_Left]:
    """Yield the search without each of its conditions."""
    for names, given in _groups(filters):
        label = " ".join(_option(name, value) for name, value in zip(names, given, strict=True))
        yield _Left(label, names, given, query, _less(filters, names))
    for names, given in _groups(query.filters):
        label = " ".join(_field(name, value) for name, value in zip(names, given, strict=True))
        yield _Left(label, names, given, replace(query, filters=_less(query.filters, names)), filters)
    if not is_empty:
        return
    parts = parts_of(AllOf, some(query.condition))
    for part in parts:
        others = all_of(other for other in parts if other != part)
        gone = set(positive_words(part)) - set(positive_words(others))
        words = tuple(word for word in query.words if word not in gone)
        if words or not query.words:
            label = str(Query(text="", condition=part))
            yield _Left(label, (), (), replace(query, condition=others, words=words), filters)


def _groups(filters: Filters) -> Iterator[tuple[tuple[str, ...], tuple[Any, ...]]]:
    """Yield the fields that are set, with their values: the bounds of an interval together, all others alone."""
    found = asked(filters)
    for name, value in found.items():
        if name == "before" and "after" in found:
            continue
        if name == "after" and "before" in found:
            yield ("after", "before"), (value, found["before"])
        elif name not in _SILENT:
            yield (name,), (value,)


def _less(filters: Filters, names: tuple[str, ...]) -> Filters:
    return Filters(**{name: value for name, value in asked(filters).items() if name not in names})


def _bare(query: Query) -> Query:
    """Return a query without its fields and exclusions."""
    kept = [p for p in parts_of(AllOf, some(query.condition)) if not isinstance(p, Is | Not)]
    return replace(query, filters=Filters(), condition=all_of(kept))


def _silent(filters: Filters) -> Filters:
    return Filters(**{name: value for name, value in asked(filters).items() if name in _SILENT})


def _option(name: str, value: object) -> str:
    """Return a filter as an option."""
    field = next(field for field in fields.FIELDS if field.filter == name)
    option = "--" + field.name.replace("_", "-")
    if field.is_switch:
        return option
    texts = [_text(one) for one in (value if isinstance(value, tuple) else (value,))]
    return " ".join(f"{option} {text!r}" if " " in text and ":" not in text else f"{option} {text}" for text in texts)


def _field(name: str, value: Any) -> str:
    """Return a filter as a field of a query."""
    if not isinstance(value, datetime):
        return " ".join(fields.written(Filters(**{name: value})))
    text = _text(value)
    return f'{name}:"{text}"' if " " in text else f"{name}:{text}"


def _text(value: object) -> str:
    if isinstance(value, datetime):
        local = value.astimezone()
        is_day = (local.hour, local.minute) in ((0, 0), (23, 59))
        return f"{local:%Y-%m-%d}" if is_day else f"{local:%Y-%m-%d %H:%M}"
    return str(value)


def _matching(count: int) -> str:
    return "1 session matches" if count == 1 else f"{count} sessions match"


def _hint(reader: IndexReader, left: _Left, found: Answer, *, is_more: bool) -> str | None:
    """Return what is to be said of a condition; None if it kept nothing out, and its value is in the index."""
    matching = f"{_matching(found.total)} without {left.label}" if is_more else None
    name = left.names[0] if left.names else None
    if name in ("cwd", "places"):
        return nearby.directories(reader, left.value, matching)
    if name in ("after", "before"):
        first, last = left.interval
        if matching and first and last and first > last:
            return f"{matching}; the first is later than the second"
        days = nearby.days(reader, left.query, left.filters, left.interval, found) if matching else []
        return f"{matching}; nearest days with some: {', '.join(days)}" if days else matching
    if name is None or name not in values.PLURALS:
        return matching
    return _of_value(reader, name, left, matching, [hit.stored for hit in found.hits])


def _of_value(
    reader: IndexReader, name: str, left: _Left, matching: str | None, stored: Sequence[StoredSession]
) -> str | None:
    """Return what is to be said of a filter on a named value."""
    alone: dict[str, Any] = {name: left.value}
    is_nowhere = not reader.list_sessions(Filters(all_kinds=True, **alone), limit=1)[1]
    inside = values.of(name, stored)
    near = None
    if is_nowhere:
        known = [*inside, *(value for value, _ in values.known(reader, name))]
        written = left.value[0] if isinstance(left.value, tuple) else left.value
        # Of a session without a remote only the directory's name is known, which an address ends with.
        last = written.rpartition("/")[2] if name == "repo" else ""
        near = last if last in known else nearest(written, known, parts=name in values.IN_PARTS)
    meant = f" (did you mean {near}?)" if near else ""
    if matching is None:
        return f"no session has {left.label}{meant}" if is_nowhere else None
    if inside:
        them = "it" if len(stored) == 1 else "them"
        more = ", …" if len(inside) > LISTED else ""
        return f"{matching}; {values.PLURALS[name]} in {them}: {', '.join(inside[:LISTED])}{more}{meant}"
    return f"{matching}; no session has it{meant}" if is_nowhere else matching
