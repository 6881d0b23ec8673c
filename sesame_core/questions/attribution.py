"""Attributes the lines of a file to calls, by what they wrote: the likeliest call of each line, and then others."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import timedelta
from typing import TYPE_CHECKING, NamedTuple

from .ownership import LONG, Ledger, Owner, around, is_telling, key
from .same_file import Level, SameFile
from .writing_calls import Call

if TYPE_CHECKING:
    from datetime import datetime

    from ..tool_calls.changes import Edit
    from ..types.questions import Evidence

#: A call may end this long after the time that a file has: clocks differ, and formatters run afterwards.
SLACK = timedelta(minutes=2)
#: Lines before and after those asked about that are compared, too: those in between say nothing alone.
NEAR = 40
#: Lines without an edit that are compared with scripts, and with other line breaks: one takes up to a millisecond.
UNKNOWN = 2_000
#: Characters of a line, without white space, that may come from a file of another repository.
FAR = 24
#: Scripts whose text is searched for lines, the latest.
SCRIPTS = 200


class Claim(NamedTuple):
    """A call that wrote a line, and what says so."""

    call: Call
    evidence: Evidence
    #: The path that it names, if that is another file.
    path: str = ""
    #: How good a claim to the line its edit has.
    owner: Owner | None = None


class Attribution:
    """The lines of one file, and the calls that wrote them.

    :param lines: of the file, whole.
    :param same: tells which paths mean the file.
    :param modified: when it was last changed; what was written later is not in it, or was written elsewhere.
    :param asked: positions of the lines that are asked about.
    """

    def __init__(self, lines: Sequence[str], same: SameFile, modified: datetime, asked: range) -> None:
        self._lines = lines
        self._same = same
        self._latest = modified + SLACK
        keys = list(map(key, lines))
        #: The lines that are compared: those asked about, and some around them.
        self._compared = range(max(0, asked.start - NEAR), min(len(lines), asked.stop + NEAR))
        self._around = [around(keys, n) if n in self._compared else ([], []) for n in range(len(keys))]
        self._telling = [n in self._compared and is_telling(own) for n, own in enumerate(keys)]
        self._sure, self._likely = _Book(), _Book()
        self._scripts: list[tuple[Call, str]] = []
        self._own: list[list[Claim]] = []
        #: Edits of this file, whatever they wrote.
        self.edits = 0
        #: Not all lines that no edit has were compared with scripts, and with other line breaks.
        self.is_truncated = False

    def read(self, calls: Sequence[Call]) -> None:
        """Read the calls that name the file, in order of time; those that were read before do not count any more."""
        self._sure, self._likely = _Book(), _Book()
        self._scripts = []
        self.edits = 0
        for call in calls:
            session, at = call.stored.session, call.chunk.timestamp
            is_late = at is not None and at > self._latest
            for edit in call.edits:
                if edit.way == "script":
                    if self._same.belongs(session) > 0:
                        self._scripts.append((call, "\n".join(edit.block)))
                    continue
                level = self._same.level(edit.path, session, at)
                self.edits += level is Level.SAME
                if level is Level.SAME and not is_late:
                    self._sure.apply(call, edit)
                elif level >= Level.LIKELY:
                    self._likely.apply(call, edit)
        ledger = self._sure.ledger
        self._own = [
            list(self._sure.claims(ledger.owners(line, *near))) if telling else []
            for line, near, telling in zip(self._lines, self._around, self._telling, strict=True)
        ]
        open_ = self._open(self._own)
        self.is_truncated = len(open_) > UNKNOWN
        for n in open_[:UNKNOWN]:
            self._own[n] = list(self._otherwise(n))

    def claims(self, elsewhere: Sequence[Call] = ()) -> list[list[Claim]]:
        """Return for each line the calls that wrote it, the likeliest first; none for lines that are not compared.

        :param elsewhere: calls that have lines of the file and may name other files, in order of time.
        """
        found = list(self._own)
        if elsewhere and (open_ := self._open(found)):
            other = self._book(elsewhere)
            for n in open_:
                owners = other.ledger.owners(self._lines[n], *self._around[n])
                claims = [claim for claim in other.claims(owners) if self._may_move(claim, n)]
                found[n] = [claim._replace(evidence="elsewhere") for claim in claims]
        self._prefer_neighbours(found)
        self._fill(found)
        return found

    def _may_move(self, claim: Claim, n: int) -> bool:
        """Return whether a line of another file may be where a line comes from.

        In another repository it may be there by chance, unless the lines around it are, too.
        """
        length, has_context = len(key(self._lines[n])), bool(claim.owner and claim.owner.context)
        if self._same.belongs(claim.call.stored.session) > 0:
            return length >= LONG or has_context
        return length >= FAR and has_context

    def _open(self, found: Sequence[Sequence[Claim]]) -> list[int]:
        return [n for n, claims in enumerate(found) if self._telling[n] and not claims]

    def _otherwise(self, n: int) -> Iterator[Claim]:
        """Yield who wrote a line that no edit of the file has as it is."""
        line, sure = self._lines[n], self._sure
        if (number := sure.ledger.reflowed(line)) is not None:
            yield Claim(sure.calls[number], "reflowed")
        if (number := sure.ledger.replacing(line)) is not None:
            yield sure.claim(number)
        text = line.strip()
        if len(text) >= LONG:
            for call, script in reversed(self._scripts[-SCRIPTS:]):
                if text in script:
                    yield Claim(call, "script")
                    break
        yield from self._likely.claims(self._likely.ledger.owners(line, *self._around[n]))

    def _book(self, calls: Sequence[Call]) -> _Book:
        """Return what calls added to other files."""
        book = _Book()
        for call in calls:
            session, at = call.stored.session, call.chunk.timestamp
            for edit in call.edits:
                if edit.fresh and self._same.level(edit.path, session, at) < Level.LIKELY:
                    added = edit._replace(gone=frozenset(), is_whole=False)
                    book.apply(call, added, self._same.relative(edit.path, session))
        return book

    def _prefer_neighbours(self, found: list[list[Claim]]) -> None:
        """Of lines that several sessions wrote with equal claims, prefer the session of the lines around them."""
        sessions = [{claim.call.stored.number for claim in claims} for claims in found]
        for n, claims in enumerate(found):
            if len(sessions[n]) < 2 or (first := claims[0].owner) is None:
                continue
            near = [self._nearest(found, sessions, n, step) for step in (-1, 1)]
            for claim in claims:
                own = claim.owner
                if own is None or (own.is_alive, own.context) != (first.is_alive, first.context):
                    break
                if claim.call.stored.number in near:
                    found[n] = [claim, *(other for other in claims if other is not claim)]
                    break

    def _nearest(self, found: list[list[Claim]], sessions: list[set[int]], n: int, step: int) -> int | None:
        """Return the session of the next line in a direction that one session alone wrote."""
        n += step
        while 0 <= n < len(found):
            if len(sessions[n]) == 1:
                return found[n][0].call.stored.number
            n += step
        return None

    def _fill(self, found: list[list[Claim]]) -> None:
        """Attribute the lines that say nothing alone: to a call that has them next to a line around them."""
        above: list[Claim | None] = []
        last: Claim | None = None
        for n, claims in enumerate(found):
            above.append(last)
            if self._telling[n]:
                last = claims[0] if claims else None
        below: Claim | None = None
        for n in range(len(found) - 1, -1, -1):
            if self._telling[n]:
                below = found[n][0] if found[n] else None
            if self._telling[n] or n not in self._compared:
                continue
            found[n] = self._filled(n, above[n], below)

    def _filled(self, n: int, above: Claim | None, below: Claim | None) -> list[Claim]:
        line, near, sure = self._lines[n], [claim for claim in (above, below) if claim], self._sure
        is_between = above is not None and below is not None and above.call.stored is below.call.stored
        if not line.strip():
            return [Claim(above.call, "neighbours", above.path)] if is_between and above else []
        owners = [owner for owner in sure.ledger.owners(line, *self._around[n]) if owner.context]
        places = {claim.call.place for claim in near}
        own = [owner for owner in owners if sure.calls[owner.edit].place in places]
        if best := (own or [owner for owner in owners if owner.context > 2]):
            return list(sure.claims([*best, *(owner for owner in owners if owner not in best)]))
        if is_between and above:
            return [Claim(above.call, "neighbours", above.path)]
        if owners:
            return list(sure.claims(owners))
        return [Claim(near[0].call, "neighbours", near[0].path)] if len(near) == 1 and above else []


class _Book:
    """A ledger, and the call of each of its edits."""

    def __init__(self) -> None:
        self.ledger = Ledger()
        self.calls: list[Call] = []
        self._ways: list[Evidence] = []
        self._paths: list[str] = []

    def apply(self, call: Call, edit: Edit, path: str = "") -> None:
        """Apply the next edit."""
        self.ledger.apply(len(self.calls), edit)
        self.calls.append(call)
        self._ways.append(edit.way)
        self._paths.append(path)

    def claims(self, owners: Sequence[Owner]) -> Iterator[Claim]:
        """Yield the calls of edits."""
        for owner in owners:
            yield self.claim(owner.edit, owner)

    def claim(self, number: int, owner: Owner | None = None) -> Claim:
        """Return the claim of an edit."""
        return Claim(self.calls[number], self._ways[number], self._paths[number], owner)
