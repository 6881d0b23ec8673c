"""A class of the core's `dataclass` behaves like one of the standard library's."""

from __future__ import annotations

import copy
import dataclasses
import inspect
import pickle
import subprocess
import sys
from typing import Any

import pytest

from sesame_core import dataclass as light
from sesame_core.types.index import Chunk, IndexedFile


@light.dataclass(slots=True, kw_only=True)
class Light:
    name: str
    size: int = 3
    tags: list[str] = light.field(default_factory=list)
    note: str = light.field(default="", compare=False)


@dataclasses.dataclass(slots=True, kw_only=True)
class Standard:
    name: str
    size: int = 3
    tags: list[str] = dataclasses.field(default_factory=list)
    note: str = dataclasses.field(default="", compare=False)


@light.dataclass(frozen=True, slots=True)
class LightPair:
    left: int
    right: int = 2


@dataclasses.dataclass(frozen=True, slots=True)
class StandardPair:
    left: int
    right: int = 2


BOTH = pytest.mark.parametrize("cls", [Light, Standard])
PAIRS = pytest.mark.parametrize("cls", [LightPair, StandardPair])


@BOTH
def test_fields_have_values_and_defaults(cls: Any) -> None:
    one, other = cls(name="a"), cls(name="a", size=4, note="n")
    assert (one.name, one.size, one.tags, one.note) == ("a", 3, [], "")
    assert (other.size, other.note) == (4, "n")
    assert one.tags is not other.tags
    assert repr(one) == f"{cls.__name__}(name='a', size=3, tags=[], note='')"


@BOTH
def test_instances_are_compared_by_their_fields(cls: Any) -> None:
    assert cls(name="a") == cls(name="a", note="other")
    assert cls(name="a") != cls(name="b")
    assert cls(name="a") != ("a", 3, [], "")
    with pytest.raises(TypeError, match="unhashable"):
        hash(cls(name="a"))


@BOTH
def test_wrong_arguments_are_type_errors(cls: Any) -> None:
    for arguments, values, message in (
        ((), {}, "missing 1 required keyword-only argument: 'name'"),
        ((), {"name": "a", "nme": "b"}, "unexpected keyword argument 'nme'"),
        ((), {"nme": "a"}, "unexpected keyword argument 'nme'"),
        (("a",), {}, "1 positional argument but 2 were given|positional argument"),
    ):
        with pytest.raises(TypeError, match=message):
            cls(*arguments, **values)


@BOTH
def test_there_are_no_other_attributes(cls: Any) -> None:
    with pytest.raises(AttributeError):
        cls(name="a").nme = "b"


@BOTH
def test_the_standard_library_takes_it_for_its_own(cls: Any) -> None:
    one = cls(name="a", tags=["x"])
    names = ["name", "size", "tags", "note"]
    assert [field.name for field in dataclasses.fields(one)] == names
    assert dataclasses.asdict(one) == {"name": "a", "size": 3, "tags": ["x"], "note": ""}
    assert list(inspect.signature(cls).parameters) == names
    changed = dataclasses.replace(one, size=5)
    assert type(changed) is cls
    assert changed == light.replace(one, size=5) == cls(name="a", size=5, tags=["x"])


@PAIRS
def test_a_frozen_one_is_a_key_and_a_pattern_and_stays_as_it_is(cls: Any) -> None:
    pair = cls(1)
    assert {pair: "found"}[cls(1, 2)] == "found"
    match pair:
        case cls(left, right):
            assert (left, right) == (1, 2)
    for change in (lambda: setattr(pair, "left", 5), lambda: delattr(pair, "left")):
        with pytest.raises(dataclasses.FrozenInstanceError):
            change()
    for arguments in ((), (1, 2, 3)):
        with pytest.raises(TypeError):
            cls(*arguments)
    with pytest.raises(TypeError, match="multiple values"):
        cls(1, left=1)


@pytest.mark.parametrize("value", [LightPair(1), StandardPair(1), Light(name="a"), Standard(name="a")])
def test_copies_are_equal(value: Any) -> None:
    assert copy.copy(value) == copy.deepcopy(value) == pickle.loads(pickle.dumps(value)) == value


def test_after_many_instances_the_compiled_method_does_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(light, "LOOPED", 3)

    @light.dataclass(frozen=True, slots=True, kw_only=True)
    class Many:
        number: int
        tags: list[str] = light.field(default_factory=list)

    first = Many.__init__
    made = [Many(number=number) for number in range(6)]
    assert Many.__init__ is not first
    assert [one.number for one in made] == [*range(6)]
    assert made[5] == Many(number=5)
    assert made[4].tags is not made[5].tags
    with pytest.raises(TypeError, match="missing 1 required"):
        Many()  # type: ignore[call-arg]


def test_a_dataclass_without_slots_is_refused() -> None:
    with pytest.raises(TypeError, match="slots"):
        light.dataclass(slots=False)


def test_a_method_that_would_never_be_called_is_refused() -> None:
    with pytest.raises(TypeError, match="__post_init__"):

        @light.dataclass(slots=True)
        class Checked:
            name: str

            def __post_init__(self) -> None: ...


def test_defining_and_using_one_does_not_load_the_standard_librarys() -> None:
    code = (
        "import sys; from sesame_core.types.index import Chunk; from sesame_core.dataclass import replace\n"
        "one = Chunk(kind='message', text='x')\n"
        "assert replace(one, seq=1) != one == replace(one)\n"
        "print('dataclasses' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"


def test_a_public_noun_is_described_by_the_standard_library() -> None:
    assert {"path", "parser", "mtime_ns"} <= {field.name for field in dataclasses.fields(IndexedFile)}
    assert dataclasses.is_dataclass(Chunk)
    assert dataclasses.replace(Chunk(kind="message", text="a"), seq=4).seq == 4
