"""A first start in an empty home: hooks and a first note in two keys, nothing written before them, escape at any step."""

import os

import pytest

from hooks.launching import Home
from memtui.base.errors import MemtuiError
from memtui.hooks.install import status
from memtui.tui.app import MemtuiApp
from memtui.tui.dialogs.ask import Choice
from memtui.tui.dialogs.draft_form import DraftForm
from memtui.tui.dialogs.first_start import EXAMPLE, _place
from memtui.tui.screens.activity.rows import NoteRow
from tui.hands import lines

from .conftest import press, running, until


def test_where_hooks_can_not_go_says_so():
    assert _place(None, MemtuiError("These settings are broken.")) == "can't be done"


@pytest.fixture
def home(tmp_path):
    found = Home(tmp_path)
    os.makedirs(found.env["HOME"])
    return found


def starting(home, **more):
    return MemtuiApp({**home.env, "PATH": os.environ["PATH"]}, str(home.project), **more)


def files(home):
    return {os.path.join(top, name) for top, _, names in os.walk(home.base) for name in names}


def shown(app):
    return " ".join(" ".join(lines(app)).split())


def installed(home):
    return status.status({**home.env}, str(home.project)).installed


@pytest.mark.slow
async def test_not_now_is_an_answer(home):
    app = starting(home)
    async with running(app, (80, 24)) as pilot:
        table = app.screen.table
        await pilot.press("end")
        assert (len(table.rows), table.rows[table.cursor][1]) == (4, "Not now")
        await press(pilot, "enter")
        assert app.screen.group == "memories"
        assert not installed(home)
    async with running(starting(home, read_only=True), (80, 24)) as pilot:
        assert not isinstance(pilot.app.screen, Choice)


@pytest.mark.slow
async def test_enter_installs_also_while_one_reads_on(home):
    async with running(starting(home), (80, 24)) as pilot:
        await press(pilot, "tab", "G", "enter")
        assert installed(home)


@pytest.mark.usefixtures("every_frame")
@pytest.mark.parametrize("size", [(60, 15), (80, 24), (160, 48)])
@pytest.mark.every(step=3)
async def test_two_keys_install_the_hooks_and_send_a_note_for_the_first_prompt(home, size):
    before = files(home)
    app = starting(home)
    async with running(app, size) as pilot:
        assert isinstance(app.screen, Choice)
        assert "UserPromptSubmit" in app.screen.query_one("Detail").plain
        assert "enter install" in lines(app)[-1]
        assert "›all projects" in shown(app)
        assert files(home) == before  # nothing before the key
        await press(pilot, "enter")
        assert installed(home)
        assert isinstance(app.screen, DraftForm)
        assert "^s sends this one" in shown(app) or size[1] == 15  # the foot says it there
        assert [word for word in ("^s send", "^g discard", "escape") if word not in lines(app)[-1]] == []
        assert home.waiting() == []
        await press(pilot, "ctrl+s")
        assert (home.waiting(), app.screen.group) == ([EXAMPLE], "activity")
        assert "start claude there" in app.screen.detail.plain
        assert [isinstance(row, NoteRow) for row in app.screen.table.rows] == [True]
        # The person starts claude and types; the screen follows without a key.
        home.start()
        assert EXAMPLE in home.prompt().context
        await until(pilot, lambda: app.screen.table.row is not None and not isinstance(app.screen.table.row, NoteRow))
        assert "start claude there" not in app.screen.detail.plain


@pytest.mark.every(step=1)
async def test_escape_at_each_step_leaves_a_screen_that_says_what_to_press(home):
    app = starting(home)
    async with running(app, (80, 24)) as pilot:
        assert "restores the settings file byte for byte" in app.screen.query_one("Detail").plain
        await press(pilot, "escape")
        assert not installed(home)
        assert not (home.config / "settings.json").exists()
        assert app.screen.group == "memories"
        empty = app.screen.table.empty
        assert empty.index("to install them") < empty.index("c  writes a note")
        assert "your next prompt gets it once hooks are installed" in empty
        await pilot.press("question_mark", "escape")
    app = starting(home)
    async with running(app, (80, 24)) as pilot:
        assert app.screen.group == "memories"  # the offer was answered


async def test_the_first_note_names_what_keeps_sessions_from_being_served(home):
    home.config.mkdir(exist_ok=True)
    (home.config / "settings.json").write_text('{"disableAllHooks": true}')
    app = starting(home)
    async with running(app, (80, 24), "enter"):
        assert "Claude Code runs no hooks" in app.screen.subject.notice
