"""The description of a field, next to its type."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


class Doc:
    """Metadata of `Annotated` that describes a field: `Annotated[str, Doc("The agent.")]`.

    Pydantic finds the method by its name and puts the text into the field's JSON schema.

    :param text: a short sentence, for agents that read the schema; docs/cli.md has the long ones.
    """

    def __init__(self, text: str) -> None:
        self.text = text

    def __get_pydantic_json_schema__(
        self, core_schema: Any, handler: Callable[[Any], dict[str, Any]]
    ) -> dict[str, Any]:
        """Return the schema of the annotated type with this description."""
        return {**handler(core_schema), "description": self.text}
