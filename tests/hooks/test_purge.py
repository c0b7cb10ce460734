"""What was deleted for good is in no file of memtui's and in no directory of memories, also after later turns."""

import json
from pathlib import Path

import pytest
from launching import Home

from memtui.base import fastjson_hot
from memtui.deliver import log_hot
from memtui.store.store import Store
from memtui.store.versions import trash
from waiting import eventually

WORD = "zorkmid"


@pytest.fixture
def home(tmp_path):
    found = Home(tmp_path)
    found.settings("")
    return found


def files_with(home, word=WORD):
    """The files below the client's and memtui's directories that hold a word, but for the journal's summaries."""
    every = [each for each in home.config.rglob("*") if each.is_file()]
    return [each.relative_to(home.config).as_posix() for each in every if word.encode() in each.read_bytes()]


def rows(path):
    """The records of a log."""
    return [json.loads(line) for line in Path(path).read_text().splitlines()]


def indexes(home):
    """The indexes of recall that are whole: each is published after its segment."""
    return list(home.root.glob("recall/*.index"))


def store(home):
    return Store(home.env, str(home.project))


def memory(home, name, description, body):
    made = store(home)
    return made.create(made.scope("global"), name, description, "feedback", body)


@pytest.fixture
def told(home):
    """A home in which sessions were told of two memories, in the index and by recall."""
    memory(home, "other", "Dates are written in ISO 8601", "Write each date as 2026-11-28.")
    memory(home, "ports", f"The API port of {WORD}", f"The API listens on port 8081, says the {WORD} handbook.")
    memory(home, "third", "The tests need Docker", "Start Docker before the tests run.")
    home.start()
    home.hook("Stop")
    assert eventually(lambda: indexes(home))
    home.start(session="s2")
    assert WORD in home.prompt("s2", prompt="which port does the API listen on?").context
    store(home).edit(store(home).find("ports"), {"description": f"The API port, by {WORD}"})
    home.prompt("s2", prompt="and now?")
    assert WORD not in home.prompt("s2", prompt="why do the tests need Docker to run?").context
    home.hook("Stop", "s2")
    return home


@pytest.mark.slow
def test_no_word_of_a_purged_memory_is_left_and_deliveries_keep_the_rest(told):
    path = log_hot.months(str(told.root))[0]
    before, size = rows(path), Path(path).stat().st_size
    places = files_with(told)
    assert any("deliveries-" in each for each in places)
    assert any(each.endswith(".segment") for each in places)
    assert any(each.endswith(".index.json") for each in places)
    kept = store(told)
    assert (kept.erase(kept.find("ports")), files_with(told), Path(path).stat().st_size) == (0, [], size)
    for old, new in zip(before, rows(path), strict=True):
        text = old.pop("text", "")
        assert new.pop("text", "") == ("" if WORD in text else text)
        marks = {key: new.pop(key) for key in ("folded", "text_hash") if key in new}
        assert (marks.get("folded", False), old) == (WORD in text, new)
    assert any("Docker" in each.get("text", "") for each in rows(path))
    told.hook("Stop", "s2")
    told.start(session="s3")
    told.hook("Stop", "s3")
    assert eventually(lambda: indexes(told))
    assert files_with(told) == []
    gone = told.prompt("s2", prompt="what else?").context
    assert WORD not in gone
    assert "- ports" in gone
    assert "Docker" in told.prompt("s3", prompt="why do the tests need Docker to run?").context
    assert files_with(told) == []


def test_a_text_with_quotes_and_backslashes_is_dropped_whole(home):
    text = 'He said "text": "x\\" and\n\\u1234 — ' + WORD
    for number in range(3):
        row = {
            "v": 1,
            "id": f"D{number}",
            "text": text if number == 1 else "n",
            "items": [{"text": text, "reason": WORD}],
        }
        log_hot.append(str(home.root), row, 1.8e9)
    trash.fold_records(str(home.root), lambda record: record["id"] == "D1", WORD.__eq__)
    found = [fastjson_hot.loads_dict(line) for _, line in log_hot.lines(str(home.root))]
    assert [each.get("text") for each in found] == ["n", None, "n"]
    assert [each.get("folded") for each in found] == [None, True, None]
    assert [each["items"] for each in found] == [[{"text": text, "reason": why}] for why in (WORD, "", WORD)]


def test_proposals_about_it_are_dropped_and_the_others_stay(home):
    made = memory(home, "ports", f"The API port of {WORD}", "The API listens on port 8081.")
    about = {"id": "a", "files": [{"path": made.path}]}
    quoting = {"id": "b", "files": [{"path": "/x.md", "text": f"x\n\nThe API port of {WORD}\n"}]}
    other = {"id": "c", "files": [{"path": "/y.md", "text": "Dates are in ISO 8601."}]}
    proposals = home.root / "proposals"
    proposals.mkdir()
    (proposals / "1.json").write_text(json.dumps({"version": 1, "changes": [about, other, quoting]}))
    (proposals / "2.json").write_text(json.dumps({"version": 1, "changes": [about]}))
    store(home).erase(made)
    assert json.loads((proposals / "1.json").read_text()) == {"version": 1, "changes": [other]}
    assert [each.name for each in proposals.iterdir()] == ["1.json"]
