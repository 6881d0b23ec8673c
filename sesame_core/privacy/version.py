"""The version of the redactor: when it changes, files are read and sent again, so that old content is redacted anew."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..config.model import Redaction

#: Grows with each change of the detectors; `tests/privacy/test_version.py` fails when one is forgotten.
VERSION = 3


def redaction_version(settings: Redaction) -> int:
    """Return a number of 30 bits, never 0, that differs between detectors, and between the user's own patterns."""
    from zlib import crc32

    settings_text = repr((VERSION, settings.patterns, settings.keep))
    return crc32(settings_text.encode("utf-8", "surrogatepass")) & 0x3FFFFFFF | 1
