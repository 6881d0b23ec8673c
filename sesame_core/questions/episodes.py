"""An episode: an error in a session, from where it first occurred until it ended, or the session did."""

from __future__ import annotations

import re
from collections.abc import Sequence

from ..dataclass import dataclass, field
from ..search.sides import is_answer, is_prompt
from ..text.readable import is_shell
from ..tool_calls.commands import commands, sameness
from ..tool_calls.results import is_quoted
from ..types.fixes import Outcome, Step
from ..types.index import Chunk
from .errors import ErrorLine
from .outcomes import Call, calls
from .reasons import reason
from .wanted import Level, Wanted

#: Prompts after an error within which something that was done belongs to it.
PROMPTS = 3
#: Most steps that are shown.
STEPS = 5
#: How far a call is the one that failed: the same on the same, the same program with other arguments.
SAME, PROGRAM = 3, 2
#: Errors about how a command was called: another call of the same program shows how to.
_USAGE = re.compile(
    r"(?i)unknown (?:flag|option|command|argument)|unrecognized|illegal option|invalid (?:option|argument)|usage:|"
    r"not found|no such|could not resolve|syntax error|already (?:used|exists|in use)|ignored by|rejected|"
    r"failed to push|not a git|denied|refused"
)


@dataclass(slots=True)
class Episode:
    """An error in one session, and what was done."""

    line: ErrorLine
    level: Level
    #: Where it occurred first and last.
    first: Chunk
    last: Chunk
    #: The call that failed; None if the error was only mentioned.
    call: Call | None = None
    outcome: Outcome = "unresolved"
    #: The chunk that shows that it ended.
    end: Chunk | None = None
    steps: tuple[Step, ...] = ()
    why: Chunk | None = None
    said: str = ""
    #: What identifies the remedy.
    remedy: tuple[str, ...] = ()
    #: Whether what ended it was like the call that failed.
    is_akin: bool = False


@dataclass(slots=True)
class _State:
    """An episode that is being followed."""

    episode: Episode
    #: Calls that succeeded after the error and changed something, or ran the same program.
    done: list[Call] = field(default_factory=list)
    #: Calls of the same turn, those that failed, too.
    tried: list[Call] = field(default_factory=list)
    said: list[Chunk] = field(default_factory=list)
    #: The first call of the same turn that succeeded and is akin to the one that failed, with what shows it and the
    #: number of calls in `done` by then; and the first one of any kind.
    akin: tuple[Call, Chunk, int] | None = None
    any_done: tuple[Call, Chunk, int] | None = None
    prompts: int = 0
    #: Number of messages in `said` that belong to the turn of the error.
    said_at_once: int = 0


def episodes(chunks: Sequence[Chunk], wanted: Wanted) -> list[Episode]:
    """Return the episodes of an error in a stretch of a session."""
    found: list[Episode] = []
    state: _State | None = None
    for chunk, call in calls(chunks):
        is_own = chunk.kind == "tool_result" or is_prompt(chunk)
        error = wanted.find(chunk.text) if is_own and not is_quoted(chunk) else None
        if error is None or (state is not None and not chunk.is_error and _is_past(state.episode, call)):
            if state is not None:
                state = _followed(state, chunk, call, found)
            continue
        level, _, line = error
        if state is not None and _is_again(state.episode, level, line):
            # What was done did not help.
            state.episode.last, state.episode.call = chunk, call or state.episode.call
            state = _State(state.episode)
            continue
        if state is not None and _sameness(state.episode, call) == SAME:
            _end(state, "passed", chunk, None)
            found.append(state.episode)
        else:
            found += _closed(state)
        state = _State(Episode(line, level, chunk, chunk, call))
    return found + _closed(state)


def _is_again(episode: Episode, level: Level, line: ErrorLine) -> bool:
    """Return whether an error is that of an episode, which has not ended."""
    return line.cause == episode.line.cause or (level is Level.SAME and episode.level is Level.SAME)


def _is_past(episode: Episode, call: Call | None) -> bool:
    """Return whether an output only repeats an error with which a command had failed.

    It is what another one showed, of a log perhaps, or the command succeeded all the same.
    """
    if call is None or episode.call is None:
        return False
    if episode.call.has_failed and call.succeeded and _sameness(episode, call) == SAME:
        return True
    looks = bool(call.commands) and all(one.is_looking for one in call.commands)
    return looks and any(not one.is_looking for one in episode.call.commands)


