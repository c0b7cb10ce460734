"""What tests of the TUI do and look at: files, the list, keys."""

import os

from textual.widgets import Static

from memtui.tui.dialogs.ask import Choice
from memtui.tui.dialogs.dialog import Preview
from memtui.tui.widgets.detail import Detail
from tui.conftest import settle


def read(path):
    with open(path, "rb") as file:
        return file.read().decode()


def write(path, text):
    with open(path, "wb") as file:
        file.write(text.encode())


def exists(path):
    return os.path.exists(path)


def names(app):
    return [row.memory.name for _, row in app.screen.table.rows]


def detail(app):
    return app.screen.query_one("#detail", Detail).plain


def line(app, name):
    """What a widget of one line says, or the pane below the list."""
    widget = app.screen.query_one(name)
    return str(widget.render()) if isinstance(widget, Static) else "\n".join(line.plain for line in widget.lines)


async def to_row(pilot, fits):
    """Put the cursor on the first row that fits; that row."""
    await settle(pilot)
    table = pilot.app.screen.table
    table.move_to(next(at for at, row in enumerate(table.rows) if fits(row)))
    await settle(pilot)
    return table.row


async def to_kind(pilot, word):
    """Put the cursor of the inbox on the first row of a kind; that row."""
    return await to_row(pilot, lambda row: row.kind.word == word)


async def agree(pilot):
    """Read what will be written to its end, and go on."""
    for _ in range(30):
        await settle(pilot)
        if not isinstance(pilot.app.screen, Preview):
            return
        await pilot.press("enter")
    raise AssertionError("it has no end")


async def stand_on(pilot, name):
    """Put the cursor on a memory."""
    at = next(i for i, (_, row) in enumerate(pilot.app.screen.table.rows) if row.memory.stem == name)
    pilot.app.screen.table.focus()
    pilot.app.screen.table.move_to(at)
    await pilot.pause()


def project(world, name):
    return f"{world.shop}/.claude/memory/{name}"


def everywhere(world, name):
    return f"{world.config}/memory/{name}"


async def choose(pilot, words):
    """Take the option that begins with these words."""
    screen = pilot.app.screen
    assert isinstance(screen, Choice), screen
    at = next(at for at, text in screen.rows if text.startswith(words))
    screen.table.move_to(at)
    await pilot.press("enter")
    await pilot.pause()
    await settle(pilot)


def notes(app):
    """What the notes on the screen say."""
    return [note.message for note in app._notifications]


def lines(app):
    """What the screen shows, line by line."""
    return [strip.text for strip in app.screen._compositor.render_strips()]


def tree(directory):
    """The bytes of every file below a directory, but for what only runs there."""
    found = {}
    for top, _, names in os.walk(directory):
        if not top.endswith("/run"):
            for name in names:
                with open(f"{top}/{name}", "rb") as file:
                    found[f"{top}/{name}"] = file.read()
    return found


def foot(app):
    """The line with the keys, whatever there is room for."""
    return app.screen.frame.foot.render().plain
