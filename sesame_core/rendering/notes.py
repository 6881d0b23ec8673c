"""The notes below an answer: how far it can be trusted, and what it left out.

Each is about the answer and, where files are not read yet, about the refresh before it.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from .text import HINT, about_headless, count, interval, one_line, shortened, some_words

if TYPE_CHECKING:
    from ..types.answer import Answer
    from ..types.report import IndexReport


def answer_notes(
    answer: Answer, refreshed: IndexReport | None, current: Sequence[str], *, names_commands: bool = True
) -> list[str]:
    """Return all notes below an answer as text, a line each.

    :param current: ids of the caller's own sessions, which were left out.
    :param names_commands: a note names the command or option that helps; without, a reader who has no command line
        is not told any.
    """
    notes = [
        *_about_query(answer, refreshed, names_commands=names_commands),
        *about_current(current),
        *about_refresh(refreshed, names_commands=names_commands),
    ]
    if refreshed and refreshed.unrecognised and (answer.is_weak or answer.words_not_found or not answer.hits):
        files = count(len(refreshed.unrecognised), "file")
        then = "; see: sesame status" if names_commands else ""
        notes.append(f"Not searched: {files} that no parser recognises{then}")
    return notes


def unread_hints(answer: Answer, refreshed: IndexReport | None) -> list[str]:
    """Return the hint, for programs, that a word may be in files that are not indexed yet."""
    unread = _unread(answer, refreshed)
    return [_not_found(answer.words_not_found, unread)] if unread and answer.words_not_found else []


def missing_hints(refreshed: IndexReport | None) -> list[str]:
    """Return the hint, for programs, that an answer lacks the sessions in files that are not indexed yet."""
    if refreshed is None or not refreshed.pending:
        return []
    are = "is" if refreshed.pending == 1 else "are"
    return [f"{refreshed.pending} of {_files(refreshed)} {are} not indexed yet: this answer lacks the sessions in them"]


def _files(refreshed: IndexReport) -> str:
    """Return the number of all files, indexed or not."""
    return count(refreshed.unchanged + refreshed.changed + len(refreshed.errors) + refreshed.pending, "file")


def _about_query(answer: Answer, refreshed: IndexReport | None, *, names_commands: bool) -> list[str]:
    notes = interval(answer.filters)
    hints = answer.hints if names_commands else [hint.replace(" --", " ") for hint in answer.hints]
    notes += [f"Note: {one_line(shortened(hint, HINT))}" for hint in hints]
    if answer.is_weak and answer.hits:
        notes.append("Weak match: no passage of the best session has most of these words.")
    if words := [word for word in answer.words_not_found if word not in answer.showing]:
        notes.append(_not_found(words, _unread(answer, refreshed)))
    for word, shown in answer.showing.items():
        forms = " or ".join(f'"{one_line(form)}"' for form in shown)
        verb = "Showing" if word in answer.words_not_found else "Also showing"
        notes.append(f'{verb} {forms} for "{one_line(word)}"')
    if answer.is_widened:
        notes.append("Nothing else matched, so headless runs are shown.")
    else:
        least = "at least " if answer.is_truncated else ""
        notes += about_headless(answer.left_out, least=least, names_commands=names_commands)
    return notes


def _not_found(words: Sequence[str], unread: str) -> str:
    return f"Not found {unread or 'as a word'}: {', '.join(map(one_line, some_words(words)))}"


def _unread(answer: Answer, refreshed: IndexReport | None) -> str:
    """Return where words were searched, if there are files that were not read; else ""."""
    where = "in what is indexed so far"
    if refreshed and refreshed.pending:
        read = refreshed.unchanged + refreshed.changed + len(refreshed.errors)
        return f"{where} ({read} of {_files(refreshed)})"
    if refreshed and (refreshed.errors or refreshed.absent_roots):
        return "in what could be read"
    is_complete = refreshed is not None and refreshed.reason is None
    is_first_run = answer.freshness is not None and answer.freshness.last_sync is None
    return where if is_first_run and not is_complete else ""


def about_current(current: Sequence[str]) -> list[str]:
    """Return the note about the caller's own sessions, which were left out."""
    if not current:
        return []
    ids = ", ".join(one_line(session) for session in current)
    return [f"Not searched: the session this was started from, {ids} (search it with --include-current)"]


def _about_unreadable(refreshed: IndexReport, *, names_commands: bool) -> list[str]:
    notes = [f"Not searched: {one_line(of.path)}: {one_line(of.message)}" for of in refreshed.not_searched]
    if more := len(refreshed.errors) + len(refreshed.absent_roots) - len(notes):
        notes.append(f"Not searched: {count(more, 'more file')}{'; see: sesame index' if names_commands else ''}")
    return notes


def about_refresh(refreshed: IndexReport | None, *, names_commands: bool = True) -> list[str]:
    """Return the notes below any answer about files that are not read yet, or could not be, a line each.

    :param names_commands: a note names the command that helps.
    """
    if refreshed is None:
        return []
    notes = [f"The index was not refreshed: {one_line(refreshed.reason)}"] if refreshed.reason else []
    if refreshed.pending:
        are = "is" if refreshed.pending == 1 else "are"
        then = "" if refreshed.reason or not names_commands else "; catch up with: sesame index"
        notes.append(f"{count(refreshed.pending, 'file')} {are} not indexed yet{then}")
    notes += _about_unreadable(refreshed, names_commands=names_commands)
    if refreshed.scanned_at and refreshed.not_scanned:
        ago = f"{datetime.now(UTC) - refreshed.scanned_at}".partition(".")[0]
        were = "was" if refreshed.not_scanned == 1 else "were"
        older = count(refreshed.not_scanned, "older session file")
        notes.append(f"{older} {were} last scanned {ago} ago")
    return notes
