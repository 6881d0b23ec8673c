"""Removes text that is not worth searching: base64 payloads and the middle of very long texts."""

from __future__ import annotations

import re

from sesame_core.sdk.kept_json import bytes_left_out

#: Shortest run of base64 characters that counts as a payload, as in `sesame_core.sdk.long_lines`.
PAYLOAD = 1024
_STEP = PAYLOAD // 2
_PAYLOAD = re.compile(rf"[A-Za-z0-9+/=_-]{{{PAYLOAD},}}")
_LETTER = re.compile(r"[A-Za-z]")
_DIGIT = re.compile(r"[0-9]")


def without_payloads(text: str) -> tuple[str, int]:
    """Replace base64 payloads by `…`; return the text and the number of removed characters."""
    if len(text) < PAYLOAD or not _may_hold_payload(text):
        return text, 0
    kept = _PAYLOAD.sub(_replacement, text)
    return kept, len(text) - len(kept)


def _may_hold_payload(text: str) -> bool:
    """Check for half a payload without spaces at every half payload: a quick test that most texts fail."""
    for start in range(0, len(text) - _STEP + 1, _STEP):
        if text.find(" ", start, start + _STEP) < 0 and text.find("\n", start, start + _STEP) < 0:
            return True
    return False


def _replacement(run: re.Match[str]) -> str:
    """Keep lines of dashes and rows of one letter: a payload has letters and digits."""
    found = run[0]
    return "…" if _LETTER.search(found) and _DIGIT.search(found) else found


def shortened(text: str, limit: int) -> tuple[str, int]:
    """Cut a text to `limit` characters, three quarters from its head and one from its tail.

    :return: the text, with a line that says how many characters are missing, and that number; 0 when it was not cut.
    """
    cut = len(text) - limit
    if cut <= 0:
        return text, 0
    head = limit * 3 // 4
    end = head + cut
    cut += bytes_left_out(text[head:end])
    return f"{text[:head]}\n[… {cut} characters left out …]\n{text[end:]}", cut
