"""What narrows a search is declared once, and means the same wherever it is given."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from sesame_core.cli import searching
from sesame_core.errors import QueryError
from sesame_core.mcp.inputs import ListSessions, SearchSessions
from sesame_core.query.fields import FIELDS, KEYS, SWITCHES, gathered, read
from sesame_core.types.query import Filters

EXTENSION = Path(__file__).parents[2] / "plugins" / "sesame_parser_pi" / "extension" / "index.js"
#: A value for each field that takes one.
VALUES = {"after": "2026-11-01", "before": "2026-11-02", "role": "User", "cwd": "~/code", "cmd": "git push"}


def test_each_field_of_the_filters_is_declared_once() -> None:
    assert sorted(field.filter for field in FIELDS if field.filter) == sorted(Filters.__slots__)
    assert len({field.name for field in FIELDS}) == len(FIELDS)
    assert len(KEYS) == sum(len(field.keys) for field in FIELDS) - len(SWITCHES) + 1, "switches share `is:`"


def test_a_search_takes_every_field_as_an_option() -> None:
    options = {option.name: option for option in searching.COMMANDS[0].options}
    for field in FIELDS:
        option = options[field.name]
        assert (option.help, option.kind is bool, option.is_repeatable) == (
            field.help,
            field.is_switch,
            field.is_repeatable,
        )


def test_the_tools_take_every_field_that_has_a_text_for_agents() -> None:
    names = {field.name: field for field in FIELDS if field.for_agents}
    assert names.keys() <= SearchSessions.model_fields.keys()
    assert names.keys() & ListSessions.model_fields.keys() == {
        name for name, field in names.items() if not field.is_of_passages
    }
    for name, field in names.items():
        assert SearchSessions.model_fields[name].description == field.for_agents
    assert not {field.name for field in FIELDS if not field.for_agents} & SearchSessions.model_fields.keys()


def test_the_tool_of_pi_takes_fields_that_are_options_with_a_value() -> None:
    block = re.search(r"^const FILTERS = \{\n(.*?)^\};", EXTENSION.read_text(encoding="utf-8"), re.M | re.S)
    assert block
    names = re.findall(r"^  (\w+): \"", block[1], re.M)
    assert len(names) == len(block[1].splitlines())
    assert {*names} <= {field.name for field in FIELDS if not field.is_switch}


@pytest.mark.parametrize("field", [field for field in FIELDS if field.keys], ids=lambda field: field.name)
def test_a_field_means_the_same_in_a_query_and_as_an_option(field: object) -> None:
    assert isinstance(field, type(FIELDS[0]))
    value = VALUES.get(field.name, "x")
    given = True if field.is_switch else [value] if field.is_repeatable else value
    for key in field.keys:
        assert gathered({field.name: given}) == read(key, field.word if field.is_switch else value)


def test_what_is_not_given_asks_for_nothing() -> None:
    nothing = {field.name: False if field.is_switch else [] if field.is_repeatable else None for field in FIELDS}
    assert gathered({**nothing, "limit": 5, "cwd": ""}) == gathered({}) == Filters()


def test_a_value_without_meaning_is_named_by_its_field() -> None:
    for values, message in (
        ({"path": " "}, "path: has no value"),
        ({"role": "boss"}, "'boss' is not a role"),
        ({"after": "someday"}, "'someday'"),
        ({"cmd": "--"}, "'--' does not contain a word"),
    ):
        with pytest.raises(QueryError, match=re.escape(message)):
            gathered(values)
