"""Forms and calls that mark a session: a star, tags, a name, a note."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ..errors import QueryError, SesameError

if TYPE_CHECKING:
    from ..types.index import StoredSession
    from .desk import Desk


class ReadOnlyError(SesameError):
    """A page that nobody changes anything on was asked to."""


def mark(desk: Desk, session: str, given: Mapping[str, Any]) -> StoredSession:
    """Mark a session.

    :param given: `starred` (a switch), `tag` and `untag` (words apart by commas, or lists), `name`, `note`.
    :raises ReadOnlyError: the page is read-only.
    :raises QueryError: nothing is to be changed, or a value is not valid.
    """
    if desk.is_read_only:
        raise ReadOnlyError("this page is read-only: mark the session where its index is written")
    texts = {name: given[name] for name in ("name", "note") if name in given}
    if not all(isinstance(text, str) for text in texts.values()):
        raise QueryError("name and note must be strings")
    starred = _switch(given["starred"]) if "starred" in given else None
    tags, without = _tags(given.get("tag", ())), _tags(given.get("untag", ()))
    if not texts and starred is None and not tags and not without:
        raise QueryError("nothing to change: give starred, tag, untag, name or note")
    stored = desk.sesame.get_session(session, is_certain=True)
    return desk.sesame.mark(stored, starred=starred, tags=tags, without=without, **texts)


def _switch(value: object) -> bool:
    known = {"1": True, "true": True, "0": False, "false": False}
    if (found := known.get(str(value).lower())) is None:
        raise QueryError("starred must be true or false")
    return found


def _tags(value: object) -> list[str]:
    texts = value.split(",") if isinstance(value, str) else value
    if not isinstance(texts, list | tuple) or not all(isinstance(text, str) for text in texts):
        raise QueryError("tag and untag must be lists of strings")
    return [text.strip() for text in texts if text.strip()]
