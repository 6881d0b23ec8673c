"""The values that the tables accept: those that every reader can use.

The checks bind the owner of the tables, too.  They belong to schema 6; a later change is another migration.
"""

from __future__ import annotations

#: A time that Python can represent, too; "infinity" is none.
TIME = "{0} BETWEEN '0001-01-02 00:00:00+00' AND '9999-12-31 00:00:00+00'"
#: A list of one dimension without NULL.
_LIST = "CASE WHEN coalesce(array_ndims({0}), 1) = 1 THEN array_position({0}, NULL) IS NULL ELSE false END"
#: A JSON object of numbers from 0.
_COUNTS = (
    "jsonb_typeof({0}) = 'object' AND NOT jsonb_path_exists({0}, "
    "'$.* ? (@.type() != \"number\" || !(@ >= 0 && @ <= 2147483647) || @.floor() != @)')"
)
#: Most bytes of a name, of a text of a session, and of a chunk: characters would have to be counted.
NAME, TEXT, CHUNK = 10_000, 4_000_000, 64_000_000
#: Most of anything that a workstation counts: a sum of many is still a number.
MOST = 10**12
_PLACE = "{0} BETWEEN 0 AND 4194304"
_COUNT = "{0} >= 0"


def _all(pattern: str, *columns: str) -> str:
    return " AND ".join(f"({pattern.format(column)})" for column in columns)


def _at_most(length: int, *columns: str) -> str:
    return " AND ".join(f"coalesce(octet_length({column}), 0) <= {length}" for column in columns)


#: Conditions by table and by the last part of the constraint's name.
CHECKS: dict[str, dict[str, str]] = {
    "workstations": {
        "name": "name ~ '^[A-Za-z0-9._-]{1,64}$'",
        "names": _at_most(NAME, "installation", "host", "owner", "role"),
        "time": TIME.format("last_sync"),
        "counts": _all(
            f"{{0}} BETWEEN 0 AND {MOST}",
            "chunks",
            "chunk_tokens",
            "sessions",
            "head_tokens",
            "conversation_tokens",
        ),
    },
    "files": {
        "names": _at_most(NAME, "parser"),
        "texts": _at_most(TEXT, "path", "error"),
        "time": TIME.format("missing_since"),
        "counts": _all(_COUNT, "size"),
        "skipped": _COUNTS.format("skipped"),
        "lists": _LIST.format("recent_origins"),
    },
    "sessions": {
        "names": _at_most(
            NAME, "key", "session_id", "agent", "kind", "parent_id", "model", "host", "owner", "git_branch"
        ),
        "texts": _at_most(TEXT, "cwd", "repository", "title", "summary", "notes"),
        "visibility": "visibility IN ('shared', 'metadata')",
        "times": _all(TIME, "created", "modified"),
        "counts": _all(_COUNT, "message_count", "exchange_count", "head_tokens", "conversation_tokens")
        + " AND "
        + _all(_PLACE, "chunk_count", "conversation_count")
        + f" AND chunk_tokens BETWEEN 0 AND {MOST}",
        "tool_counts": _COUNTS.format("tool_counts"),
        "directories": _COUNTS.format("directories"),
        "lists": _LIST.format("abandoned") + " AND " + _LIST.format("prompts"),
        "prompts": f"cardinality(prompts) <= 100 AND octet_length(array_to_string(prompts, '')) <= {TEXT}",
        # Stored as text: a value that is not JSON is refused by the conversion.
        "notes": "jsonb_typeof(notes::jsonb) = 'array' AND jsonb_array_length(notes::jsonb) >= 4 AND NOT "
        "jsonb_path_exists(notes::jsonb, '$[0 to 2] ? (@.type() != \"string\")') AND "
        "jsonb_typeof(notes::jsonb -> 3) = 'array' AND NOT "
        "jsonb_path_exists(notes::jsonb, 'strict $[3][*] ? (@.type() != \"string\")')",
    },
    "chunks": {
        "names": _at_most(NAME, "kind", "role", "source_type"),
        "texts": _at_most(TEXT, "tool_name", "call_id", "entry_id"),
        "content": _at_most(CHUNK, "content"),
        "time": TIME.format("timestamp"),
        "place": _all(_PLACE, "seq") + " AND segment >= 0 AND cut >= 0",
    },
    "texts": {
        "counts": _all(_PLACE, "seq") + " AND class BETWEEN 0 AND 3 AND tokens >= 0 AND spoken BETWEEN 0 AND tokens",
        "names": _at_most(NAME, "role") + " AND " + _at_most(TEXT, "tool"),
    },
    "heads": {"counts": "tokens >= 0"},
    "conversations": {"place": _all(_PLACE, "part")},
    "vocabularies": {"place": _all(_PLACE, "first", "piece")},
    "commands": {"place": _all(_PLACE, "seq")},
    "paths": {"length": _at_most(NAME, "reversed")},
    "tombstones": {"names": _at_most(NAME, "agent", "session_id"), "time": TIME.format("forgotten_at")},
}


def checks() -> list[str]:
    """Return the statements that add the checks, for new rows only: `VALIDATE` looks at those that are there."""
    return [
        f"ALTER TABLE {table} ADD CONSTRAINT {table}_{name} CHECK ({condition}) NOT VALID"
        for table, conditions in CHECKS.items()
        for name, condition in conditions.items()
    ]
