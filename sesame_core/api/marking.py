"""What a person marks a session with: changed, and indexed."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from ..dataclass import dataclass, replace
from ..metadata import marks
from ..metadata.marks import Marks


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """A change of the marks of a session; None leaves what it was."""

    starred: bool | None
    #: Tags to add and to take away.
    tags: tuple[str, ...]
    without: tuple[str, ...]
    #: "" for none.
    name: str | None
    note: str | None

    @property
    def has_texts(self) -> bool:
        """Whether it changes anything that an index has: all but a star."""
        return bool(self.tags or self.without) or self.name is not None or self.note is not None

    def apply(self, directory: Path, session_id: str, written: Sequence[str]) -> Path:
        """Change the file of a session's marks; return its path.

        :param written: tags that the session has, in the index.
        :raises SesameError: as `marks.change`.
        """
        return marks.change(directory, session_id, lambda before: self._changed(before, written))

    def _changed(self, before: Marks, written: Sequence[str]) -> Marks:
        kept = _less(before.tags, self.without)
        # Those of a model come back with each description, unless it is known that they are not wanted.
        foreign = {tag.casefold() for tag in _less(self.without, before.tags)}
        taken = [tag for tag in written if tag.casefold() in foreign]
        return replace(
            before,
            is_starred=before.is_starred if self.starred is None else self.starred,
            tags=(*kept, *_less(self.tags, kept)),
            without=(*_less(before.without, self.tags), *_less(taken, before.without)),
            name=before.name if self.name is None else self.name,
            note=before.note if self.note is None else self.note,
        )


def change(
    *, starred: bool | None, tags: Iterable[str], without: Iterable[str], name: str | None, note: str | None
) -> Change:
    """Return a change, as its values are stored.

    :raises QueryError: a tag, the name or the note is empty or too long.
    """
    return Change(
        starred=starred,
        tags=marks.tags_of(tags),
        without=marks.tags_of(without),
        name=name and marks.name_of(name),
        note=note and marks.note_of(note),
    )


def _less(tags: Iterable[str], others: Iterable[str]) -> tuple[str, ...]:
    """Return tags without others, in any case."""
    small = {tag.casefold() for tag in others}
    return tuple(tag for tag in tags if tag.casefold() not in small)
