"""The pictures of the README are what the program draws: `python -m tests.docs.pictures` renews them."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from .pictures import PICTURES, PLACE, THEMES, drawn, settle, taken, text_in, text_of

README = (PLACE.parents[1] / "README.md").read_text(encoding="utf-8")
FILES = [f"{name}-{theme}.svg" for name in PICTURES for theme in THEMES]


def test_the_readme_shows_every_picture_light_and_dark() -> None:
    assert sorted(re.findall(r"docs/pictures/([\w-]+\.svg)", README)) == sorted(FILES)
    assert sorted(path.name for path in PLACE.iterdir()) == sorted(FILES)


@pytest.mark.parametrize("file", FILES)
def test_a_picture_is_small_and_only_draws(file: str) -> None:
    text = (PLACE / file).read_text(encoding="utf-8")
    assert len(text) < 40_000
    kinds = {element.tag.partition("}")[2] for element in ET.fromstring(text).iter()}
    assert kinds == {"svg", "rect", "g", "text", "tspan"}
    assert not re.search(r"href|url\(|style=|\bon\w+=", text)


@pytest.mark.once
@pytest.mark.parametrize("name", PICTURES)
def test_the_text_of_a_picture_is_what_the_program_draws(name: str, home: Path) -> None:
    settle(home)
    screen = taken(PICTURES[name])
    shown = text_of(screen)
    for theme, colours in THEMES.items():
        text = (PLACE / f"{name}-{theme}.svg").read_text(encoding="utf-8")
        kept = text_in(text)
        assert (kept[1:] if PICTURES[name].is_typed else kept) == shown, "renew it: python -m tests.docs.pictures"
        assert text_in(drawn(PICTURES[name], screen, colours)) == kept
