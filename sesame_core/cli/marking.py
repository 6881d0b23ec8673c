"""`sesame star`, `tag`, `rename` and `note`: what a person marks sessions with."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from .options import JSON, SESSION, Argument, Command, Option
from .terminal import write, write_report

if TYPE_CHECKING:
    from ..types.index import StoredSession


def star(session: Sequence[str], *, remove: bool, json: bool) -> None:
    """Star sessions.

    :param remove: take the stars away.
    """
    from ..api.sesame import Sesame

    with Sesame() as sesame:
        found = [sesame.get_session(name) for name in session]
        found = [sesame.mark(stored, starred=not remove) for stored in found]
        _print(found, "star removed" if remove else "starred", json=json)


def tag(session: str, tag: Sequence[str], *, remove: bool, json: bool) -> None:
    """Give a session tags; without any, print those that it has.

    :param remove: take the tags away, all of them if none is named.
    :raises QueryError: the session does not have one of the tags to take away.
    """
    from ..api.sesame import Sesame
    from ..errors import QueryError

    with Sesame() as sesame:
        stored = sesame.get_session(session)
        outcome = "tags" if _tags(stored) else "no tags"
        if remove:
            small = {own.casefold() for own in _tags(stored)}
            if unknown := [one for one in tag if one.casefold() not in small]:
                has = ", ".join(_tags(stored)) or "no tags"
                raise QueryError(f"session {stored.session.id} has no tag {unknown[0]!r}: it has {has}")
            stored, outcome = sesame.mark(stored, without=tag or _tags(stored)), "tags removed"
        elif tag:
            stored, outcome = sesame.mark(stored, tags=tag), "tagged"
        listed = ", ".join(_tags(stored))
        _print([stored], outcome, f"left: {listed}" if remove and listed else listed, json=json)


def rename(session: str, name: Sequence[str], *, remove: bool, json: bool) -> None:
    """Give a session a name in place of its title.

    :param remove: show the title again.
    :raises QueryError: there is no name.
    """
    from ..api.sesame import Sesame
    from ..errors import QueryError

    text = " ".join(name).strip()
    if bool(text) == remove:
        raise QueryError("give the session a name, or take it away with --remove")
    with Sesame() as sesame:
        _print([sesame.mark(session, name=text)], "name removed" if remove else "renamed", json=json)


def note(session: str, text: Sequence[str], *, remove: bool, json: bool) -> None:
    """Note something about a session; without a text, print the note that it has.

    :param remove: delete the note.
    :raises QueryError: there is a text although the note is to be deleted.
    """
    from ..api.sesame import Sesame
    from ..errors import QueryError

    noted = " ".join(text)
    if text and (remove or not noted.strip()):
        raise QueryError("give the session a note, or delete it with --remove")
    with Sesame() as sesame:
        stored = sesame.get_session(session)
        if remove or text:
            stored = sesame.mark(stored, note=noted)
        noted = stored.session.notes.note if stored.session.notes else ""
        outcome = "note removed" if remove else "noted" if text else "note" if noted else "no note"
        _print([stored], outcome, noted, json=json)


def _tags(stored: StoredSession) -> tuple[str, ...]:
    return stored.session.notes.tags if stored.session.notes else ()


def _print(found: Iterable[StoredSession], outcome: str, marks: str = "", *, json: bool) -> None:
    """Print sessions: what was done or asked for, the session, and the marks that it is about as they are now."""
    from ..rendering.sessions import marked_json
    from ..rendering.text import as_json, printable, session_name

    if json:
        write(as_json(marked_json(found)))
        return
    now = f" - {printable(marks)}" if marks else ""
    for stored in found:
        write_report(f"{outcome}: {stored.session.id} ({session_name(stored)}){now}")


_SESSIONS = Argument(
    "session", "SESSION...", "Ids or prefixes of them, or names.", is_required=True, is_repeatable=True
)


def _removing(help: str) -> Option:
    return Option("remove", bool, help, default=False)


COMMANDS = (
    Command(
        "star",
        star,
        "Star sessions, to find them again with --starred or is:starred.",
        (_SESSIONS,),
        (_removing("Take the stars away."), JSON),
        examples=("sesame star 01a0b03d", "sesame star 01a0b03d --remove"),
    ),
    Command(
        "tag",
        tag,
        "Give a session tags, to find it again with --tag or tag:name; without any, print those that it has.",
        (SESSION, Argument("tag", "[TAG]...", "Tags.", is_repeatable=True)),
        (_removing("Take these tags away, or all of them."), JSON),
        examples=("sesame tag 01a0b03d nix release", "sesame tag 01a0b03d nix --remove"),
    ),
    Command(
        "rename",
        rename,
        "Give a session a name in place of its title.",
        (SESSION, Argument("name", "[NAME]...", "The name.", is_repeatable=True)),
        (_removing("Show the title again."), JSON),
        examples=("sesame rename 01a0b03d Simplify the flake",),
    ),
    Command(
        "note",
        note,
        "Note something about a session; without a text, print the note that it has.",
        (SESSION, Argument("text", "[TEXT]...", "The note.", is_repeatable=True)),
        (_removing("Delete the note."), JSON),
        examples=("sesame note 01a0b03d 'the fix is in the last answer'",),
    ),
)
