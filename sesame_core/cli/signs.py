"""Signs of the output in an encoding that does not have them: each by one of ASCII that is as wide."""

from __future__ import annotations

import codecs

#: What the output has besides the text of sessions.
PLAIN = dict(zip("…·→•─│█–“”‘’", "~->*-|#-\"\"''", strict=True))
#: The name of the handler of encoding errors.
HANDLER = "sesame.signs"


def _replaced(error: UnicodeError) -> tuple[str | bytes, int]:
    """Return what stands for the characters that cannot be encoded: a sign of ASCII, or their code."""
    assert isinstance(error, UnicodeEncodeError)
    first = error.object[error.start]
    if first in PLAIN:
        return PLAIN[first], error.start + 1
    end = error.start + 1
    while end < error.end and error.object[end] not in PLAIN:
        end += 1
    part = UnicodeEncodeError(error.encoding, error.object, error.start, end, error.reason)
    return codecs.lookup_error("backslashreplace")(part)


codecs.register_error(HANDLER, _replaced)
