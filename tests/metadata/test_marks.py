"""What a person marks sessions with, on every backend: found, shown, and never lost."""

from __future__ import annotations

import json
import os
import shutil
import stat
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from sesame_core import Sesame
from sesame_core.errors import ParseError, QueryError, UnknownSessionError
from sesame_core.metadata.directory import id_of
from sesame_core.metadata.files import Metadata
from sesame_core.types.query import Filters

from ..support.every_backend import BACKENDS, indexed

SESSIONS = {
    "otter-1": ["Why does the flake need so long?", "Show me the derivation."],
    "otter-2": ["Sort the otters by weight."],
    "otter-3": ["A third one, about flakes."],
}


@pytest.fixture(params=BACKENDS)
def sesame(request: pytest.FixtureRequest, home: Path, tmp_path: Path) -> Iterator[Sesame]:
    with indexed(request, tmp_path, SESSIONS) as sesame:
        yield sesame


def ids(sesame: Sesame, query: str = "", filters: Filters | None = None) -> set[str]:
    return {hit.session.id for hit in sesame.search(query, filters).hits}


def listed(sesame: Sesame, filters: Filters) -> set[str]:
    return {stored.session.id for stored in sesame.list_sessions(filters)[0]}


def directory(sesame: Sesame) -> Path:
    return sesame.config.describe.directory


def is_private(sesame: Sesame) -> bool:
    return sesame.config.backend.name != "postgres"


def marked(sesame: Sesame) -> None:
    sesame.mark("otter-1", starred=True, tags=["Nix", "release train"], name="The slow flake", note="ask Quagga")


def assert_marked(sesame: Sesame) -> None:
    (stored,) = sesame.list_sessions(Filters(starred=True))[0]
    notes = stored.session.notes
    assert notes is not None
    assert (stored.session.id, stored.session.name) == ("otter-1", "The slow flake")
    assert (notes.is_starred, notes.tags, notes.note) == (True, ("Nix", "release train"), "ask Quagga")
    assert ids(sesame, "is:starred") == ids(sesame, "tag:nix") == ids(sesame, 'tag:"Release Train"') == {"otter-1"}
    assert ids(sesame, "quagga") == ({"otter-1"} if is_private(sesame) else set())


def test_a_marked_session_is_found_by_its_star_its_tags_its_name_and_its_note(sesame: Sesame) -> None:
    marked(sesame)
    assert_marked(sesame)
    assert sesame.get_session("the slow flake").session.id == "otter-1"
    assert [one.stored and one.stored.session.name for one in sesame.resolve(["slow-flake", "otter-1"])] == [
        "The slow flake",
        "The slow flake",
    ]
    (hit,) = sesame.search("derivation").hits
    assert hit.session.notes is not None
    assert hit.session.notes.is_starred


def test_marks_combine_with_words_and_with_each_other(sesame: Sesame) -> None:
    sesame.mark("otter-1", starred=True, tags=["nix"])
    sesame.mark("otter-3", tags=["nix", "slow"])
    sesame.mark("otter-2", starred=True)
    assert ids(sesame, "flake tag:nix") == {"otter-1", "otter-3"}
    assert ids(sesame, "flake is:starred") == {"otter-1"}
    assert ids(sesame, "flake -is:starred") == {"otter-3"}
    assert ids(sesame, "-tag:nix") == {"otter-2"}
    assert ids(sesame, "tag:nix tag:slow") == {"otter-3"}
    assert ids(sesame, "tag:slow OR is:starred") == {"otter-1", "otter-2", "otter-3"}
    assert listed(sesame, Filters(starred=True, tags=("NIX",))) == {"otter-1"}
    assert ids(sesame, "tag:nix", Filters(tags=("slow",))) == {"otter-3"}
    assert ids(sesame, "is:starred", Filters(starred=True)) == {"otter-1", "otter-2"}


