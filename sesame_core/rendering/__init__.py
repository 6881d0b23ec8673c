"""Turns answers and reports into text for people and into JSON for programs; never searches, writes or prints.

Each module renders one noun: `answers` (with `evidence`, and `brief` within a `budget` for agents), `sessions`,
`transcripts`, `resumptions`, `references`, `session_answers`, `descriptions`; `calls` (the text of a tool call, line by
line); `blames` (with `traces`), `fixes` (with `known`), `knowing` (who worked on something), `digests`; `tallies`,
`reports`, `status`, `config`, `sharing`, `audits`; a command loads those that it prints.  Below an answer stand
`notes`, and `freshness` says the same to programs.  `schemas` declares the JSON.
Transcripts may hold anything, so text loses its control characters; JSON escapes them.  JSON fields keep their names;
additions are new fields, and `schemaVersion` counts changes of meaning.
"""
