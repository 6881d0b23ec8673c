"""Reads a session file as events."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from sesame_core import Checkpoint, Event, ParseError, Skipped
from sesame_core.dataclass import replace

from .log import Log
from .messages import calls_of, message_key, responses_to, texts_of, thoughts_of
from .places import describe, directories_in
from .reader import SessionReader
from .records import TYPES, Step, is_document, steps_of_document
from .speakers import texts_in, workspace
from .values import mapping, string
from .versions import Versions, digest

#: Most directories that are tried as the project's.
NAMED = 200


class Overview:
    """What a first pass over a file finds: the properties of the session, and the versions of its messages."""

    def __init__(self) -> None:
        #: The first value of each property.
        self.about: dict[str, object] = {}
        #: Directories that the context at the start names.
        self.workspace: tuple[str, ...] = ()
        #: Directories that calls name, the outermost last.
        self.named: dict[str, None] = {}
        self.versions = Versions()
        self.has_messages = False

    def read(self, step: Step, number: int) -> None:
        """Take in a step."""
        if step.kind == "about":
            self.about = {**step.value, **self.about}
        elif step.kind in ("message", "listed"):
            message = step.value
            kind = TYPES.get(string(message, "type"))
            self.has_messages = self.has_messages or kind is not None
            if kind == "user" and not self.workspace:
                self.workspace = next(
                    (found for text in texts_in(message.get("content")) if (found := workspace(text))), ()
                )
            if kind == "gemini" and len(self.named) < NAMED:
                for _, call in calls_of(message, ""):
                    self.named.update(dict.fromkeys(directories_in(mapping(call, "args"))))
            if kind in ("user", "gemini"):
                key = message_key(message, kind, number)
                self.versions.add(key, texts_of(message), is_listed=step.kind == "listed")


def events(path: Path, *, limit: int, thinking: bool) -> Iterator[Event]:
    """Yield the session, its messages in file order, the session again with all properties, and a checkpoint.

    The file is read twice: a message may be replaced by a later record.

    :param limit: longest record in bytes.
    :raises ParseError: the file is not a session.
    :raises OSError: the file cannot be read.
    """
    overview = Overview()
    for number, step in _numbered(path, limit):
        if isinstance(step, Step):
            overview.read(step, number)
    if not overview.about.get("sessionId") and not overview.has_messages:
        raise ParseError(path, "no session header and no messages")
    session = describe(path, overview.about, overview.workspace, overview.named)
    reader = SessionReader(session, replaced=frozenset(overview.versions.replaced), thinking=thinking)
    yield replace(session)
    if is_document(path):
        for number, step in _numbered(path, limit):
            if isinstance(step, Skipped):
                yield step
            else:
                yield from reader.read(step, number)
        yield reader.finish()
        # Without a state: a grown file is another object.
        yield Checkpoint(offset=0, line=0)
        return
    yield from _rest(Log(path, limit=limit), reader)


def tail_events(path: Path, checkpoint: Checkpoint, *, limit: int, thinking: bool) -> Iterator[Event] | None:
    """Yield the events after the checkpoint; None when they change what was read before it."""
    if not checkpoint.state:
        return None
    tried = SessionReader.restore(checkpoint.state, thinking=thinking)
    log = _log_after(path, checkpoint, limit)
    for step in log:
        if isinstance(step, Step):
            if _is_changed_by(tried, step, log.line):
                return None
            for _ in tried.read(step, log.line):
                pass  # only its state is needed
    return _rest(_log_after(path, checkpoint, limit), SessionReader.restore(checkpoint.state, thinking=thinking))


def _is_changed_by(reader: SessionReader, step: Step, number: int) -> bool:
    """Return whether a step replaces what was yielded, or depends on what is not known any more.

    :param reader: one that continues from a saved state, before it reads the step.
    """
    history = reader.history
    if step.kind == "rewind":
        return not history.is_complete and not history.has_id(step.value)
    if step.kind == "list":
        return not history.is_complete
    if step.kind == "about" or (kind := TYPES.get(string(step.value, "type"))) is None:
        return False
    said = history.get(message_key(step.value, kind, number))
    if said is None:
        # A message keeps its time when it is written again.
        is_old = string(step.value, "timestamp") <= history.latest
        unknown = sum(call_id not in reader.calls for call_id in responses_to(step.value))
        return not history.is_complete and (is_old or unknown > 0)
    texts = set(map(digest, texts_of(step.value)))
    if said.digests and texts:
        dropped = set(said.digests) - texts - {digest(thoughts_of(step.value))}
        if texts - set(said.digests) or (dropped and step.kind == "message"):
            return True
    known = sum(call_id in reader.calls for call_id, _ in calls_of(step.value, said.key))
    return known < said.calls


def _log_after(path: Path, checkpoint: Checkpoint, limit: int) -> Log:
    return Log(path, offset=checkpoint.offset, line=checkpoint.line, limit=limit)


def _numbered(path: Path, limit: int) -> Iterator[tuple[int, Step | Skipped]]:
    """Yield the steps of a file with their lines, or with their places in the list of messages."""
    if is_document(path):
        yield from enumerate(steps_of_document(path, limit), 1)
        return
    log = Log(path, limit=limit)
    for step in log:
        yield log.line, step


def _rest(log: Log, reader: SessionReader) -> Iterator[Event]:
    """Yield the events of a log."""
    yield replace(reader.session)
    for step in log:
        if isinstance(step, Skipped):
            yield step
        else:
            yield from reader.read(step, log.line)
    yield reader.finish()
    yield Checkpoint(offset=log.offset, line=log.line, state=reader.state())
