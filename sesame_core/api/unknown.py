"""Why no session is meant by a reference: nobody has said anything in it yet, or its file is not indexed yet."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..errors import UnknownSessionError
from ..indexing.silence import explanation
from ..plugin.backend import TracksFiles

if TYPE_CHECKING:
    from ..indexing.sources import Sources
    from ..plugin.backend import IndexReader
    from ..types.report import IndexReport


def in_silence(session: str, reader: IndexReader, sources: Sources) -> UnknownSessionError | None:
    """Return the error for the id of a session in which nobody has said anything; None if there is none."""
    if not isinstance(reader, TracksFiles):
        return None
    why = explanation(session, reader.known_files(), {s.parser.name: p for s, _, p in sources.with_parsers()})
    return UnknownSessionError(why) if why else None


def not_indexed(error: UnknownSessionError, report: IndexReport | None) -> UnknownSessionError:
    """Return the error that a session is unknown, with the number of files that it may be in.

    :param report: of the files that the index lacks; None if it lacks none.
    """
    if report is None:
        return error
    are = "file is" if report.pending == 1 else "files are"
    message = f"{error.message}; {report.pending} {are} not indexed yet"
    return UnknownSessionError(message, command="catch up with: sesame index")
