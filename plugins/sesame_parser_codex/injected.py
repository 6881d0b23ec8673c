"""Distinguishes what a person typed from the context that Codex puts into user messages."""

from __future__ import annotations

import re

#: Beginnings of texts that Codex writes in the name of the user.
_BEGINNINGS = (
    "# AGENTS.md instructions",
    "<INSTRUCTIONS>",
    "<codex_internal_context",
    "<context_window",
    "<environment_context",
    "<environments",
    "<goal_context",
    "<hook_prompt",
    "<permissions instructions",
    "<recommended_plugins",
    "<skill>",
    "<skill ",
    "<skills_instructions",
    "<subagent_notification",
    "<turn_aborted",
    "<user_action",
    "<user_instructions",
    "<user_shell_command",
)
#: What surrounds an image in a prompt.
_IMAGE = re.compile(r"</?image(?:\s+name=[^<>]*)?>")
#: The heading with which an editor's extension separates a prompt from the context before it.
_REQUEST = re.compile(r"^## My request for Codex:[ \t]*\n?", re.MULTILINE)
_SHELL = re.compile(
    r"<user_shell_command>\s*<command>\n?(.*?)\n?</command>\s*<result>\n?(.*?)\n?</result>\s*</user_shell_command>",
    re.DOTALL,
)


def is_injected(text: str) -> bool:
    """Return whether a user message is context that Codex added, or nothing but what surrounds an image."""
    return text.lstrip().startswith(_BEGINNINGS) or not _IMAGE.sub("", text).strip()


def prompt(text: str) -> str:
    """Return what a person typed, without the context that an editor's extension put before it."""
    if text.lstrip().startswith("# ") and (request := _REQUEST.search(text)):
        text = text[request.end() :]
    return text.strip()


def user_shell(text: str) -> tuple[str, str] | None:
    """Return the command that a person ran with `!`, and its output; None for another text."""
    found = _SHELL.fullmatch(text.strip())
    return (found[1], found[2]) if found else None
