"""The command line and the TUI tell the same: what `--json` prints of the sample world is what the screens show."""

import pytest

from memtui.hooks.install import installation as install
from memtui.views.decisions import DRAFT

from .conftest import Doors

NOW = 1_795_000_000.0


@pytest.fixture
def world(sample_worlds):
    """The sample world with hooks, as `memtui demo --open` makes it."""
    made = sample_worlds.at(NOW)
    install.apply(install.plan(install.settings_path(made.env, made.shop, "user"), "install", env=made.env), by="demo")
    return made


@pytest.fixture
def doors(world, monkeypatch, capsys):
    return Doors(world.env, world.shop, NOW, monkeypatch, capsys)


@pytest.fixture
def told(doors):
    return doors.told


@pytest.fixture
def shown(doors):
    return doors.shown


@pytest.mark.slow
async def test_what_waits(told, shown):
    entries = told("inbox")["entries"]
    drafts = await shown("inbox", lambda app: {row.item.id: row.item.text for row in app.screen.all_rows if row.item})
    folded = [each for each in told("inbox", "--kind", "drafts")["entries"] if each not in entries]
    assert drafts == {each["id"]: each["text"] for each in [*entries, *folded] if each["kind"] in {"draft", "todo"}}
    one_offs = await shown("inbox", lambda app: sum(len(row.folds) for row in app.screen.table.rows if not row.item))
    assert one_offs == len(folded) == told("inbox")["one_offs"] > 0
    notes = await shown(
        "activity",
        lambda app: {
            note.item.id: (note.text, len(note.states))
            for note in app.screen.listing.notes
            if note.item is not None and note.home in {None, app.data.slug}
        },
    )
    listed = told("note", "--list")["entries"]
    assert notes == {each["id"]: (each["text"], len(each["state"])) for each in listed}
    counts = await shown("inbox", lambda app: {**app.data.counts(), **app.data.facts.waiting})
    waiting = told("status")["waiting"]
    assert counts["guidance"] == waiting["guidance"] == len(notes)
    assert waiting["updates"] + waiting["items"] == len(drafts)
    others = [each for each in entries if each["kind"] not in {"draft", "todo"}]
    assert counts["inbox"] == len(drafts) + len(others)


@pytest.mark.slow
async def test_what_approving_writes(told, shown):
    def proposed(app):
        items = [row.item for row in app.screen.all_rows if row.kind is DRAFT]
        drafts = [app.screen.view.draft(item) for item in items]
        free = [each for each in drafts if not each.taken]
        return {each.item.id: (each.scope.label, each.name, each.path, each.data.decode()) for each in free}

    drafts = {each["id"]: told("inbox", each["id"])["becomes"] for each in told("inbox", "--kind", "drafts")["entries"]}
    there = {
        key: (each["scope"], each["name"], each["path"], each["text"])
        for key, each in drafts.items()
        if not each["taken"]
    }
    assert await shown("inbox", proposed) == there != {}


@pytest.mark.slow
async def test_what_is_remembered(told, shown):
    answer = told("list")
    listed, labels = answer["memories"], {each["label"] for each in answer["scopes"]}
    rows = await shown("memories", lambda app: [row for scope, row in app.screen.all_rows if scope.label in labels])
    assert sorted((each["path"], each["description"], each["type"], each["deliveries"]) for each in listed) == sorted(
        (row.memory.path, row.memory.description, row.memory.type, row.deliveries) for row in rows
    )
    assert {each["path"]: len(each["flags"]) for each in listed} == {row.memory.path: len(row.flags) for row in rows}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("wanted", "query"),
    [
        ({}, ""),
        ({"kind": "guidance"}, "kind:notes"),
        ({"outcome": "arrived"}, "is:arrived"),
        ({"text": "ci is red"}, "ci is red"),
    ],
)
async def test_what_was_delivered(told, shown, wanted, query):
    listed = told(
        "activity", "--all-projects", *(word for name, value in wanted.items() for word in ("--" + name, value))
    )["deliveries"]
    found = await shown(
        "activity",
        lambda app: [(row.id, app.data.receipts.known[row.id]) for row in app.screen.listing.reading.rows],
        lambda screen: (screen.toggle_projects(), screen.show_query(query)),
    )
    assert found == [(each["id"], each["outcome"]) for each in listed] != []
