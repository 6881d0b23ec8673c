"""Sessions by the person who held them."""

from __future__ import annotations

from collections.abc import Iterable

from ..types.knowing import Involved, Person
from ..types.transcript import Session


def person_of(session: Session) -> str:
    """Return who held a session: its owner, or else its machine; "" if the index knows neither."""
    return session.owner or session.host


def by_person(involved: Iterable[Involved]) -> list[Person]:
    """Return those who held some sessions, each with their sessions in the given order.

    Where all are one person's, they are divided by machine and agent.
    """
    sessions = list(involved)
    are_one = len({person_of(one.stored.session) for one in sessions}) < 2
    groups: dict[tuple[str, ...], list[Involved]] = {}
    for one in sessions:
        session = one.stored.session
        key = (session.host, session.agent) if are_one else (person_of(session),)
        groups.setdefault(key, []).append(one)
    return [
        Person(
            owner=group[0].stored.session.owner,
            hosts=_each(one.stored.session.host for one in group),
            agents=_each(one.stored.session.agent for one in group),
            sessions=group,
        )
        for group in groups.values()
    ]


def _each(values: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(filter(None, values)))
