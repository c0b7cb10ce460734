"""The TUI beside the real client, in a real terminal: what is decided there reaches a session."""

import signal
from pathlib import Path

import pytest

from waiting import PATIENCE

from .client import World, injected
from .screen import MemtuiTerminal

pytestmark = pytest.mark.terminal

SEND = "\x13"  # ctrl+s
DRAFT = "No, don't use npm here. Always use pnpm in this repository."
NOTE = "CI is red on main: fix the lockfile first."


@pytest.fixture
def here(tmp_path, model):
    """A world whose hooks are installed, for what needs no client."""
    world = World(tmp_path, model, Path("/nonexistent/claude"))
    world.install()
    return world


def draft(world):
    return world.leave(DRAFT, kind="updates", kind_="correction", name="use-pnpm", time="2026-11-20T10:00:00Z")


def files(world):
    """Every file of the home and the project, with its bytes."""
    return {
        str(path): path.read_bytes()
        for place in (world.home, world.project)
        for path in place.rglob("*")
        if path.is_file() and ".git" not in path.parts
    }


@pytest.mark.client(always=True)
def test_a_decision_in_the_tui_reaches_the_session_and_its_receipt_returns(on):
    draft(on)
    with MemtuiTerminal(on) as tui:
        tui.see("hooks ✓", "2 Inbox 1")

        tui.press("2")
        tui.see("1 to decide", "use-pnpm", "Always use pnpm")
        tui.press("a")
        tui.see("Nothing to decide")
        assert on.waiting("updates") == ""
        (memory,) = on.memtui_json("list")["memories"]
        assert (memory["name"], memory["type"]) == ("use-pnpm", "feedback")
        assert "Always use pnpm in this repository." in Path(memory["path"]).read_text()

        tui.press("c")
        tui.see("Write a note", "What the agent should know")
        tui.press(NOTE)
        tui.see(NOTE)
        tui.press(SEND)
        tui.see("Waits for the next prompt", "Nothing to decide")
        assert NOTE in on.waiting()
        assert " from=tui " in on.waiting()

        tui.press("3")
        tui.see(rf"waiting +{NOTE[:20]}")
        run = on.claude("hi")

        # From here on no key is pressed.
        tui.see(r"▾ “hi”.* my project", rf"note +{NOTE[:20]}.*✓ +│", "hi")
        assert tui.running

        tui.press("gj")  # to the newest delivery
        tui.see("✓ arrived", "UserPromptSubmit", NOTE)

    assert run.stdout == "Done."
    (guidance,) = injected(run.main[0], "guidance")
    assert guidance.event == "UserPromptSubmit"
    assert NOTE in guidance.text
    # It went to the client's native memory, which the client loads by itself.
    assert "use-pnpm" in run.main[0].text()
    assert (injected(run.main[0], "pending-updates"), on.waiting()) == ([], "")
    (record,) = [r for r in on.deliveries() if any(i["kind"] == "guidance" for i in r["items"])]
    assert (record["id"], record["session_id"]) == (guidance.attributes["delivery"], run.session_id)
    assert on.errors() == []


SLIPS = """
from memtui.tui.model.data import Data
from memtui.tui.screens.memories.screen import Memories
from memtui.tui.app import MemtuiApp
def boom(*_, **__): raise ZeroDivisionError("boom")
"""


@pytest.mark.every(of=4)
@pytest.mark.parametrize("slip", ["MemtuiApp.on_mount = boom", "Memories.__init__ = boom", "Data.keys = boom"])
def test_where_memtui_can_not_start_it_says_so_and_restores_the_terminal(here, slip):
    with MemtuiTerminal(here, before=SLIPS + slip) as tui:
        assert (tui.end(), tui.left_on) == (1, [])
        assert "Traceback" not in tui.painted
        assert "ZeroDivisionError" in tui.text
        assert "memtui doctor --errors" in tui.text
    assert here.errors()[0]["error"] == "ZeroDivisionError"


@pytest.mark.every(of=4)
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
def test_told_to_end_it_keeps_what_was_typed_and_gives_the_terminal_back(here, number):
    with MemtuiTerminal(here) as tui:
        tui.see("1 Memories")
        tui.press("c")
        tui.see("Write a note")
        tui.press(NOTE)
        tui.see(NOTE)
        tui.process.send_signal(number)
        assert (tui.end(), tui.left_on) == (128 + number, [])
    with MemtuiTerminal(here) as tui:
        tui.see("1 Memories")
        tui.press("c")
        tui.see(NOTE)


def test_a_terminal_that_is_closed_ends_it(here):
    with MemtuiTerminal(here) as tui:
        tui.see("1 Memories")
        tui.hang_up()
        assert tui.process.wait(PATIENCE) in {1, 128 + signal.SIGHUP}, tui.process.returncode


def test_bytes_that_are_no_utf_8_and_keys_that_nobody_knows_end_nothing(here):
    with MemtuiTerminal(here) as tui:
        tui.see("hooks ✓", "1 Memories")
        tui.press(b"\xff\x1b[99999999999u\x1b[8364:1:9u")
        tui.see("1 Memories")
        tui.press("c")
        tui.see("Write a note")
        tui.press(b"\x1b[200~caf\xe9 q q q\x1b[201~")
        tui.see("caf\N{REPLACEMENT CHARACTER} q q q")
        tui.press("\x11")
        assert (tui.end(), tui.left_on) == (0, [])
        assert "Traceback" not in tui.painted


def test_read_only_refuses_what_writes_and_writes_nothing(here):
    draft(here)
    other = here.home / ".claude/projects/-srv-other/memory/note.md"  # whose path is sought, and kept in a cache
    other.parent.mkdir(parents=True)
    other.write_text("A note.\n")
    (here.home / ".claude/memtui/config.toml").write_text('theme = "light"\n')
    before = files(here)
    with MemtuiTerminal(here, "--read-only", "--screen", "inbox") as tui:
        tui.see("read-only", "1 to decide", "Always use pnpm")
        tui.press("a")
        tui.see("memtui runs with --read-only", "1 to decide")
        tui.press("c3")  # a form would swallow the 3
        tui.see("Nothing yet|today")
        assert "Write a note" not in tui.text
        tui.press("2")
        tui.see("1 to decide", "Always use pnpm")
        tui.press("p4")  # other projects, and every check: what is found out is kept in no cache
        tui.see("▾ settings")
        tui.press("q")
        assert tui.end() == 0
    assert files(here) == before


def test_sizes_and_mouse_positions_that_cannot_be_end_nothing(here):
    sizes = ["0;0;0;0", "1;1;1;1", "24;80;0;0", "99999999;99999999;1;1", "24;0;480;0"]
    mouse = ["<0;1;1M", "<35;99999999;99999999M", "<0;-5;0m", "<64;7;7M", "<9999999;2;2M"]
    with MemtuiTerminal(here) as tui:
        tui.see("hooks ✓", "1 Memories")
        for size in sizes:
            tui.press(f"\x1b[?2048;1$y\x1b[48;{size}t".encode() + "".join(f"\x1b[{each}" for each in mouse).encode())
        tui.press("2")
        tui.see("escape|drafts|waits")
        tui.press("\x11")
        assert tui.end() == 0
        assert "Traceback" not in tui.painted
    assert not (here.home / ".claude/memtui/log/errors.jsonl").exists()


def test_ctrl_z_on_the_way_out_stops_nothing(here):
    with MemtuiTerminal(here) as tui:
        tui.see("hooks ✓", "1 Memories")
        tui.press("q\x1a\x1a")
        assert (tui.end(), tui.left_on) == (0, [])
        assert "Traceback" not in tui.painted
