"""Turns answers into text for people and into JSON for programs.

Transcripts may hold anything, so text for people loses its control characters; JSON escapes them.  Field names of
seed 000 stay as they are; additions are new fields, and `schemaVersion` counts changes of meaning.  A name is looked
up when first used: a command loads what it prints.
"""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .answers import answer_json, answer_text, index_json
    from .asked import asked_json, asked_text
    from .audits import audit_json, exposure_text
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
    from .shares import change_text, changes_json, sharing_json, sharing_text
    from .text import SCHEMA_VERSION, as_json, printable, session_name
else:
    _HOMES = {
        "answers": ("answer_json", "answer_text", "index_json"),
        "asked": ("asked_json", "asked_text"),
        "audits": ("audit_json", "exposure_text"),
        "described": ("described_text", "descriptions_json", "descriptions_text"),
        "reports": (
            "config_text",
            "plugin_json",
            "plugins_text",
            "report_json",
            "report_text",
            "status_json",
            "status_text",
            "workstations_json",
            "workstations_text",
        ),
        "sessions": (
            "chunk_json",
            "session_json",
            "session_summary",
            "sessions_json",
            "sessions_text",
            "transcript_text",
        ),
        "shares": ("change_text", "changes_json", "sharing_json", "sharing_text"),
        "text": ("SCHEMA_VERSION", "as_json", "printable", "session_name"),
    }
    _HOME_OF = {name: module for module, names in _HOMES.items() for name in names}

    def __getattr__(name):
        if name not in _HOME_OF:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        from importlib import import_module

        value = getattr(import_module(f".{_HOME_OF[name]}", __name__), name)
        globals()[name] = value
        return value


__all__ = [
    "SCHEMA_VERSION",
    "answer_json",
    "answer_text",
    "as_json",
    "asked_json",
    "asked_text",
    "audit_json",
    "change_text",
    "changes_json",
    "chunk_json",
    "config_text",
    "described_text",
    "descriptions_json",
    "descriptions_text",
    "exposure_text",
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
    "sharing_json",
    "sharing_text",
    "status_json",
    "status_text",
    "transcript_text",
    "workstations_json",
    "workstations_text",
]
