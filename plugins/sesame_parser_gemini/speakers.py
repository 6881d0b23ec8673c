"""Distinguishes what a person typed from what Gemini CLI puts into user records."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from sesame_core.types.transcript import Role

from .values import objects, string

#: Elements that are put before or after a prompt; the prompt is the rest.
_CONTEXT = re.compile(r"\s*<(session_context|hook_context|loaded_context|project_context)>.*?</\1>\s*", re.DOTALL)
#: The same, of which the end is missing.
_OPEN_CONTEXT = re.compile(r"\s*<(?:session_context|hook_context|loaded_context)>")
#: First words of texts that only the program writes.
_CONTEXT_WORDS = (
    "This is the Gemini CLI. We are setting up the context for our chat.",
    "Here is the user's editor context as a JSON object",
    "Here is a summary of changes in the user's editor context",
    # To a subagent that has not finished.
    "You have exceeded the time limit. You have one final chance to complete the task",
    "You have exceeded the maximum number of turns. You have one final chance to complete the task",
    "You have stopped calling tools without finishing. You have one final chance to complete the task",
)
#: Texts with which the program answers itself, or continues.
_ACKNOWLEDGED = ("Got it. Thanks for the context!", "Got it. Thanks for the additional context!")
_CONTINUED = ("Please continue.", "System: Please continue.")
_SNAPSHOT = re.compile(
    r"\s*(?:<scratchpad>.*?</scratchpad>\s*)?<state_snapshot>(.*?)(?:</state_snapshot>\s*|\Z)", re.DOTALL
)
_TAG = re.compile(r"[ \t]*</?[a-z_]+>[ \t]*\n?")
#: How versions before 0.3x name the directory.
_DIRECTORY = re.compile(
    r"(?:working in the directory|working directory is|in the following director(?:y|ies)):[ \t]*"
    r"(\S[^\n]*|\n[ \t]+- [^\n]+)"
)
#: The files that a prompt names as `@file`.
_FILES = re.compile(
    r"\n?--- Content from referenced files ---\s*\n(Content from @.*?)(?:\n?--- End of content ---|\Z)", re.DOTALL
)
_SHELL = re.compile(
    r"I ran the following shell command:\n```(?:sh|bash)?\n(.*?)\n```\n\nThis produced the following result:\n"
    r"```\n(.*?)\n?```\s*",
    re.DOTALL,
)
_BACKGROUND = re.compile(r"Background execution update:\n<background_output>\n?(.*?)\n?</background_output>", re.DOTALL)
_HINTS = re.compile(r"User hints:\n<user_input>\n?(.*?)\n?</user_input>", re.DOTALL)
#: A slash command, in contrast to a path.
_COMMAND = re.compile(r"/[a-z][\w:.-]*(?:\s|\Z)")


class Piece(NamedTuple):
    """A part of a user record with its speaker."""

    role: Role
    source_type: str
    text: str
    #: A shell command of the user, or the files that the text is from: (tool, argument).
    call: tuple[str, str] | None = None


def pieces(message: Mapping[str, Any]) -> Iterator[Piece]:
    """Yield what a user record says, by speaker.

    `displayContent` is what was typed, if the program has put the content of files into `content`.
    """
    texts = [rest for text in texts_in(message.get("content")) if (rest := _without_context(text))]
    whole = "\n".join(texts)
    files = _FILES.search(whole) if "--- Content from referenced files ---" in whole else None
    if files:
        whole = whole[: files.start()] + whole[files.end() :]
    typed = "\n".join(filter(None, map(_without_context, texts_in(message.get("displayContent")))))
    if text := (typed or whole).strip():
        yield _classified(text)
    if files and files[1].strip():
        yield Piece("system", "file", files[1].strip("\n"), ("read_many_files", typed or whole.strip()))


def is_acknowledgement(text: str) -> bool:
    """Return whether an answer only acknowledges context that the program has sent."""
    return text.strip() in _ACKNOWLEDGED


def workspace(text: str) -> tuple[str, ...]:
    """Return the directories that the context at the start of a session names."""
    text = text.lstrip()
    if not (text.startswith("<session_context>") or text.startswith(_CONTEXT_WORDS[0])):
        return ()
    if found := re.search(r"^- \*\*Workspace Directories:\*\*\n((?:[ \t]+- [^\n]+\n?)+)", text, re.MULTILINE):
        return tuple(line.strip().removeprefix("- ") for line in found[1].splitlines())
    found = _DIRECTORY.search(text)
    return (found[1].strip().removeprefix("- "),) if found else ()


def _classified(text: str) -> Piece:
    if text in _CONTINUED:
        return Piece("system", "continuation", text)
    if text.startswith("<") and (found := _SNAPSHOT.match(text)):
        return Piece("summary", "compaction", _TAG.sub("", found[1]).strip() or found[1].strip())
    if found := _SHELL.fullmatch(text):
        return Piece("system", "bash", found[2].strip("\n"), ("run_shell_command", found[1]))
    if found := _BACKGROUND.match(text):
        return Piece("system", "background", found[1])
    if found := _HINTS.match(text):
        return Piece("user", "hint", re.sub(r"^- ", "", found[1], flags=re.MULTILINE))
    return Piece("user", "command" if _COMMAND.match(text) else "message", text)


def _without_context(text: str) -> str:
    """Return a text without the context that the program adds at its start or end."""
    if text.lstrip().startswith(_CONTEXT_WORDS):
        return ""
    while found := _CONTEXT.match(text):
        text = text[found.end() :]
    if (
        "</hook_context>" in text
        and (start := text.rfind("<hook_context>")) > 0
        and text.rstrip().endswith("</hook_context>")
    ):
        text = text[:start]
    return "" if _OPEN_CONTEXT.match(text) else text


def texts_in(content: object) -> list[str]:
    """Return the texts of a string or of parts, without thoughts."""
    if isinstance(content, str):
        return [string({"text": content}, "text")]
    if isinstance(content, list):
        content = [{"text": part} if isinstance(part, str) else part for part in content]
    return [text for part in objects(content) if part.get("thought") is not True and (text := string(part, "text"))]
