"""Declares every JSON value that Sesame prints, field by field, as `TypedDict`s.

No logic; `described` makes a JSON schema of each.  The modules of `rendering` build these values and import the
declarations for mypy alone: a `TypedDict` costs time when it is made, and the commands need none at run time.  `mcp`
really imports them and derives its schemas.

They are `typing_extensions.TypedDict`s because pydantic requires these before Python 3.12; `typing_extensions` is
installed with pydantic.
"""
