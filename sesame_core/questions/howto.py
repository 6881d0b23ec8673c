"""How something is run: the commands of a history that succeeded, grouped, and apart those that failed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import TYPE_CHECKING

from ..dataclass import dataclass, field, replace
from ..plugin.backend import IndexReader
from ..search import values
from ..text.folding import shortened
from ..text.readable import is_shell
from ..tool_calls.commands import Command
from ..types.fixes import FailedRun, Seen, Variant, Way, Ways
from ..types.query import Filters, Query, Word, is_within
from . import finding
from .errors import telling
from .outcomes import Call, calls
from .reach import of_calls, tell
from .tasks import ASKED, Question

if TYPE_CHECKING:
    from ..types.index import ChunkRange, StoredSession
    from .finding import Place

#: Variants, directories and failures of a way.
VARIANTS, DIRECTORIES, FAILURES = 4, 3, 3
#: Calls that are read: the newest with the words next to each other, and, if these are fewer than `ENOUGH`, the newest
#: with each of the rarest words.
TOGETHER, ENOUGH, EACH, WORDS = 250, 50, 120, 3
#: What the call of a shell has besides them (`sesame_formatter_default`): few other calls have both.
COMMAND = Word(text="command", alternatives=("command",))
#: Chunks from a call on within which its result is, and within which that of a call is that was made with others.
NEAR, FAR = 3, 12
#: Characters of a variant; of a longer one the beginning.
VARIANT = 300


@dataclass(slots=True)
class _Run:
    """One run of a command."""

    call: Call
    stored: StoredSession
    command: Command
    score: float

    @property
    def at(self) -> datetime:
        """When it was made, for an order: long ago if that is not known."""
        return self.seen.at or finding.LONG_AGO

    @property
    def seen(self) -> Seen:
        return finding.seen(self.call.chunk, self.stored)

    @property
    def directory(self) -> str:
        inside, base = self.command.directory, self.stored.session.cwd or ""
        is_absolute = inside.startswith(("/", "~", "\\")) or inside[1:2] == ":"
        return inside if is_absolute or not base else f"{base.rstrip('/')}/{inside}" if inside else base


@dataclass(slots=True)
class _Group:
    """The runs of one command."""

    score: float = 0.0
    is_here: bool = False
    runs: list[_Run] = field(default_factory=list)


def find(
    reader: IndexReader,
    text: str,
    filters: Filters,
    *,
    here: frozenset[str] = frozenset(),
    limit: int,
    offset: int = 0,
) -> Ways:
    """Return the commands that do what a text says.

    :param text: a command, or words for a task: `cargo test`, `deploy`, `run the tests`.
    :param here: the directories of the repository around the present directory, under all their names.
    """
    answer = Ways(about=text)
    question = Question(reader, text)
    if not question.words:
        answer.basis.hints = ("the question has no words to look for: name the command, or what it does",)
        return answer
    with reader.snapshot():
        chunks = finding.originals_at(reader, _places(reader, question, filters, answer))
        question.forget_absent(chunks.values())
        stored = finding.sessions_of(reader, (number for number, _ in chunks))
        fitting = {
            place: fit for place, chunk in chunks.items() if place[0] in stored and (fit := question.best(chunk))
        }
        ran = _with_results(reader, fitting)
        runs = [
            _Run(ran[place], stored[place[0]], command, score)
            for place, (command, score) in fitting.items()
            if place in ran and ran[place].has_ended
        ]
        # If the command itself was run, others with its words are not what is asked for.
        runs = [run for run in runs if run.score >= ASKED] or runs
        answer.runs, answer.basis.sessions = len(runs), len({run.stored.number for run in runs})
        groups = _grouped(runs, here)
        answer.basis.total = len(groups)
        answer.ways = tuple(_way(group) for group in groups[offset : offset + limit])
        tell(answer.basis, reader, filters, is_empty=not groups)
    return answer


def _places(reader: IndexReader, question: Question, filters: Filters, answer: Ways) -> list[Place]:
    """Return calls of tools with the words: the newest with all of them next to each other, and with each."""
    within = of_calls(filters)
    words = tuple(Word(text=word, alternatives=alike) for word, alike in question.alike.items())
    together = question.together(words)
    places, is_whole = finding.with_phrase(reader, together, within, TOGETHER, beside=(COMMAND,))
    found = dict.fromkeys(places)
    answer.basis.is_truncated = not is_whole
    if len(found) < ENOUGH and len(words) > 1:
        for word in question.rarest(words)[:WORDS]:
            newest, is_whole = finding.with_phrase(reader, word, within, EACH, beside=(COMMAND,))
            answer.basis.is_truncated |= not is_whole
            found.update(dict.fromkeys(newest))
        # A short call of the words is a better answer than the newest whose paths have one of them.
        shells = (name for name, _ in values.known(reader, "tool") if is_shell(name))
        if commonest := next(shells, None):
            best = reader.candidates(Query(text=answer.about, words=words), replace(within, tool=commonest)).chunks
            found.update(dict.fromkeys((chunk.session, chunk.seq) for chunk in best[:EACH]))
    if not found:
        candidates = reader.candidates(Query(text=answer.about, words=words), within)
        answer.basis.left_out = candidates.left_out
        found = dict.fromkeys((chunk.session, chunk.seq) for chunk in candidates.chunks[:EACH])
    return list(found)


def _with_results(reader: IndexReader, places: Iterable[Place]) -> dict[Place, Call]:
    """Return calls with what came of them."""
    wanted = sorted(places)
    found = _read_calls(reader, wanted, NEAR)
    found |= _read_calls(reader, [place for place in wanted if place in found and not found[place].is_over], FAR)
    return found


def _read_calls(reader: IndexReader, places: Sequence[Place], count: int) -> dict[Place, Call]:
    """Return calls with what came of them within a number of chunks; those close to each other are read together."""
    ranges: list[ChunkRange] = []
    for number, position in places:
        if ranges and ranges[-1][0] == number and position < ranges[-1][1] + (ranges[-1][2] or 0):
            start = ranges[-1][1]
            ranges[-1] = (number, start, position - start + count)
        else:
            ranges.append((number, position, count))
    found: dict[Place, Call] = {}
    for (number, _, _), chunks in zip(ranges, reader.chunks(ranges) if ranges else [], strict=True):
        for _, call in calls(chunks):
            if call is not None:
                found[number, call.chunk.seq] = call
    return found


def _grouped(runs: Sequence[_Run], here: frozenset[str]) -> list[_Group]:
    """Return the runs of each command: those of this project first, then what fits best, what succeeded, the newest."""
    groups: dict[tuple[tuple[str, ...], bool], _Group] = {}
    for run in runs:
        is_here = any(is_within(place, here) for place in run.stored.session.places)
        group = groups.setdefault((run.command.name, is_here), _Group(is_here=is_here))
        group.runs.append(run)
        group.score = max(group.score, run.score)
    return sorted(groups.values(), key=_order)


def _order(group: _Group) -> tuple[bool, float, bool, bool, float]:
    succeeded = [run for run in group.runs if run.call.succeeded]
    # What fits in one run of many was about something else in the others.
    newest = max((run.at for run in succeeded or group.runs), default=finding.LONG_AGO)
    return not group.is_here, -round(4 * group.score) / 4, not succeeded, len(succeeded) < 2, -newest.timestamp()


def _way(group: _Group) -> Way:
    ordered = sorted(group.runs, key=lambda run: (run.at, run.call.chunk.seq), reverse=True)
    succeeded = [run for run in ordered if run.call.succeeded]
    failed = [run for run in ordered if run.call.has_failed]
    shown = succeeded or ordered
    texts = Counter(_text(run) for run in succeeded)
    newest = {text: run for run in reversed(succeeded) for text in [_text(run)]}
    places = Counter(run.directory for run in succeeded if run.directory)
    return Way(
        command=" ".join(ordered[0].command.name),
        is_here=group.is_here,
        succeeded=len(succeeded),
        last=succeeded[0].seen if succeeded else None,
        text=_text(shown[0]),
        variants=tuple(
            Variant(text=text, count=count, last=newest[text].seen) for text, count in texts.most_common(VARIANTS)
        ),
        directories=tuple(places.most_common(DIRECTORIES)),
        failed=len(failed),
        failures=_failures(failed),
    )


def _failures(failed: Sequence[_Run]) -> tuple[FailedRun, ...]:
    """Return the errors with which runs failed, the commonest first."""
    by_cause: dict[str, list[tuple[str, _Run]]] = {}
    for run in failed:
        line = telling(run.call.result.text) if run.call.result else None
        by_cause.setdefault(line.cause if line else "", []).append((line.text if line else "", run))
    ordered = sorted(by_cause.values(), key=len, reverse=True)[:FAILURES]
    return tuple(
        FailedRun(line=found[0][0], text=_text(found[0][1]), count=len(found), last=found[0][1].seen)
        for found in ordered
    )


def _text(run: _Run) -> str:
    return shortened(run.command.text, VARIANT)
