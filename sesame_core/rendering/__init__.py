"""Turns answers and reports into text for people and into JSON for programs; never searches, writes or prints.

Each module renders one noun: `answers` (with `evidence`), `sessions`, `references`, `session_answers`, `descriptions`,
`reports`, `status`, `config`, `sharing`, `audits`; a command loads those that it prints.  `schemas` declares the JSON.
Transcripts may hold anything, so text loses its control characters; JSON escapes them.  JSON fields keep their names;
additions are new fields, and `schemaVersion` counts changes of meaning.
"""
