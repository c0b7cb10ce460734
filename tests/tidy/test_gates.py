"""The gates before an unattended dream, each by itself, for each project and for the memories of all."""

import json
import os

import pytest

from memtui.base import fs_hot, paths_hot
from memtui.base.errors import ConflictError
from memtui.tidy import gates
from memtui.tidy.gates import GLOBAL

NOW = 1_795_000_000.0
HOUR = 3600.0
SHOP, SITE = (paths_hot.project_key(path) for path in ("/home/you/shop", "/home/you/site"))


@pytest.fixture
def root(tmp_path):
    fs_hot.write_atomic(f"{tmp_path}/config.toml", b"dream = true\n")
    return str(tmp_path)


def seen(root, count, at, project="/home/you/shop"):
    state = {"v": 1, "project": paths_hot.project_key(project), "project_root": project}
    for number in range(count):
        for name in (f"{project[-1]}{number}.json", f"{project[-1]}{number}.cursor.json"):
            path = f"{root}/sessions/{name}"
            fs_hot.write_atomic(path, json.dumps(state).encode())
            os.utime(path, (at, at))


def dreamt(root, at, *parts):
    with gates.held(root, parts or [SHOP], at) as note_end:
        note_end([])


def test_at_first_only_sessions_of_the_project_are_missing(root):
    assert gates.sessions_missing(root, SHOP) == 5
    seen(root, 4, NOW)
    seen(root, 1, NOW, "/home/you/site")
    assert (gates.begin(root, [SHOP, SITE], NOW), gates.begin(root, [GLOBAL], NOW)) == ([], [GLOBAL])
    seen(root, 5, NOW)
    assert gates.begin(root, [SHOP], NOW) == [SHOP]


def test_a_day_passes_between_two_of_one_project_and_none_for_another(root):
    dreamt(root, NOW, SHOP, GLOBAL)
    assert (gates.last(root, SHOP), gates.last(root, SITE)) == (NOW, 0)
    seen(root, 9, NOW + HOUR)
    seen(root, 5, NOW + HOUR, "/home/you/site")
    assert gates.begin(root, [SITE, GLOBAL], NOW + HOUR) == [SITE]
    assert gates.begin(root, [SHOP, GLOBAL], NOW + 23 * HOUR) == []
    assert gates.begin(root, [SHOP, GLOBAL], NOW + 24 * HOUR) == [SHOP, GLOBAL]


def test_one_that_fails_is_begun_again_after_ten_minutes(root):
    seen(root, 5, NOW)
    assert gates.begin(root, [SHOP], NOW)
    assert not gates.begin(root, [SHOP], NOW + 599)
    assert gates.begin(root, [SHOP], NOW + 600)


def test_one_is_at_it_at_a_time_in_a_project(root):
    with gates.held(root, [SHOP, GLOBAL], NOW), gates.held(root, [SITE], NOW):
        for part in (SHOP, GLOBAL):
            with pytest.raises(ConflictError), gates.held(root, [part], NOW + 1):
                pass
    dreamt(root, NOW + 2)
    assert gates.last(root, SHOP) == NOW + 2