def _followed(state: _State, chunk: Chunk, call: Call | None, found: list[Episode]) -> _State | None:
    """Return the state after a chunk; None when the episode has ended."""
    episode = state.episode
    if is_prompt(chunk):
        state.prompts += 1
        if state.prompts > PROMPTS:
            found += _closed(state)
            return None
    if is_answer(chunk):
        state.said.append(chunk)
        state.said_at_once += state.prompts == 0
    if call is None or not call.has_ended or call.chunk.seq < episode.last.seq:
        return state
    same = _sameness(episode, call)
    is_told = state.prompts == 0 and _USAGE.search(episode.line.text) is not None
    if state.prompts == 0 and (call.command is not None or call.is_edit):
        state.tried.append(call)
    if call.has_failed:
        if same == SAME or (same == PROGRAM and is_told):
            if call.command != (episode.call.command if episode.call else None):
                state.done.append(call)  # it did not help to the end, and yet was the remedy
            _end(state, "passed", chunk, call)
            found.append(episode)
            return None
        return state
    if call.is_change or same >= PROGRAM:
        state.done.append(call)
        if state.prompts == 0 and state.any_done is None:
            state.any_done = call, chunk, len(state.done)
    if not call.is_mute:
        if same == SAME or (same == PROGRAM and is_told):
            _end(state, "verified", chunk, call)
            found.append(episode)
            return None
        if same and state.prompts == 0 and state.akin is None:
            state.akin = call, chunk, len(state.done)
    return state


def _sameness(episode: Episode, call: Call | None) -> int:
    """Return how far a call is the one that failed (`commands.sameness`)."""
    failed = episode.call
    if failed is None or call is None:
        return 0
    if failed.command is not None:
        if call.command is None:
            return 0
        # Of several commands, the one that the error names: `ls: no such file`.
        named = [one for one in commands(failed.command) if one.name[0] in episode.line.words]
        return sameness(named or failed.commands, commands(call.command) if named else call.commands)
    if failed.chunk.tool_name != call.chunk.tool_name:
        return 0
    if failed.paths:
        return SAME if set(failed.paths) & set(call.paths) else 0
    if failed.chunk.text == call.chunk.text:
        return SAME
    return 0 if is_shell(failed.chunk.tool_name) else PROGRAM


def _closed(state: _State | None) -> list[Episode]:
    """Return an episode that was followed to the end of what was read, if there is one."""
    if state is None:
        return []
    episode = state.episode
    edits = [call for call in state.done if call.is_edit]
    if state.akin is not None:
        call, chunk, count = state.akin
        state.done = [*state.done[:count], *([] if call in state.done[:count] else [call])]
        episode.is_akin = True
        _end(state, "replaced", chunk, call)
    elif state.any_done is not None and (episode.call is None or state.any_done[0].is_edit) and edits:
        state.done = edits
        _end(state, "replaced", edits[-1].result or edits[-1].chunk, edits[-1])
    elif state.any_done is not None:
        call, chunk, _ = state.any_done
        state.done = [call]
        _end(state, "replaced", chunk, call)
    else:
        state.done = state.tried[:STEPS]
        _end(state, "unresolved", episode.last, None)
        episode.end = None
    return [episode]


def _end(state: _State, outcome: Outcome, chunk: Chunk, by: Call | None) -> None:
    episode = state.episode
    episode.outcome, episode.end = outcome, chunk
    episode.steps = _steps(state, by)
    said = state.said if outcome != "unresolved" else state.said[: state.said_at_once]
    episode.why, episode.said = reason(said, episode.steps[0].position if episode.steps else None)


def _steps(state: _State, by: Call | None) -> tuple[Step, ...]:
    """Return the steps that decided: edits and commands after the error last occurred, and the one that ended it."""
    chosen = list({id(call): call for call in state.done}.values())
    edits = [call for call in chosen if call.is_edit]
    if len(chosen) > STEPS and edits:
        named = [call for call in edits if _is_named(call, state.episode)]
        keep = {id(call) for call in [*(named or edits)[-(STEPS - 1) :], *([by] if by else [])]}
        chosen = [call for call in chosen if id(call) in keep]
    chosen = chosen[-STEPS:]
    episode = state.episode
    remedies = [call for call in chosen if call is not by] or chosen
    if any(call.is_edit for call in remedies):
        episode.remedy = ("edit",)
    else:
        episode.remedy = tuple(sorted({" ".join(one.name) for call in remedies for one in call.commands}))
    return tuple(
        Step(
            position=call.chunk.seq,
            kind="edit" if call.is_edit else "command",
            text=call.text,
            path=(call.paths or ("",))[0] if call.is_edit else "",
        )
        for call in chosen
    )


def _is_named(call: Call, episode: Episode) -> bool:
    """Return whether an edit changes a file that the error names."""
    return any(re.split(r"[/\\]", path)[-1] in episode.last.text for path in call.paths)
