"""`in:` takes a directory or a repository by whichever of its names it is called."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from sesame_core.errors import QueryError
from sesame_core.query.fields import gathered, read
from sesame_core.query.here import here
from sesame_core.query.parser import parse
from sesame_core.types.query import Filters

NAMES = {
    "lantern": "lantern",
    "lantern-cli": "lantern-cli",
    "ann/lantern": "ann/lantern",
    "github.com/ann/lantern": "github.com/ann/lantern",
    "lantern/": "lantern",
    ".dotfiles": ".dotfiles",
    "my code": "my code",
    "日記": "日記",
    "a@b": "a@b",
    "site.git": "site.git",
    "https://github.com/ann/lantern": "github.com/ann/lantern",
    "https://github.com/ann/lantern.git": "github.com/ann/lantern",
    "https://ann@example.org:8443/ann/lantern/": "example.org/ann/lantern",
    "ssh://git@example.org:2222/ann/lantern.git": "example.org/ann/lantern",
    "git+ssh://git@example.org/ann/lantern": "example.org/ann/lantern",
    "git@github.com:ann/lantern.git": "github.com/ann/lantern",
}
DIRECTORIES = {
    "/w/app": "/w/app",
    "/w/app/": "/w/app",
    "/w/app/../lib": "/w/lib",
    "/": "/",
    "C:\\Users\\Ann": "C:\\Users\\Ann",
    "c:/users/ann": "c:\\users\\ann",
    "\\\\server\\share": "\\\\server\\share",
}


@pytest.mark.parametrize(("place", "name"), NAMES.items())
def test_a_name_or_an_address_is_a_repository(place: str, name: str) -> None:
    assert read("in", place) == gathered({"in": place}) == parse(f'fox in:"{place}"').filters == Filters(repo=name)


@pytest.mark.parametrize(("place", "directory"), DIRECTORIES.items())
def test_a_path_is_a_directory(place: str, directory: str) -> None:
    assert read("in", place) == gathered({"in": place}) == parse(f'fox in:"{place}"').filters == Filters(cwd=directory)


def test_a_path_may_start_in_the_home_or_here(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (home / "code").mkdir()
    monkeypatch.chdir(home / "code")
    found = {place: read("in", place).cwd for place in ("~", "~/den", "..", "./den", "../den")}
    assert found == {
        "~": str(home),
        "~/den": str(home / "den"),
        "..": str(home),
        "./den": str(home / "code" / "den"),
        "../den": str(home / "den"),
    }


@pytest.mark.parametrize("place", ["here", "Here", "."])
def test_here_is_the_repository_around_this_directory(place: str) -> None:
    assert read("in", place) == Filters(places=here()) == read("is", "here")


def test_a_field_in_a_sentence_is_a_word() -> None:
    assert parse("in: foo").filters == parse("Error: cannot open in:/x").filters == Filters()
    assert not [hint for name in ("int:foo", "bin:ls", "win:x") for hint in parse(name).hints]


def test_several_places_must_all_be_met() -> None:
    assert str(parse("fox in:den in:burrow")) == "fox repo:den repo:burrow"
    assert str(parse("fox -in:den")) == "fox -repo:den"
    assert gathered({"in": "den", "cwd": "/w"}) == Filters(repo="den", cwd="/w")
    assert gathered({"in": "den", "repo": "den"}) == Filters(repo="den")


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"in": "den", "repo": "burrow"}, "in and repo are two conditions of the same kind: put one of them into the"),
        ({"in": "/w/a", "cwd": "/w/b"}, "in and cwd are two conditions of the same kind"),
        ({"in": " "}, "in: has no value"),
        ({"in": "x" * 5000}, "in: 'xxxxxxxxxxxxxxxxxxxx'… has 5000 characters"),
    ],
)
def test_places_that_cannot_be_combined_are_named(values: dict[str, str], message: str) -> None:
    with pytest.raises(QueryError, match=re.escape(message)):
        gathered(values)
