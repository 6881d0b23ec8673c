"""One entry in the text of a JSON or TOML file: it changes, and nothing else does."""

from __future__ import annotations

import json
import tomllib
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sesame_core.integration.json_text import JsonText
from sesame_core.integration.toml_text import TomlText

ENTRY: dict[str, Any] = {"command": "/my bin/sesame", "args": ["mcp"]}
KEYS = ("servers", "sesame")

values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=9),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=9,
)
objects = st.dictionaries(st.sampled_from(["servers", "a", '"', "//", "/*"]), values, max_size=4)


@given(value=objects, others=objects, indent=st.sampled_from([None, 0, 1, 2, "\t"]), end=st.sampled_from(["", "\n"]))
def test_an_entry_comes_into_any_json_and_goes_again(value: Any, others: Any, indent: Any, end: str) -> None:
    if "servers" in value:
        value["servers"] = others
    text = json.dumps(value, indent=indent) + end
    for has_comments in (False, True):
        made = JsonText(text, has_comments=has_comments)
        after = made.with_value(KEYS, ENTRY)
        read = JsonText(after, has_comments=has_comments)
        assert read.value == {**value, "servers": {**value.get("servers", {}), "sesame": ENTRY}}
        if value.get("servers") != {}:
            assert json.loads(read.without(KEYS, made=1)) == value
            if text.strip() != "{}":
                assert read.without(KEYS, made=1) == text


@pytest.mark.parametrize(
    "text",
    [
        "{ // only this\n}",
        '{\n  "a": 1, // one\n  "b": 2 // two\n}',
        '{\n  "a": 1, // one\n  /* x\n */ "b": 2, // two\n}\n',
        '{"a": "//x" /* , */}',
        '{\n "servers": { // own\n  // more\n }\n}',
        '{\r\n  "a": 1 // one\r\n}\r\n',
        '// before\n{"a": "/* no comment */"}\n// after\n',
    ],
)
def test_comments_stay_where_they_are(text: str) -> None:
    after = JsonText(text, has_comments=True).with_value(KEYS, ENTRY)
    read = JsonText(after, has_comments=True)
    assert read.value["servers"]["sesame"] == ENTRY
    assert read.without(KEYS, made=1) == text


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ('{"servers": {"sesame": 1}, "b": 2}', '{"b": 2}'),
        ('{"servers": {\n  "sesame": {},\n  // next\n  "b": 2,\n}}', '{"servers": {\n  // next\n  "b": 2,\n}}'),
        ('{"a": 1, "servers": {"sesame": 1,},}', '{"a": 1,}'),
        ('{"a": 1, /* mine */ "servers": {"sesame": 1}}', '{"a": 1 /* mine */}'),
    ],
)  # fmt: skip
def test_an_entry_among_others_goes_alone(text: str, left: str) -> None:
    found = JsonText(text, has_comments=True).without(KEYS, made=1)
    JsonText(found, has_comments=True)
    assert found == left


@pytest.mark.parametrize("text", ["{'a': 1}", "{a: 1}", '{"a": 1 /* }', '{"a": Infinity}', '{"a": 1} {}'])
def test_what_is_not_json_is_not_changed(text: str) -> None:
    with pytest.raises(ValueError, match=r"Expecting|Extra data|no number"):
        JsonText(text, has_comments=True)


PATH = ("mcp_servers", "sesame")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "# mine\n",
        "model = 'x' # best\n\n[a]\nb = 1\n",
        "[mcp_servers.other]\ncommand = 'y'\n",
        "[mcp_servers]\nother = { command = 'x' }\n[z]\nq = '''\n[mcp_servers.sesame]\n'''\n",
        "mcp_servers.other.command = 'x'\n",
        'r = """a\\"""""\n[[rows]]\nx = [1, # ]\n 2]\n\n[[rows]]\nx = []\n',
        'a = "["\r\n[b]\r\n"c.d" = 1979-05-27 07:32:00\r\n',
        "[projects.\"/w/[x]\"]\ntrust_level = 'trusted'\n",
    ],
)
def test_a_table_comes_into_any_toml_and_goes_again(text: str) -> None:
    after = TomlText(text).with_value(PATH, ENTRY)
    assert after.startswith(text)
    assert tomllib.loads(after)["mcp_servers"]["sesame"] == ENTRY
    assert TomlText(after).without(PATH) == text


@pytest.mark.parametrize(
    ("text", "left"),
    [
        (
            "[mcp_servers.sesame]\ncommand = 'old'  # mine\nargs = [\n 'mcp', # x\n]\nenabled = false\n\n"
            "[mcp_servers.sesame.env]\nA = '1'\n\n[x]\ny = 1\n",
            "[x]\ny = 1\n",
        ),
        ("[mcp_servers]\nsesame.command = 'a'\nsesame.args = []\nz = 1\n", "[mcp_servers]\nz = 1\n"),
        ("[mcp_servers]\nsesame = { command = 'a' }\n# end\n", "[mcp_servers]\n# end\n"),
        ('[ mcp_servers . "sesame" ] # here\ncommand = "q"\n[mcp_servers.sesame.tools.x]\ny = "z"\n', ""),
        ("[mcp_servers.sesame.env]\nA = '1'", ""),
        ("mcp_servers = { other = { a = 'x' }, sesame = {} }\n", 'mcp_servers = { other = { a = "x" } }\n'),
    ],
)  # fmt: skip
def test_an_entry_in_any_of_tomls_forms_is_changed_in_its_place_and_removed(text: str, left: str) -> None:
    read = TomlText(text)
    new = {**read.value["mcp_servers"]["sesame"], **ENTRY, "env": {"B": "2"}}
    after = TomlText(read.with_value(PATH, new))
    assert after.value == {**read.value, "mcp_servers": {**read.value["mcp_servers"], "sesame": new}}
    for comment in ("# mine", "# end", "# here"):
        assert (comment in text) == (comment in after.with_value(PATH, new))
    assert TomlText(text).without(PATH).lstrip("\n") == left
