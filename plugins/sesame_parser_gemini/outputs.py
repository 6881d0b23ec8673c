"""Reads what a tool returned: its text without Gemini CLI's frame, and whether it failed."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import orjson

from sesame_core.sdk.kept_json import bytes_left_out
from sesame_core.text.tokens import clean

from .frames import without_frame
from .speakers import texts_in
from .values import mapping, objects, string

#: Tools that run a command in a shell.
SHELLS = frozenset({"run_shell_command", "shell", "bash"})
#: Tools whose result repeats the text that their call has.
WRITERS = frozenset({"write_file", "replace", "edit"})

#: The frame of what comes from outside.
_OPENED, _CLOSED = "<untrusted_context>", "</untrusted_context>"
_HOOK = re.compile(r"\s*<hook_context>.*?</hook_context>\s*", re.DOTALL)
#: A tool's output that Gemini CLI has replaced: the text is in a file of its own, and in an earlier record.
_MASKED = "<tool_output_masked>"
#: The lines before the output in the versions up to 0.2x, and the label of the output.
_COMMAND = re.compile(r"\s*Command: .*?\nDirectory: [^\n]*\n(?=(?:Output|Stdout): )", re.DOTALL)
_LABEL = re.compile(r"\s*(?:Output|Stdout): ")
#: The lines after it.
_FOOTER = re.compile(
    r"(?:\n|\A)(?:(?:Exit Code|Signal|Background PIDs|Process Group PGID): [^\n]*"
    r"|(?:Error|Stderr): \((?:none|empty)\))\s*\Z"
)
_EXIT_CODE = re.compile(r"^Exit Code: (-?\d+)[ \t]*$", re.MULTILINE)
_SIGNAL = re.compile(r"^Signal: (?!\(none\)|0\b)(\S[^\n]*)$", re.MULTILINE)
_ERROR = re.compile(r"^Error: (?!\(none\))\S", re.MULTILINE)
#: How a command that was stopped starts.
_STOPPED = re.compile(r"Command was (?:automatically )?(?:cancelled|aborted)\b")
#: The beginning of an error that a server of tools has reported; what it said is in JSON at the end.
_REPORTED, _RESPONSE = re.compile(r"MCP tool '[^\n']*' reported tool error for function call: "), " with response: "
_REPEATED = re.compile(r"[ \n]Here is the updated code:\n.*", re.DOTALL)


def is_masked(text: str) -> bool:
    """Return whether a text stands for a longer one, which an earlier record has."""
    return _MASKED in text or bytes_left_out(text) > 0


def output_of(call: Mapping[str, Any], name: str) -> tuple[str, bool]:
    """Return the text of a call's result and whether the call failed; the text is "" while there is none.

    :param call: an item of `toolCalls`.
    :param name: the tool.
    """
    status = string(call, "status")
    responses = [response for part in objects(call.get("result")) if (response := mapping(part, "functionResponse"))]
    # Masking stores the responses of all calls of a turn with each of them.
    own = [response for response in responses if response.get("id") == call.get("id")] or responses
    texts = [response_text(response, name) for response in own]
    text = "\n".join(text for text, _ in texts if text) or "\n".join(texts_in(call.get("result")))
    failed = any(has_failed for _, has_failed in texts)
    if not text and status in ("success", "error", "cancelled"):
        # Why a call failed may be written nowhere.
        text = _displayed(call.get("resultDisplay")) or ("" if status == "success" else status)
    return text, failed or status in ("error", "cancelled")


def response_text(response: Mapping[str, Any], name: str) -> tuple[str, bool]:
    """Return the text of a `functionResponse`, and whether it says that the call failed."""
    content = response.get("response")
    if isinstance(content, str):
        content = {"output": content}
    if not isinstance(content, dict):
        return "", False
    error, output = content.get("error"), content.get("output", content.get("content"))
    has_failed = bool(error) or content.get("isError") is True
    value = error or output
    if value is None:
        value = {key: item for key, item in content.items() if key != "isError"}
    text, is_bad_exit = _unframed(_written(value), name)
    return text, has_failed or is_bad_exit


def _unframed(text: str, name: str) -> tuple[str, bool]:
    """Return an output without what Gemini CLI adds, and whether a shell's command failed."""
    text = _HOOK.sub("\n", text) if "<hook_context>" in text else text
    framed = text.strip()
    if framed.startswith(_OPENED) and framed.endswith(_CLOSED):
        text = framed[len(_OPENED) : -len(_CLOSED)].strip("\n")
    if name not in SHELLS:
        text = without_frame(text, name)
        if name in WRITERS and "modified the `new_string`" not in text:
            return _REPEATED.sub("", text).strip("\n"), False
        return _reported(text).strip("\n"), False
    if "\n" not in text and "\\nProcess Group PGID: " in text:
        # Written by a program that has escaped it twice.
        text = text.replace("\\n", "\n")
    end = len(text)
    while footer := _FOOTER.search(text, max(0, end - 400), end):
        end = footer.start()
    body, footer_text = text[:end], text[end:]
    code, signal = _EXIT_CODE.search(footer_text), _SIGNAL.search(footer_text)
    is_failed = bool((code and int(code[1])) or signal or _STOPPED.match(text))
    for opening in (_COMMAND, _LABEL):
        # Only at the start.
        if found := opening.match(body):
            body = body[found.end() :]
    last = body.rstrip("\n").rpartition("\n")[2]
    is_failed = is_failed or bool(footer_text and _ERROR.match(last))
    if body.strip() == "(empty)":
        body = ""
    said = [line[0] for line in (code, signal) if line and not (line is code and not int(code[1]))]
    return "\n".join(filter(None, [body.strip("\n"), *said])), is_failed


def _reported(text: str) -> str:
    """Return what a server of tools said of an error, decoded; any other text as it is."""
    if not _REPORTED.match(text):
        return text
    try:
        parts = orjson.loads(text.rpartition(_RESPONSE)[2])
    except orjson.JSONDecodeError:
        return text
    said = []
    for part in parts if isinstance(parts, list) else ():
        response = mapping(mapping(part, "functionResponse"), "response") if isinstance(part, dict) else {}
        said += texts_in(response.get("content") or mapping(response, "error").get("content"))
    return "\n".join(said) or text


def _displayed(display: object) -> str:
    """Return what was shown of a result: of a changed file only the difference."""
    if isinstance(display, str):
        return clean(display)
    if not isinstance(display, dict):
        return ""
    return string(display, "fileDiff") or string(display, "result")


def _written(value: object) -> str:
    if isinstance(value, str):
        return clean(value)
    if isinstance(value, list) and (texts := [string(part, "text") for part in objects(value)]) and any(texts):
        return "\n".join(filter(None, texts))
    if not value:
        return ""
    return clean(orjson.dumps(value, default=str, option=orjson.OPT_NON_STR_KEYS).decode())