def test_without_a_mark_nothing_is_starred_and_the_answer_says_so(sesame: Sesame) -> None:
    answer = sesame.search("flake is:starred")
    assert (answer.total, answer.left_out) == (0, {"starred": 2})
    assert sesame.search("tag:nix").total == 0


def test_marks_are_taken_away_again(sesame: Sesame) -> None:
    marked(sesame)
    sesame.mark("otter-1", starred=False, without=["NIX", "release train"], name="", note="")
    assert list(directory(sesame).glob("*.marks.json")) == []
    assert ids(sesame, "is:starred") == ids(sesame, "tag:nix") == ids(sesame, "quagga") == set()
    stored = sesame.get_session("otter-1")
    assert (stored.session.notes, stored.session.name) == (None, None)


def test_marks_survive_a_full_run_a_grown_file_and_a_moved_one(sesame: Sesame) -> None:
    marked(sesame)
    sesame.index(full=True)
    assert_marked(sesame)
    (source,) = sesame.config.sources
    assert source.path is not None
    with (source.path / "otter-1.jsonl").open("a") as file:
        file.write(json.dumps({"type": "message", "id": "m9", "role": "user", "text": "And the cellar?"}) + "\n")
    sesame.index()
    assert ids(sesame, "cellar is:starred") == {"otter-1"}
    assert_marked(sesame)
    (source.path / "below").mkdir()
    (source.path / "otter-1.jsonl").rename(source.path / "below" / "renamed.jsonl")
    sesame.index()
    assert_marked(sesame)


def test_marks_survive_being_forgotten(sesame: Sesame) -> None:
    marked(sesame)
    sesame.forget("otter-1")
    sesame.index(full=True)
    assert ids(sesame, "is:starred") == set()
    assert [id_of(str(path)) for path in directory(sesame).glob("*.marks.json")] == ["otter-1"]


def test_a_description_by_a_model_leaves_what_a_person_wrote(sesame: Sesame) -> None:
    marked(sesame)
    files = sesame.metadata()
    texts = {"name": "Weights", "description": "Otters are sorted.", "summary": "# All", "cwd": "", "model": "m"}
    about = {"session_file": "x", "created_at": "", "updated_at": "", "last_indexed_leaf_id": "", **texts}
    files.write(Metadata(session_id="otter-1", tags=("NIX", "weights"), **about))
    sesame.index()
    notes = sesame.get_session("otter-1").session.notes
    assert notes is not None
    assert (notes.title, notes.description, notes.tags) == (
        "The slow flake",
        "Otters are sorted.",
        ("Nix", "release train", "weights"),
    )
    assert ids(sesame, "tag:weights") == {"otter-1"}
    sesame.mark("otter-1", without=["Weights"])
    assert ids(sesame, "tag:weights") == set()
    files.write(Metadata(session_id="otter-1", tags=("weights",), **about))
    sesame.index()
    assert ids(sesame, "tag:weights") == set()
    sesame.mark("otter-1", tags=["weights"])
    assert ids(sesame, "tag:weights") == {"otter-1"}


def test_a_marked_session_still_counts_as_not_described(sesame: Sesame) -> None:
    marked(sesame)
    assert {stored.session.id for stored in sesame.undescribed()} == set(SESSIONS)


def test_a_file_of_marks_from_another_workstation_is_taken_in(sesame: Sesame, tmp_path: Path) -> None:
    """As a program that synchronises directories writes it."""
    marked(sesame)
    (file,) = directory(sesame).glob("*.marks.json")
    shutil.copy(file, tmp_path / file.name)
    sesame.mark("otter-1", starred=False, without=["nix", "release train"], name="", note="")
    shutil.copy(tmp_path / file.name, file)
    sesame.index()
    assert_marked(sesame)
    file.unlink()
    sesame.index()
    assert ids(sesame, "is:starred") == ids(sesame, "quagga") == set()


