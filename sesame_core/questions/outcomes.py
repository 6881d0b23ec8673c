"""The calls of a stretch of a session, each with its result."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cached_property

from ..text.folding import shortened
from ..text.readable import is_shell, readable
from ..tool_calls.call_files import files_of
from ..tool_calls.commands import Command, commands, doing
from ..tool_calls.form import command_in, names
from ..tool_calls.patches import patched_files
from ..tool_calls.results import has_failed, has_run
from ..types.index import Chunk

#: The first line of a patch, which some agents pass to a shell.
_PATCH = "*** Begin Patch"
#: Commands whose output does not show whether they failed: it is counted, or goes into a file.
_MUTE = re.compile(r"\|\s*(?:grep -\w*[cq]|wc)\b|(?<![\d&])>\s*\S+\s+2>&1|&>|2>\s*/dev/null")
#: Most characters of a step.
STEP = 600


class Call:
    """One call, and what came of it; what its texts say is read once, since every episode asks."""

    def __init__(self, chunk: Chunk) -> None:
        self.chunk = chunk
        #: None if it had no output, or has not ended.
        self.result: Chunk | None = None
        #: Whether it ran and ended.
        self.has_ended = False

    @property
    def is_over(self) -> bool:
        """Whether it is known what came of it."""
        return self.has_ended or self.result is not None

    @property
    def has_failed(self) -> bool:
        """Whether it ended badly."""
        return self.has_ended and self._has_failed

    @cached_property
    def _has_failed(self) -> bool:
        return self.result is not None and has_failed(self.result, self.chunk)

    @property
    def succeeded(self) -> bool:
        """Whether it ended well."""
        return self.has_ended and not self.has_failed

    @cached_property
    def command(self) -> str | None:
        """The command of a shell; None if it is none."""
        return command_in(self.chunk.text, self.chunk.tool_name)

    @cached_property
    def commands(self) -> tuple[Command, ...]:
        """The commands of a shell that do something, or all if they only look."""
        command = self.command
        return doing(command) if command else ()

    @cached_property
    def is_edit(self) -> bool:
        """Whether it changes a file, and not by a command."""
        text = self.chunk.text
        return _PATCH in text or (not is_shell(self.chunk.tool_name) and any(one.is_changed for one in files_of(text)))

    @cached_property
    def is_change(self) -> bool:
        """Whether it changes something, or runs more than a look."""
        command = self.command
        if command is None or self.is_edit:
            return self.is_edit
        return any(not one.is_looking for one in commands(command)) or "<<" in command

    @property
    def is_mute(self) -> bool:
        """Whether its output does not show whether it failed."""
        return _MUTE.search(self.command or "") is not None

    @cached_property
    def paths(self) -> tuple[str, ...]:
        """The files that it names as changed."""
        text = self.chunk.text
        patched = patched_files(text) if _PATCH in text else ()
        return tuple(dict.fromkeys([*names(text), *patched, *self.chunk.paths]))

    @property
    def text(self) -> str:
        """The call as people write it, shortened."""
        return shortened(readable(self.chunk.text[: 8 * STEP], self.chunk.kind), STEP)


def calls(chunks: Sequence[Chunk]) -> Iterator[tuple[Chunk, Call | None]]:
    """Yield each chunk with the call that it is, or that it ends.

    A call of a shell without output has no result: it has ended well if the agent goes on after it.
    """
    answered = {chunk.call_id for chunk in chunks if chunk.kind == "tool_result"}
    waiting: dict[str, Call] = {}
    for place, chunk in enumerate(chunks):
        if chunk.kind == "tool_call":
            call = Call(chunk)
            if chunk.call_id and chunk.call_id in answered:
                waiting[chunk.call_id] = call
            else:
                call.has_ended = is_shell(chunk.tool_name) and _goes_on(chunks, place + 1)
            yield chunk, call
            continue
        ended = waiting.pop(chunk.call_id or "", None) if chunk.kind == "tool_result" else None
        if ended is not None:
            ended.result, ended.has_ended = chunk, has_run(chunk)
        yield chunk, ended


def _goes_on(chunks: Sequence[Chunk], place: int) -> bool:
    """Return whether the agent goes on after a call: it was not interrupted, and is not the end of what was read."""
    has_result = False  # of a call that was made at the same time, perhaps
    for chunk in chunks[place:]:
        if chunk.kind == "tool_result":
            has_result = True
        elif chunk.kind == "tool_call":
            if has_result:
                return True
        else:
            return chunk.kind == "message" and chunk.role == "assistant"
    return False
