"""Turns answers into text for people and into JSON for programs.

Transcripts may hold anything, so text for people loses its control characters; JSON escapes them.  Field names of
seed 000 stay as they are; additions are new fields, and `schemaVersion` counts changes of meaning.
"""

from .answers import answer_json, answer_text, index_json
from .asked import asked_json, asked_text
from .described import described_text, descriptions_json, descriptions_text
from .reports import (
    config_text,
    plugin_json,
    plugins_text,
    report_json,
    report_text,
    status_json,
    status_text,
    workstations_json,
    workstations_text,
)
from .sessions import chunk_json, session_json, session_summary, sessions_json, sessions_text, transcript_text
from .text import SCHEMA_VERSION, as_json, printable, session_name

__all__ = [
    "SCHEMA_VERSION",
    "answer_json",
    "answer_text",
    "as_json",
    "asked_json",
    "asked_text",
    "chunk_json",
    "config_text",
    "described_text",
    "descriptions_json",
    "descriptions_text",
    "index_json",
    "plugin_json",
    "plugins_text",
    "printable",
    "report_json",
    "report_text",
    "session_json",
    "session_name",
    "session_summary",
    "sessions_json",
    "sessions_text",
    "status_json",
    "status_text",
    "transcript_text",
    "workstations_json",
    "workstations_text",
]
