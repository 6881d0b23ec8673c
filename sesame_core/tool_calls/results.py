"""The result of a call: whether it ran, and whether it failed, whatever its agent says of it."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ..text.readable import is_shell
from ..types.index import Chunk
from .commands import doing
from .form import command_in

#: Characters of the output of a command that are read for a failure, at its beginning and at its end.
READ = 6_000
#: Tools whose results are files, pages and reports of others.
QUOTING = frozenset(
    "read readfile readmanyfiles view viewfile grep grepsearch searchfilecontent glob ls find listdirectory webfetch "
    "websearch googlewebsearch fetch task agent invokeagent".split()
)
#: How agents write the exit code of a command.
_CODE = re.compile(
    r"(?mi)^exit code:? (-?\d+)$|^(?:process|command) exited with (?:exit )?code:? (-?\d+)|\bexit status (\d+)\s*\Z"
)
#: Results of calls that did not run.
_NOT_RUN = re.compile(
    r"\A\s*(?:<tool_use_error>\s*)?(?:The user doesn't want to|Cancelled|Sibling tool call|\[?Request interrupted|"
    r"User rejected|Command aborted|aborted by user|Permission to use )"
)
#: What a command has whose exit code is not that of the program: a pipe, another command after it.
_HIDING = re.compile(r"[|;\n]|&\s*\Z")
#: What only the output of a command that failed has, whose exit code a pipe has hidden.
_FAILED = re.compile(
    "(?m)"
    + "|".join(
        (
            r"^\s*(?:--- FAIL|FAIL\b|FAILED\b|Traceback \(most recent|panic:|npm ERR!|fatal:|error(?:\[\w+\])?:|E   )",
            r"^\s*(?:make: \*\*\*|usage: |Error:)|\berror TS\d+|ERROR task failed|\bcommand not found\b",
            r"\b[1-9]\d* (?:failed|errors?|failures?|failing|issues?)\b|\[(?:build|setup) failed\]",
            r"^.{0,80}\.\w{1,5}:\d+:\d+: |\bnot found\s*\Z",
        )
    )
)
#: What a program that only looks writes if it cannot: its name, and why.
_REFUSED = re.compile(
    r"\A\s*(?:\(eval\):\d+: )?\S{1,40}: (?:.{0,60}: )?(?:illegal|invalid|unrecognized|cannot|No such|unknown)"
    r"|\A.{0,60}command not found|\Afatal:|\Ausage:|\A\S+ not found\s*\Z"
)


def is_quoted(chunk: Chunk) -> bool:
    """Return whether a chunk is what a tool found somewhere, and so no failure of its own, whatever it quotes."""
    if chunk.kind != "tool_result" or chunk.is_error:
        return False
    return (chunk.tool_name or "").lower().replace("_", "").replace("-", "") in QUOTING


def has_run(chunk: Chunk) -> bool:
    """Return whether the call of a result ran: it was not refused, cancelled or interrupted."""
    return not _NOT_RUN.match(chunk.text)


def is_refused(chunk: Chunk) -> bool:
    """Return whether a result says that its call did nothing: the agent marks it as an error, or it did not run.

    A command that failed may have changed files before, so its output is not asked, unlike by `has_failed`.
    """
    return chunk.is_error or not has_run(chunk)


def has_failed(chunk: Chunk, call: Chunk | None) -> bool:
    """Return whether a result is that of a call that failed.

    An exit code decides, and the agent's own mark.  A pipe hides both (`npm test | tail`), so the output of a command
    that does more than look is read, too.

    :param call: the call, as far as it is known.
    """
    if chunk.is_error or any(_exit_codes(chunk.text[:400] + "\n" + chunk.text[-200:])):
        return True
    if not is_shell(chunk.tool_name or (call.tool_name if call else None)):
        return False
    command = command_in(call.text, call.tool_name) if call else None
    ran = doing(command) if command else ()
    if all(one.is_looking for one in ran):
        return _REFUSED.search(chunk.text) is not None
    if command is not None and not _HIDING.search(command):
        return False
    text = chunk.text
    return _FAILED.search(text if len(text) <= 2 * READ else text[:READ] + "\n" + text[-READ:]) is not None


def _exit_codes(text: str) -> Iterator[int]:
    """Yield the exit codes that an output names."""
    if "exit" in text.lower():
        for found in _CODE.finditer(text):
            yield int(next(filter(None, found.groups()), "0"))
