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
    #: Calls that ended after the error, and whether they ran the same program.  Most are never judged: that takes long.
    ended: list[tuple[Call, bool]] = field(default_factory=list)
    #: The first calls of the same turn, those that failed, too.
    tried: list[Call] = field(default_factory=list)
    said: list[Chunk] = field(default_factory=list)
    #: The first call of the same turn that succeeded and is akin to the one that failed, with what shows it and the
    #: number of calls in `ended` by then; and the first one of any kind.
    akin: tuple[Call, Chunk, int] | None = None
    any_done: tuple[Call, Chunk] | None = None
    prompts: int = 0
    #: Number of messages in `said` that belong to the turn of the error.
    said_at_once: int = 0

    def done(self, count: int | None = None) -> list[Call]:
        """Return those of `ended`, or its first ones, that succeeded and changed something or ran the same program."""
        return [call for call, is_same in self.ended[:count] if _is_done(call, is_same)]


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
            _end(state, "passed", chunk, None, state.done())
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
    is_again = same == SAME or (same == PROGRAM and state.prompts == 0 and bool(_USAGE.search(episode.line.text)))
    if state.prompts == 0 and len(state.tried) < STEPS and (call.command is not None or call.is_edit):
        state.tried.append(call)
    if is_again and call.has_failed:
        # It did not help to the end, and yet was the remedy.
        is_other = call.command != (episode.call.command if episode.call else None)
        _end(state, "passed", chunk, call, [*state.done(), *([call] if is_other else [])])
        found.append(episode)
        return None
    state.ended.append((call, same >= PROGRAM))
    if is_again and not call.is_mute:
        _end(state, "verified", chunk, call, state.done())
        found.append(episode)
        return None
    if state.prompts == 0:
        if state.any_done is None and _is_done(call, same >= PROGRAM):
            state.any_done = call, chunk
        if same and state.akin is None and not call.has_failed and not call.is_mute:
            state.akin = call, chunk, len(state.ended)
    return state


def _is_done(call: Call, is_same: bool) -> bool:
    """Return whether a call that ended succeeded, and changed something or ran the same program."""
    return (is_same or call.is_change) and not call.has_failed


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
    if state.akin is not None:
        call, chunk, count = state.akin
        done = state.done(count)
        episode.is_akin = True
        _end(state, "replaced", chunk, call, done if call in done else [*done, call])
        return [episode]
    if state.any_done is None:
        _end(state, "unresolved", episode.last, None, state.tried)
        episode.end = None
        return [episode]
    call, chunk = state.any_done
    edits = [one for one in state.done() if one.is_edit] if episode.call is None or call.is_edit else []
    if edits:
        _end(state, "replaced", edits[-1].result or edits[-1].chunk, edits[-1], edits)
    else:
        _end(state, "replaced", chunk, call, [call])
    return [episode]


def _end(state: _State, outcome: Outcome, chunk: Chunk, by: Call | None, done: Sequence[Call]) -> None:
    """Close an episode.

    :param by: the call that ended it.
    :param done: the calls of which its steps are chosen.
    """
    episode = state.episode
    episode.outcome, episode.end = outcome, chunk
    episode.steps = _steps(episode, by, done)
    said = state.said if outcome != "unresolved" else state.said[: state.said_at_once]
    episode.why, episode.said = reason(said, episode.steps[0].position if episode.steps else None)


def _steps(episode: Episode, by: Call | None, done: Sequence[Call]) -> tuple[Step, ...]:
    """Return the steps that decided: edits and commands after the error last occurred, and the one that ended it."""
    chosen = list({id(call): call for call in done}.values())
    edits = [call for call in chosen if call.is_edit]
    if len(chosen) > STEPS and edits:
        named = [call for call in edits if _is_named(call, episode)]
        keep = {id(call) for call in [*(named or edits)[-(STEPS - 1) :], *([by] if by else [])]}
        chosen = [call for call in chosen if id(call) in keep]
    chosen = chosen[-STEPS:]
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
