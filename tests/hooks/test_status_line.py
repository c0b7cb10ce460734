"""The client's status line: short, honest, and never in the way."""

import json

import pytest
import test_install
from launching import run_in_fork

from memtui.base import clock_hot, ids_hot
from memtui.hooks.install import entries
from memtui.hooks.install import installation as install
from memtui.models.subconscious import block_files_hot, runs
from memtui.views import setup as setup_words

LAUNCHER = "/opt/memtui/hooks/launch.py"
OTHER = {"type": "command", "command": "~/.claude/line.sh 'x'", "padding": 0}


def line(home, data=None):
    """What is shown for the session s1."""
    payload = {
        "session_id": "s1",
        "cwd": "/elsewhere",
        "workspace": {"current_dir": "/elsewhere", "project_dir": str(home.project)},
        "model": {"id": "m", "display_name": "M"},
        "cost": {"total_cost_usd": 0.1},
    }
    data = json.dumps(payload).encode() if data is None else data
    run = run_in_fork(["StatusLine"], data, home.env, str(home.base))
    assert (run.returncode, run.stderr) == (0, b"")
    return run.stdout.decode()


def test_the_last_delivery_of_the_session_is_told_with_its_receipt(home):
    home.guide("one", scope="global")
    shown = home.prompt().context
    assert "one" in shown
    attachment = {"type": "hook_additional_context", "content": [shown], "hookEvent": "UserPromptSubmit"}
    record = {"type": "attachment", "uuid": "b", "parentUuid": "a", "timestamp": "2026-11-21T00:00:00Z"}
    context = {**record, "attachment": attachment}
    message = {"content": [{"type": "text", "text": "x"}]}
    answer = {"type": "assistant", "uuid": "c", "parentUuid": "b", "message": message}
    assert line(home) == ""  # no transcript tells yet
    home.write_transcript([context])
    assert line(home) == "memtui … waiting now\n"
    home.write_transcript([context, answer])
    assert line(home) == "memtui ✓ arrived now\n"
    (log,) = (home.root / "log").glob("deliveries*.jsonl")
    log.write_text("".join(json.dumps({**row, "text": ""}) + "\n" for row in home.log()))
    assert line(home) == "memtui ✓ arrived now\n", "texts are removed from the log after a while"


def test_what_waits_is_counted_whatever_the_input(home):
    home.guide("one")
    for data in (b"", b"{", b"[]", b'{"session_id": 5}', b'{"session_id": "s1", "workspace": 3}', b"\xff"):
        assert line(home, data) in {"", "memtui 1 note\n"}
    assert line(home) == "memtui 1 note\n"
    home.guide("for all", "global")
    home.guide("for another", for_="session:abcd")
    home.guide("over", expires="2020-01-01T00:00:00Z")
    home.leave("updates", "a draft")
    assert line(home) == "memtui 2 notes · 1 draft\n"


def test_answers_count_by_themselves_until_they_are_seen(home):
    names = [home.guide(f"On day {day}.", kind="whisper", reply="when?", for_="session:s1-aa") for day in (1, 2)]
    home.guide("one")
    own = json.dumps({"session_id": "s1-aa", "workspace": {"project_dir": str(home.project)}}).encode()
    assert (line(home, own), line(home)) == ("memtui 2 answers · 1 note\n", "memtui 1 note\n")
    runs.see(str(home.root), names[:1], clock_hot.now())
    assert line(home, own) == "memtui 1 answer · 1 note\n"
    runs.see(str(home.root), names[1:], clock_hot.now())
    assert line(home, own) == "memtui 1 note\n"
    shown = home.prompt(session="s1-aa").context
    assert "Answer of memtui's subconscious" in shown
    assert "to “when?”" in shown
    assert "has not seen it" not in shown
    later = clock_hot.now() + 2 * clock_hot.DAY
    runs.see(str(home.root), [ids_hot.new_id(later)], later)
    assert block_files_hot.seen_answers(str(home.root)).isdisjoint(names), "answers of old days are forgotten"


def test_a_file_that_can_not_be_read_is_logged_and_the_rest_is_said(home):
    home.leave("updates", "a draft")
    home.file("guidance").symlink_to("/nowhere/at/all")
    home.guide("for all", "global")
    home.file("guidance").unlink()
    home.file("guidance").mkdir()
    assert line(home) == "memtui 1 draft\n"
    assert [each["where"] for each in home.errors()] == ["StatusLine"]


class World(test_install.World):
    """A settings file, and installing a status line into it."""

    def line(self, action="install", status_line=True, launcher=LAUNCHER):
        plan = self.plan(action, launcher=launcher, status_line=status_line)
        install.apply(plan)
        return plan


@pytest.fixture
def world(tmp_path):
    (tmp_path / ".claude").mkdir()
    return World(tmp_path)


@pytest.mark.every(step=5)
@pytest.mark.parametrize(
    "before",
    [
        None, b"", b"\n", b"{}", b'{"model": "opus"}', b'{\n\t"a": 1\n}\n', b'{"statusLine": null}', b'{"statusLine":{}}',
        b'{"a": 1, "statusLine": { } , "b": 2}', b'{"hooks": {}, "b": [1, 2]}', '\ufeff{"a": 1}\r\n'.encode("utf-16-le"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("first", [True, False], ids=["at once", "later"])
def test_it_is_installed_and_taken_out_to_the_byte(world, before, first):
    if before is not None:
        world.file.write_bytes(before)
    if not first:
        world.line(status_line=False)
    plan = world.line()
    assert "statusLine" in plan.diff
    assert entries.STATUS_LINE in plan.after.decode("utf-16" if plan.after[:2] == b"\xff\xfe" else "utf-8")
    assert not world.line().changed
    world.line("uninstall", status_line=False)
    assert (world.file.read_bytes() if world.file.exists() else None) == before


def test_a_later_install_updates_its_command_and_leaves_the_rest_of_it(world):
    world.line(launcher="/old/memtui/hooks/launch.py")
    held = world.value()
    held["statusLine"]["padding"] = 2
    world.file.write_text(json.dumps(held, indent=2))
    world.line(status_line=False)
    assert LAUNCHER in world.value()["statusLine"]["command"]
    assert world.value()["statusLine"]["padding"] == 2


def test_an_existing_status_line_stays_and_the_way_to_have_both_is_told(world):
    world.file.write_text(json.dumps({"statusLine": OTHER}))
    plan = world.line()
    assert OTHER["command"] in " ".join(setup_words.notes(plan))
    both = json.loads("{" + setup_words.to_paste(plan) + "}")["command"]
    assert not entries.is_ours({"command": both})
    assert entries.shows_ours(both)
    assert setup_words.done(plan).startswith("hooks installed")
    assert set(world.value()) == {"statusLine", "hooks"}
    assert not world.line().changed
    world.line(status_line=False)
    world.line("uninstall", status_line=False)
    assert world.value() == {"statusLine": OTHER}
