"""The differences between what others see of sessions and what the rules say."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ..config.model import LEVELS
from ..dataclass import dataclass
from ..types.index import StoredSession
from ..types.transcript import Session
from .inheritance import VisibilityResolver
from .private_files import PrivateFiles


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """A change of a session's visibility."""

    session: Session
    #: The file that it was read from.
    path: str
    #: The current visibility, one of `config.LEVELS`; None when the session was never visible.
    before: str | None
    after: str


def changes(
    stored: Iterable[StoredSession], private_files: PrivateFiles, resolver: VisibilityResolver
) -> Iterator[Change]:
    """Yield the known sessions whose current visibility differs from the rules."""
    for one in stored:
        level = resolver.level(one.session)
        # A session that was removed is only added again when its file is read.
        is_lost = one.missing_since is not None and LEVELS.index(level) < LEVELS.index(one.session.visibility)
        if level != one.session.visibility and not is_lost:
            yield Change(session=one.session, path=one.path, before=one.session.visibility, after=level)
    for path, session in private_files.sessions():
        level = resolver.level(session)
        if level != "private":
            yield Change(session=session, path=path, before="private", after=level)
