"""The names for type hints do at run time what the core and its plugins ask of them."""

from __future__ import annotations

import subprocess
import sys
import typing
from abc import ABC, abstractmethod

import pytest

from sesame_core import Provider, protocols, types
from sesame_core.hints import Protocol, get_args, runtime_checkable
from sesame_core.protocols import Parser, TailParser


@runtime_checkable
class Named(Protocol):
    """What has a name and can be greeted."""

    @property
    def name(self) -> str:
        """The name."""

    def greet(self) -> str:
        """Return a greeting."""


class Ann:
    """Has both, and says nothing of it."""

    name = "Ann"

    def greet(self) -> str:
        """Return a greeting."""
        return f"hello, {self.name}"


class Nameless(Named):
    """Says that it is one, and has what it inherits."""


def test_whatever_has_the_methods_of_a_protocol_is_an_instance() -> None:
    assert isinstance(Ann(), Named)
    assert isinstance(Nameless(), Named)
    assert not isinstance(object(), Named)
    assert not isinstance("Ann", Named)


def test_a_class_that_derives_from_a_protocol_is_an_ordinary_one() -> None:
    assert not isinstance(Ann(), Nameless)
    assert isinstance(Nameless(), Nameless)

    class Strict(TailParser, ABC):
        @abstractmethod
        def more(self) -> None:
            """Do more."""

    with pytest.raises(TypeError, match="more"):
        Strict()  # type: ignore[abstract]


def test_a_protocol_that_was_not_made_for_it_is_no_test_of_methods() -> None:
    assert not isinstance(Ann(), Parser)


def test_the_values_of_a_literal_are_known() -> None:
    assert get_args(types.Role) == typing.get_args(types.Role) == protocols_roles()
    assert typing.get_args(types.SessionKind) == ("interactive", "subagent", "headless")


def protocols_roles() -> tuple[str, ...]:
    """Return the roles as the query language knows them."""
    from sesame_core.query import ROLES

    return ROLES


def test_what_stands_for_others_may_be_asked_for_with_those() -> None:
    assert Provider[Parser](name="a", summary="b", create=lambda options: None).name == "a"  # type: ignore[arg-type, return-value]


def test_the_contract_is_loaded_without_the_module_that_it_spares() -> None:
    code = f"import sys; sys.path[:0] = {sys.path!r}; import {protocols.__name__}; print('typing' in sys.modules)"
    done = subprocess.run([sys.executable, "-I", "-S", "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"
