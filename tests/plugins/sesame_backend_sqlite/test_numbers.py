"""Sets of sessions, in Python and as conditions of SQL, compared with each other."""

from __future__ import annotations

import itertools
import sqlite3

import pytest

from sesame_backend_sqlite.numbers import DENSE, EVERYTHING, Numbers

ALL = frozenset(range(1, 9))
SETS = [EVERYTHING, EVERYTHING.not_(), Numbers(frozenset({1, 2, 5})), Numbers(frozenset({2, 3})).not_()]


def members(numbers: Numbers) -> frozenset[int]:
    return ALL - numbers.listed if numbers.is_rest else numbers.listed


@pytest.mark.parametrize(("one", "other"), [*itertools.product(SETS, SETS)])
def test_both_sets_have_what_each_of_them_has(one: Numbers, other: Numbers) -> None:
    assert members(one.and_(other)) == members(one) & members(other)


@pytest.mark.parametrize("numbers", SETS)
def test_the_condition_selects_the_members_and_its_negation_the_others(numbers: Numbers) -> None:
    db = sqlite3.connect(":memory:")
    try:
        db.execute("CREATE TABLE sessions (id INTEGER PRIMARY KEY)")
        db.executemany("INSERT INTO sessions VALUES (?)", [(number,) for number in ALL])
        for each, wanted in ((numbers, members(numbers)), (numbers.not_(), ALL - members(numbers))):
            for condition in (each.on("+id"), each.among("id")):
                found = db.execute(f"SELECT id FROM sessions{condition.where()}", condition.values)
                assert {number for (number,) in found} == wanted
            assert each.count(db) == len(wanted)
    finally:
        db.close()


@pytest.mark.parametrize("listed", [{3, 7}, {3, DENSE - 1}, {3, DENSE}, {DENSE + 5}])
def test_numbers_above_all_others_are_told_apart_too(listed: set[int]) -> None:
    asked = {0, 3, 7, DENSE - 1, DENSE, DENSE + 5, DENSE * 9}
    db = sqlite3.connect(":memory:")
    try:
        db.execute("CREATE TABLE rows (number INTEGER)")
        db.executemany("INSERT INTO rows VALUES (?)", [(number,) for number in asked])
        numbers = Numbers(frozenset(listed))
        for each, wanted in ((numbers, listed & asked), (numbers.not_(), asked - listed)):
            condition = each.among("number")
            found = db.execute(f"SELECT number FROM rows WHERE {condition.sql}", condition.values)
            assert {number for (number,) in found} == wanted
    finally:
        db.close()
