"""Boolean algebra of conditions: joins, negates and splits them; equal conditions have one normal form."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping

from ..types.query import AllOf, AnyOf, Condition, Filters, Has, Is, Not, Word
from .filters import asked, both


def some(*conditions: Condition | None) -> list[Condition]:
    """Return the conditions that are not None."""
    return [condition for condition in conditions if condition is not None]


def parts_of(kind: type[AllOf] | type[AnyOf], conditions: Iterable[Condition]) -> list[Condition]:
    """Return the operands of a join, with nested joins of the same kind flattened, each once."""
    flat: dict[Condition, None] = {}
    for condition in conditions:
        flat.update(dict.fromkeys(condition.parts if isinstance(condition, kind) else (condition,)))
    return list(flat)


def taken_apart(conditions: Iterable[Condition]) -> tuple[Filters, list[Condition], list[Condition]]:
    """Split joined conditions into filters, fields that conflict with them, and all others."""
    filters, rest, others = Filters(), list[Condition](), list[Condition]()
    for condition in parts_of(AllOf, conditions):
        if isinstance(condition, Is):
            filters, more = both(filters, condition.filters)
            rest += more
        else:
            others.append(condition)
    return filters, list(dict.fromkeys(rest)), others


def all_of(conditions: Iterable[Condition]) -> Condition | None:
    """Join conditions in the order in which they are serialized: fields, required conditions, exclusions."""
    filters, rest, parts = taken_apart(conditions)
    parts = [*([Is(filters)] if asked(filters) else []), *rest, *sorted(parts, key=lambda p: isinstance(p, Not))]
    return AllOf(tuple(parts)) if len(parts) > 1 else next(iter(parts), None)


def any_of(conditions: Iterable[Condition]) -> Condition | None:
    """Join conditions of which one must be met; None when there are no conditions."""
    parts = parts_of(AnyOf, conditions)
    return AnyOf(tuple(parts)) if len(parts) > 1 else next(iter(parts), None)


def negated(condition: Condition) -> Condition:
    """Return the condition that is met by every session that does not meet this one."""
    return condition.part if isinstance(condition, Not) else Not(condition)


def is_any_of(condition: Condition, words: Iterable[Word]) -> bool:
    """Return whether every session that contains any of the words meets the condition."""
    parts = condition.parts if isinstance(condition, AnyOf) else (condition,)
    return all(isinstance(part, Has) for part in parts) and set(positive_words(condition)) == set(words)


def depth(condition: Condition | None) -> int:
    """Return the nesting depth of a condition."""
    match condition:
        case Not(part):
            return 1 + depth(part)
        case AllOf(parts) | AnyOf(parts):
            return 1 + max(map(depth, parts))
        case _:
            return 0


def leaves(condition: Condition | None) -> int:
    """Return the number of words and fields in a condition."""
    match condition:
        case Not(part):
            return leaves(part)
        case AllOf(parts) | AnyOf(parts):
            return sum(map(leaves, parts))
        case _:
            return 1


def positive_words(condition: Condition | None) -> Iterator[Word]:
    """Yield the words of a condition that are not inside a `Not`, in order."""
    if isinstance(condition, Has):
        yield condition.word
    elif isinstance(condition, AllOf | AnyOf):
        for part in condition.parts:
            yield from positive_words(part)


def with_filters(condition: Condition, change: Callable[[Filters], Filters]) -> Condition:
    """Return the condition with its filters changed."""
    match condition:
        case Is(filters):
            return Is(change(filters))
        case Not(part):
            return Not(with_filters(part, change))
        case AllOf(parts):
            return AllOf(tuple(with_filters(part, change) for part in parts))
        case AnyOf(parts):
            return AnyOf(tuple(with_filters(part, change) for part in parts))
        case _:
            return condition


def with_words(condition: Condition, words: Mapping[Word, Word]) -> Condition:
    """Return the condition with some words outside any `Not` replaced by others."""
    match condition:
        case Has(word):
            return Has(words.get(word, word))
        case AllOf(parts):
            return AllOf(tuple(with_words(part, words) for part in parts))
        case AnyOf(parts):
            return AnyOf(tuple(with_words(part, words) for part in parts))
        case _:
            return condition
