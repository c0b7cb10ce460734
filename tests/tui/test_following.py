"""The screens follow the files, and read no more than what changed."""

import os
from pathlib import Path
from types import SimpleNamespace

import pytest

from memtui.base import paths_hot
from memtui.tui import files
from memtui.tui.model.data import Data

from .conftest import NOW, press, running


def write(path, text="---\nname: new\ndescription: d\nmetadata:\n  type: project\n---\n\nNew.\n"):
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def append(path, text):
    with open(path, "a") as file:
        file.write(text)


def journal(world):
    return Path(world.root, "journal.jsonl").read_text()


def looked(world, looks=files.LOOKS + 1):
    """What is told in the next looks."""
    return set().union(*(world.changed() for _ in range(looks)))


def a_watch(world):
    found = files.Watch(Data(dict(world.env), world.shop, now=NOW))
    assert found.changed() == files.PARTS
    looked(found)
    assert looked(found) == set()
    return found


def test_a_change_anywhere_is_told_by_what_it_concerns(world):
    found = a_watch(world)
    blog = next(s for s in found.data.scopes(every=True) if s.source == world.blog or "blog" in s.label)
    for path, part in (
        (f"{world.config}/memory/new.md", files.MEMORIES),
        (f"{world.config}/memory/below/there/new.md", files.MEMORIES),
        (f"{world.shop}/.claude/memory/prefer-pnpm.md", files.MEMORIES),
        (f"{world.shop}/.claude/memory/MEMORY.md", files.MEMORIES),
        (f"{world.shop}/.claude/rules/sub/new.md", files.MEMORIES),
        (f"{blog.directory}/new.md", files.MEMORIES),
        (f"{world.root}/config.toml", files.SETTINGS),
        (f"{world.config}/settings.json", files.SETTINGS),
        (f"{world.root}/log/errors.jsonl", files.LOG),
        (f"{world.root}/rules/counts.db", files.RULES),
        (paths_hot.inbox_dir(world.root, None) + "/pending-updates.md", files.INBOX),
    ):
        write(path)
        assert looked(found) == {part}, path
        os.unlink(path)
        assert looked(found) == {part}, path


@pytest.mark.every(step=1)
def test_thousands_of_files_are_checked_in_turns(world, monkeypatch):
    monkeypatch.setattr(files, "FILES_A_LOOK", 10)
    many = Path(world.config, "memory")
    for number in range(100):
        write(many / f"many-{number:03}.md")
    found = a_watch(world)
    for _ in range(12):
        found.changed()
    last = str(many / "many-099.md")
    append(last, "more")  # in place: the directory shows nothing
    assert files.MEMORIES in looked(found, 13)


async def test_nothing_is_done_to_another_memory_while_a_filter_hides_the_marked(app, world):
    async with running(app, (80, 24)) as pilot:
        before = journal(world)
        await press(pilot, "space", "space", "slash", *"payment", "enter", "x")
        assert [row.memory.stem for _, row in app.screen.table.rows] == ["payment-provider"]
        assert (journal(world), len(app.screen.table.marks)) == (before, 2)


@pytest.mark.parametrize(("opens", "ends"), [(False, False), (True, False), (False, True)])
def test_a_count_is_dropped_if_the_inbox_opens_meanwhile_or_all_ends(opens, ends):
    inbox, noted = SimpleNamespace(shown=False), []
    app = SimpleNamespace(is_running=True, post_message=lambda _: None)

    def count(_):
        inbox.shown, app.is_running = opens, not ends
        return {"merge": 1}

    facts = {"count_findings": lambda: None, "undecided": lambda _: [], "note_decisions": noted.append}
    data = SimpleNamespace(now=lambda: NOW, count_decisions=count, is_vast=False, **facts)
    files.FileReader(app, data, writes=False, inbox_shown=lambda: inbox.shown)._count_findings(frozenset())
    assert bool(noted) == (not opens and not ends)