def test_marks_reach_a_second_workstation_that_has_the_sessions_and_the_files(
    sesame: Sesame, request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    marked(sesame)
    monkeypatch.setenv("SESAME_WORKSTATION_ID", "the-laptop")
    place = tmp_path / "laptop"
    place.mkdir()
    request.param = request.node.callspec.params["sesame"]
    with indexed(request, place, SESSIONS) as laptop:
        assert ids(laptop, "is:starred") == set()
        shutil.copytree(directory(sesame), directory(laptop), dirs_exist_ok=True)
        laptop.index()
        assert_marked(laptop)
        laptop.index(full=True)
        assert_marked(laptop)
        laptop.mark("otter-2", starred=True)
        assert ids(laptop, "is:starred") == {"otter-1", "otter-2"}
    assert_marked(sesame)


def test_a_file_of_marks_that_is_not_valid_counts_as_missing_and_is_not_overwritten(sesame: Sesame) -> None:
    marked(sesame)
    (file,) = directory(sesame).glob("*.marks.json")
    for text in ("{", "[]", '{"sessionId": "otter-2"}', '{"sessionId": "otter-1", "starred": 1}'):
        file.write_text(text)
        os.utime(file, ns=(file.stat().st_mtime_ns + 10**6,) * 2)
        assert ids(sesame, "is:starred") == set(), text
        with pytest.raises(ParseError, match="no valid marks"):
            sesame.mark("otter-1", starred=True)
        assert file.read_text() == text
        if is_private(sesame):
            assert [one.path for one in sesame.index().errors] == [str(file)]


def test_no_index_has_a_star(sesame: Sesame) -> None:
    """What only this person sees is added to the answers."""
    sesame.mark("otter-1", starred=True, tags=["nix"])
    sesame.mark("otter-2", starred=True)
    sesame.index(full=True)
    for file in directory(sesame).glob("*.marks.json"):
        file.unlink()
    for stored in sesame.list_sessions()[0]:
        assert not (stored.session.notes and stored.session.notes.is_starred)


def test_only_its_owner_can_read_a_file_of_marks(sesame: Sesame) -> None:
    marked(sesame)
    (file,) = directory(sesame).glob("*.marks.json")
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


def test_marks_given_at_the_same_time_are_all_kept(sesame: Sesame) -> None:
    if sesame.config.backend.name == "memory":
        pytest.skip("its index is of one process")

    def give(tag: str) -> None:
        with Sesame(sesame.config) as other:
            other.mark("otter-1", tags=[tag])

    threads = [threading.Thread(target=give, args=(f"tag-{number}",)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    notes = sesame.get_session("otter-1").session.notes
    assert notes is not None
    assert sorted(notes.tags) == [f"tag-{number}" for number in range(6)]


@pytest.mark.parametrize(
    ("given", "kept"),
    [("#nix", "nix"), ("  release \n train ", "release train"), ("日本", "日本"), ("a/b:c", "a/b:c"), ("#1", "1")],
)
def test_a_tag_is_kept_on_one_line_without_its_sign(given: str, kept: str, home: Path, tmp_path: Path) -> None:
    from sesame_core.metadata.marks import tags_of

    assert tags_of([given, kept.upper()]) == (kept,)


@pytest.mark.parametrize(
    "given", [{"tags": [" "]}, {"tags": ["x" * 61]}, {"name": " \n"}, {"name": "x" * 121}, {"note": " "}]
)
def test_an_empty_or_endless_mark_is_refused(sesame: Sesame, given: dict[str, object]) -> None:
    with pytest.raises(QueryError):
        sesame.mark("otter-1", **given)  # type: ignore[arg-type]
    assert not directory(sesame).exists()


def test_a_session_that_does_not_exist_is_not_marked(sesame: Sesame) -> None:
    with pytest.raises(UnknownSessionError):
        sesame.mark("walrus", starred=True)


def test_tags_are_known_values(sesame: Sesame) -> None:
    marked(sesame)
    assert sorted(sesame.known_values("tags")) == ["Nix", "release train"]
