"""The HTTP API: the JSON of the command line, as its description says."""

from __future__ import annotations

import json
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

import httpx2
import pytest
from pydantic import TypeAdapter

from sesame_core.rendering.schemas.described import schema
from sesame_core.rendering.schemas.openapi import document
from sesame_core.web.api import ENDPOINTS

from ..support.web_client import served

#: A call of each endpoint that is read, and the command line with the same answer.
CALLS = {
    "/search?q=nix&limit=2&agent=pi": "search nix --agent pi --limit 2",
    "/search?q=websocket+delay&hits=3&error=1": "search websocket delay --hits 3 --error",
    "/search?limit=3&offset=2": "search --limit 3 --offset 2",
    "/sessions?limit=2&offset=1": "sessions --limit 2 --offset 1",
    "/sessions/d6bc": "show d6bc --limit 0",
    "/messages/d6bc?offset=2&limit=4": "show d6bc --offset 2 --limit 4",
    "/marks/d6bc": "",
    "/status": "status",
}


def test_every_answer_is_that_of_the_command_line_and_as_declared(
    visitor: httpx2.Client, cli: Callable[..., Any]
) -> None:
    seen = set()
    for call, line in CALLS.items():
        answer = visitor.get(f"/api{call}")
        assert answer.status_code == 200, (call, answer.text)
        (declared,) = (one for one in ENDPOINTS if matches(one.path, call) and not one.sent)
        seen.add(declared.path)
        TypeAdapter(type_of(declared.answer)).validate_python(answer.json(), strict=True, extra="forbid")
        if line:
            ran = cli(*line.split(), "--json")
            assert steady(answer.json()) == steady(ran.json), call
    assert seen == {one.path for one in ENDPOINTS}


def matches(path: str, call: str) -> bool:
    parts = call.partition("?")[0].split("/")
    return len(parts) == len(path.split("/")) and parts[1] == path.split("/")[1]


def type_of(name: str) -> Any:
    module, _, kind = name.rpartition(".")
    return getattr(import_module(f"sesame_core.rendering.schemas.{module}"), kind)


def steady(value: dict[str, Any]) -> dict[str, Any]:
    """The answer without what a refresh has just found: the command line may be a moment later."""
    return {name: of for name, of in value.items() if name not in ("index", "bytes")}


def test_a_session_is_marked_and_an_invalid_mark_is_said_in_json(visitor: httpx2.Client) -> None:
    made = visitor.post("/api/marks/d6bc", json={"starred": True, "tag": ["nix"], "name": "A name", "note": "read it"})
    (marked,) = made.json()["sessions"]
    assert (marked["starred"], marked["tags"], marked["name"], marked["note"]) == (True, ["nix"], "A name", "read it")
    assert visitor.get("/api/search", params={"q": "tag:nix"}).json()["total"] == 1
    for body, status in (
        ({}, 400),
        ({"starred": "perhaps"}, 400),
        ({"tag": "a" * 1000}, 400),
        ({"tag": [1]}, 400),
        ({"note": None}, 400),
        ([], 400),
    ):
        answer = visitor.post("/api/marks/d6bc", json=body)
        assert (answer.status_code, set(answer.json())) == (status, {"error"})
    assert visitor.post("/api/marks/nobody", json={"starred": True}).status_code == 404
    assert visitor.post("/api/marks/d6bc", content="{", headers={"Content-Type": "application/json"}).status_code == 400
    assert visitor.post("/api/marks/d6bc", data={"starred": "1"}).status_code == 415


def test_what_is_wrong_is_one_line_of_json(visitor: httpx2.Client) -> None:
    for call, status in (
        ("/sessions/nobody", 404),
        ("/messages/nobody", 404),
        ("/nothing", 404),
        ("/search?limit=-1", 400),
        ("/search?limit=99999999999999999999", 400),
        ("/search?after=never", 400),
        ("/search?role=queen", 400),
        ("/messages/d6bc?offset=x", 400),
    ):
        answer = visitor.get(f"/api{call}")
        assert (answer.status_code, set(answer.json())) == (status, {"error"}), call
        assert "\n" not in answer.json()["error"]


def test_a_program_has_the_password_as_a_bearer(indexed_sessions: Path) -> None:
    password = "a-password-of-thirty-characters"
    with served(SESAME_WEB_PASSWORD=password) as server, server.stranger() as program:
        assert program.get("/api/status").status_code == 401
        assert program.get("/api/status", headers={"Authorization": "Bearer wrong"}).status_code == 401
        answer = program.get("/api/status", headers={"Authorization": f"Bearer {password}"})
        assert answer.json()["sessions"]
        with server.visitor(token=password) as browser:
            assert browser.get("/").status_code == 200


def test_the_description_has_every_endpoint_and_the_schema_of_its_answer(visitor: httpx2.Client) -> None:
    described = visitor.get("/api/openapi.json").json()
    assert described == json.loads(json.dumps(document(ENDPOINTS)))
    assert set(described["paths"]) == {f"/api{one.path}" for one in ENDPOINTS}
    schemas = described["components"]["schemas"]
    for endpoint in ENDPOINTS:
        ours = dict[str, Any]()
        name = schema(type_of(endpoint.answer), ours)["$ref"].rpartition("/")[2]
        theirs = TypeAdapter(type_of(endpoint.answer)).json_schema()
        assert set(ours[name]["required"]) == set(theirs["required"])
        assert set(ours[name]["properties"]) == set(theirs["properties"])
        assert set(ours) <= set(schemas)


def test_the_answers_pass_the_schemas_of_the_description(visitor: httpx2.Client) -> None:
    jsonschema = pytest.importorskip("jsonschema", reason="the extra mcp is not installed")
    described = visitor.get("/api/openapi.json").json()
    for call in CALLS:
        path = next(one.path for one in ENDPOINTS if matches(one.path, call))
        content = described["paths"][f"/api{path}"]["get"]["responses"]["200"]["content"]
        wanted = {**content["application/json"]["schema"], "components": described["components"]}
        jsonschema.Draft202012Validator(wanted).validate(visitor.get(f"/api{call}").json())
