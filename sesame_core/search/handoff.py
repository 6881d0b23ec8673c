"""What another agent must know to go on with a session: passages of it, chosen within a budget."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from ..text.readable import is_shell, readable
from ..tool_calls.call_files import files_of
from ..tool_calls.results import is_refused
from ..types.export import Handoff, Point
from .listing import display_name

if TYPE_CHECKING:
    from ..types.index import Chunk, StoredSession

#: Most bytes of an entry: of what was asked, of what was decided, of a command with its output, of an open task.
ASKED, DECIDED, FAILED, OPEN = 700, 900, 500, 240
#: Bytes of an entry besides its text, its place and line feeds, and of the text around all, besides the names in it.
PLACE, FRAME = 40, 620
#: Most characters of such a name, and bytes that each further line of an entry takes besides its text.
NAME, INDENT = 200, 2
#: Bytes of a line in the mean, at least.
SHORT = 40
#: Last lines of the output of a command.
LINES = 4
#: Most files, commands and open tasks: more say little.
MOST = 12
#: An entry of a list of tasks in a call, its text, and its state.
_ENTRY = re.compile(
    r"^(\s*)- (?=(?:content|step|title|text|task|description|status|state|id|priority|activeForm):)", re.MULTILINE
)
_TASK = re.compile(r"^\s*(?:content|step|title|text|task|description): (.+)$", re.MULTILINE)
_STATE = re.compile(r"^\s*(?:status|state): (\w+)", re.MULTILINE)
_OPEN_STATES = ("pending", "in_progress", "todo", "open", "blocked", "not_started")
#: A line that says that something is left to do.
_LEFT = re.compile(r"^\s*(?:[-*+]|\d+[.)])\s+\[ \]\s+\S.*|^.*\b(?:TODO|FIXME)\b.*", re.MULTILINE)


def handoff(stored: StoredSession, chunks: Sequence[Chunk], *, budget: int) -> Handoff:
    """Return the passages of a session.

    :param budget: most bytes of all passages, with their places and headings.
    """
    session = stored.session
    names = (session.cwd, session.git_branch, display_name(session))
    budget -= FRAME + sum(len((name or "")[:NAME].encode("utf-8", "replace")) for name in names)
    abandoned = set(stored.session.abandoned or ())
    live = [chunk for chunk in chunks if chunk.segment not in abandoned]
    found = {
        "asked": _asked(live),
        "decided": _decided(live),
        "changed": _changed(live),
        "failed": _failed(live),
        "open": _open(live),
    }
    kept: set[int] = set()
    left_out = 0
    for point in _by_importance(found):
        cost = len(point.text.encode("utf-8", "replace")) + INDENT * point.text.count("\n") + PLACE
        if cost <= budget:
            budget -= cost
            kept.add(id(point))
        else:
            left_out += 1

    def shown(name: str) -> tuple[Point, ...]:
        return tuple(point for point in found[name] if id(point) in kept)

    return Handoff(
        stored=stored,
        asked=shown("asked"),
        decided=shown("decided"),
        changed=shown("changed"),
        failed=shown("failed"),
        open=shown("open"),
        left_out=left_out,
    )


def _by_importance(found: dict[str, list[Point]]) -> Iterator[Point]:
    """Yield all entries, the most important first: the last ones, and what was asked at first."""
    queues = {name: list(reversed(points)) for name, points in found.items()}
    if len(asked := queues["asked"]) > 2:
        asked.insert(1, asked.pop())
    shares = {"asked": 2, "open": 3, "decided": 1, "failed": 1, "changed": 4}
    while any(queues.values()):
        for name, share in shares.items():
            yield from queues[name][:share]
            del queues[name][:share]


def _asked(chunks: Sequence[Chunk]) -> list[Point]:
    return [Point(position=chunk.seq, text=_cut(chunk.text, ASKED)) for chunk in chunks if _is_prompt(chunk)]


def _decided(chunks: Sequence[Chunk]) -> list[Point]:
    """Return the last answer before each next prompt, and at the end."""
    found: list[Point] = []
    last: Chunk | None = None
    for chunk in chunks:
        if _is_prompt(chunk):
            found += [Point(position=last.seq, text=_cut(last.text, DECIDED))] if last else []
            last = None
        elif chunk.kind == "message" and chunk.role == "assistant" and not chunk.is_error:
            last = chunk
    return found + ([Point(position=last.seq, text=_cut(last.text, DECIDED))] if last else [])


def _changed(chunks: Sequence[Chunk]) -> list[Point]:
    """Return the changed files, those that were changed last at the end."""
    failed = {c.call_id for c in chunks if c.kind == "tool_result" and c.call_id and is_refused(c)}
    last: dict[str, int] = {}
    for chunk in chunks:
        if chunk.kind != "tool_call" or chunk.call_id in failed or is_shell(chunk.tool_name):
            continue
        for path, is_changed in files_of(chunk.text):
            if is_changed:
                last.pop(path, None)
                last[path] = chunk.seq
    return [Point(position=seq, text=_cut(path, OPEN)) for path, seq in last.items()]


def _failed(chunks: Sequence[Chunk]) -> list[Point]:
    """Return the commands whose last run failed, with the end of the output."""
    commands = {c.call_id: c for c in chunks if c.kind == "tool_call" and c.call_id and is_shell(c.tool_name)}
    last: dict[str, Point | None] = {}
    for chunk in chunks:
        call = commands.get(chunk.call_id or "") if chunk.kind == "tool_result" else None
        if call is None:
            continue
        command = readable(call.text, call.kind).strip()
        last.pop(command, None)
        lines = [line.rstrip() for line in chunk.text.strip().split("\n") if line.strip()][-LINES:]
        text = "\n".join([_cut(command, FAILED // 2), *(_cut(line, FAILED // (2 * LINES)) for line in lines)])
        last[command] = Point(position=call.seq, text=text) if chunk.is_error else None
    return [point for point in last.values() if point][-MOST:]


def _open(chunks: Sequence[Chunk]) -> list[Point]:
    """Return what is left to do: tasks, marked lines of the last answers, and a prompt that nobody answered."""
    found: list[Point] = []
    for chunk in reversed(chunks):
        if chunk.kind == "tool_call" and (tasks := list(_tasks(chunk.text))):
            found += [
                Point(position=chunk.seq, text=_cut(task, OPEN)) for task, state in tasks if state in _OPEN_STATES
            ]
            break
    answers = [chunk for chunk in chunks if chunk.kind == "message" and chunk.role == "assistant"]
    for chunk in reversed(answers):
        if lines := _LEFT.findall(chunk.text):
            found += [Point(position=chunk.seq, text=_cut(line.strip(), OPEN)) for line in lines[-MOST:]]
            break
    said = [chunk for chunk in chunks if chunk.kind == "message" and (chunk.role == "assistant" or _is_prompt(chunk))]
    if said and _is_prompt(said[-1]):
        found.append(Point(position=said[-1].seq, text="the last request has no answer"))
    return sorted(found, key=lambda point: point.position)[-MOST:]


def _tasks(text: str) -> Iterator[tuple[str, str]]:
    """Yield the tasks of a call that writes a list of tasks, with their states."""
    starts = [match.end() for match in _ENTRY.finditer(text)]
    for start, end in zip(starts, [*starts, len(text)][1:], strict=True):
        entry = text[start:end]
        task, state = _TASK.search(entry), _STATE.search(entry)
        if task and state:
            yield task[1], state[1].lower()


def _is_prompt(chunk: Chunk) -> bool:
    return chunk.kind == "message" and chunk.role == "user"


def _cut(text: str, most: int) -> str:
    """Return the beginning of a text in at most this number of bytes, and not of many short lines."""
    text = text.strip()
    lines = text.split("\n", most // SHORT)
    cut = "\n".join(lines[: most // SHORT])
    data = cut.encode("utf-8", "replace")
    if len(data) > most:
        cut = data[: most - 3].decode("utf-8", "ignore")
    return text if cut == text else cut.rstrip() + "…"
