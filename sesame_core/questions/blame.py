"""Which sessions wrote the lines of a file: by the content of their edits, without anything installed beforehand.

The calls that name the file are read from the index, under all names that the file had; what they wrote is applied in
order of time.  Lines that this does not explain are then looked up by their words: they were moved from other files.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..dataclass import replace
from ..plugin.backend import TracksFiles
from ..search.grouping import copy_rank
from ..types.index import Chunk
from ..types.query import AnyOf, Condition, Filters, Is
from ..types.questions import Blame
from .attribution import Attribution, Claim
from .blamed import NOWHERE, Copies, runs, sessions
from .git import Git
from .notes_ai import noted
from .ownership import LONG, is_telling, key
from .reach import withheld
from .same_file import Level, Name, SameFile
from .seen_before import without_kept_lines
from .writing_calls import Call, Calls, originals

if TYPE_CHECKING:
    from ..plugin.backend import IndexReader
    from .target import Target

#: Lines that are looked up by their words, of one question, and names of a file that are followed.
LOOKED_UP, NAMES = 12, 8
#: Times that lines are looked up, and that calls which failed are left out, and the others compared again.
ROUNDS = 3


def blame(
    reader: IndexReader,
    target: Target,
    roots: Sequence[str],
    filters: Filters,
    *,
    page: slice = slice(None),
) -> Blame:
    """Return which sessions wrote the lines that are asked about.

    :param roots: directories in which the repository is checked out, under all their names; none outside of git.
    :param filters: which sessions may be named.
    :param page: which of the sessions are described, those with most lines first.
    """
    git = Git(target.root)
    git.begin(target.name)
    with reader.snapshot():
        return _Blaming(reader, target, roots, filters, git).answer(page)


class _Blaming:
    """One question."""

    def __init__(self, reader: IndexReader, target: Target, roots: Sequence[str], filters: Filters, git: Git) -> None:
        self._reader = reader
        self._target = target
        self._roots = roots
        self._git = git
        self._filters = filters
        self._same = SameFile(target.path, roots or (), target.repository, [Name(target.name)])
        self._calls = Calls(reader, filters)
        self._looked_up: set[str] = set()
        self._attribution = Attribution(target.lines, self._same, target.modified, self._asked())

    def answer(self, page: slice) -> Blame:
        """Return the answer."""
        read = self._naming_the_file()
        calls, copies = originals(read)
        self._attribution.read(calls)
        claims = self._attribution.claims(calls)
        for _ in range(ROUNDS):
            found = [call for line in self._unexplained(claims) for call in self._calls.with_line(line)]
            if not found:
                break
            read += found
            calls, copies = originals(read)
            if not any(map(self._names_the_file, found)):
                # They are of other files: nothing of this one is known that was not before.
                claims = self._attribution.claims(calls)
                break
            self._attribution.read(calls)
            claims = self._attribution.claims(calls)
        looked_at: set[tuple[int, int]] = set()
        for _ in range(ROUNDS):
            winners = {claim.call.place: claim.call for claim in self._winners(claims)}
            failed = self._calls.failed(winners.values())
            kept = without_kept_lines(self._reader, [call for call in winners.values() if call.place not in looked_at])
            looked_at |= winners.keys()
            if not failed and not kept:
                break
            calls = [kept.get(call.place, call) for call in calls if call.place not in failed]
            self._attribution.read(calls)
            claims = self._attribution.claims(calls)
        return self._made(claims, self._noted(claims), copies, page)

    def _noted(self, claims: list[list[Claim]]) -> dict[int, str]:
        """Let the notes of git-ai decide where there are any; return whom they name that the index does not have."""
        target = self._target
        notes = noted(self._git, target.name, target.first, target.last)
        ids = {who.session for who in notes.values() if who.session}
        known = {one.session.id: one for one in sorted(self._reader.find_by_id(ids), key=copy_rank)} if ids else {}
        others: dict[int, str] = {}
        for line, who in notes.items():
            n = line - 1
            if (stored := known.get(who.session)) is None:
                claims[n] = []
                others[n] = f"{who.tool} {who.session}" if who.session else who.author
                continue
            own = [claim for claim in claims[n] if claim.call.stored.session.id == who.session]
            call = own[0].call if own else Call(stored, Chunk(kind="tool_call", text="", seq=NOWHERE), ())
            claims[n] = [Claim(call, "note"), *(claim for claim in claims[n] if claim not in own)]
        return others

    def _naming_the_file(self) -> list[Call]:
        """Return the calls that name the file, by all names that it had."""
        found: list[Call] = []
        asked: set[str] = set()
        is_told = False
        while len(self._same.names) <= NAMES:
            open_ = [name for name in self._same.names if name.path not in asked]
            if not open_:
                if is_told:
                    break
                # Git has worked meanwhile.
                is_told = True
                self._same.names += [name for name in self._git.former() if name.path != self._target.name]
                continue
            asked.add(open_[0].path)
            found += self._calls.naming(open_[0].path, self._preferred(open_[0].path))
            self._follow(found)
        return found

    def _names_the_file(self, call: Call) -> bool:
        session, at = call.stored.session, call.chunk.timestamp
        return any(self._same.level(edit.path, session, at) >= Level.LIKELY for edit in call.edits)

    def _follow(self, calls: Sequence[Call]) -> None:
        """Take the names from which sessions renamed the file."""
        known = {name.path for name in self._same.names}
        for call in calls:
            session, at = call.stored.session, call.chunk.timestamp
            for edit in call.edits:
                if not edit.former or self._same.level(edit.path, session, at) is not Level.SAME:
                    continue
                former = self._same.beside(edit.path, edit.former) or self._same.relative(edit.former, session)
                if former not in known:
                    known.add(former)
                    self._same.names.append(Name(former, at))

    def _preferred(self, name: str) -> Condition:
        """Return what sessions meet that are read first: they are in the repository, or name the same path."""
        parts = [Is(Filters(path=name, all_kinds=True))]
        if self._roots:
            parts.append(Is(Filters(places=tuple(self._roots), all_kinds=True)))
        return AnyOf(tuple(parts))

    def _asked(self) -> range:
        return range(self._target.first - 1, self._target.last)

    def _unexplained(self, claims: Sequence[Sequence[Claim]]) -> list[str]:
        """Return lines of which nothing is known and whose words can be looked up, the longest first."""
        lines = self._target.lines
        open_ = {lines[n].strip() for n in self._asked() if not claims[n]}
        long = [line for line in open_ if len(key(line)) >= LONG and is_telling(key(line))]
        new = [line for line in sorted(long, key=lambda line: (-len(line), line)) if line not in self._looked_up]
        self._looked_up.update(new[:LOOKED_UP])
        return new[:LOOKED_UP]

    def _winners(self, claims: Sequence[Sequence[Claim]]) -> list[Claim]:
        return [claims[n][0] for n in self._asked() if claims[n]]

    def _made(self, claims: list[list[Claim]], others: dict[int, str], copies: Copies, page: slice) -> Blame:
        target, asked = self._target, self._asked()
        found = list(runs(claims, asked, others, copies))
        return Blame(
            path=target.path,
            name=target.name,
            line_count=len(target.lines),
            first=target.first,
            last=target.last,
            text=target.lines[target.first - 1 : target.last],
            runs=tuple(found),
            sessions=tuple(sessions(self._reader, found, page)),
            total=len({run.writers[0].stored.number for run in found if run.writers}),
            offset=page.start or 0,
            known=sum(run.last - run.first + 1 for run in found if run.writers),
            unknown=sum(not claims[n] and n not in others and bool(target.lines[n].strip()) for n in asked),
            former=tuple(dict.fromkeys(name.path for name in self._same.names if name.until is not None)),
            revision=self._git.output("rev-parse", "HEAD").strip(),
            edits=self._attribution.edits,
            is_truncated=self._calls.is_truncated or self._attribution.is_truncated,
            noted=len(others),
            withheld=self._withheld(),
            freshness=self._reader.freshness() if isinstance(self._reader, TracksFiles) else None,
        )

    def _withheld(self) -> int:
        """Count the sessions in the repository whose texts others do not see: they may have written lines."""
        if not self._roots:
            return 0
        in_places = replace(self._filters, places=tuple(self._roots), repo=None, all_kinds=True)
        count = withheld(self._reader, in_places)
        if remote := self._target.repository:
            of_remote, both = replace(in_places, places=(), repo=remote), replace(in_places, repo=remote)
            count += withheld(self._reader, of_remote) - withheld(self._reader, both)
        return count
