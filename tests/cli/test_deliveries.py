"""What was delivered is found again: the exact text, why, and whether it arrived."""

from memtui.base import ids_hot, paths_hot
from memtui.models.subconscious import runs
from recalls import deliver

from .conftest import NOW


def test_an_answer_that_waits_is_listed_and_seen_once_it_is_shown(memtui, world):
    slug, session = paths_hot.project_key(world.shop), world.sessions["today"]
    reply = runs.Whisper(ids_hot.new_id(NOW), "On Tuesdays.", reply="when do we deploy?")
    run = runs.Run("r9", NOW - 60, session, slug, world.shop, "Stop", outcome="done", whispers=(reply,))
    runs.append(world.root, run)
    assert memtui.json("activity")["answers"] == [], "it was delivered, or withdrawn"
    runs.send(world.root, run, reply)
    (answer,) = memtui.json("activity")["answers"]
    facts = {"question": "when do we deploy?", "text": "On Tuesdays.", "session": session, "seen": False}
    assert facts.items() <= answer.items()
    row = next(line for line in memtui("activity").out.splitlines() if "○ waiting" in line)
    assert "answer" in row
    assert memtui.json("activity", session[:8], "--limit", "1")["answers"] == [answer]
    for others in (
        ("--kind", "drafts"),
        ("--text", "deploy"),
        ("--project", world.blog),
        (world.sessions["blog"][:8],),
    ):
        assert memtui.json("activity", *others)["answers"] == []
    assert memtui.json("activity", reply.id) == answer
    shown = memtui("activity", reply.id[-6:]).out
    assert ("when do we deploy?" in shown, "\nOn Tuesdays.\n" in shown) == (True, True)
    assert memtui.json("activity")["answers"] == [{**answer, "seen": True}]


def test_what_was_left_out_is_shown(memtui, world):
    left = {"kind": "pending-update", "id": "one", "left_out": "no room"}
    made = deliver(world.root, world.now, left, event="UserPromptSubmit", session_id="s", text="t")
    assert "no room" in memtui("activity", made["id"]).out


def test_without_deliveries_it_says_whether_the_hooks_are_installed(bare):
    assert "No hooks are installed: memtui setup hooks" in bare("activity").out
    bare("setup", "hooks", "--yes")
    told = bare("activity").out
    assert "The hooks are installed: the next session or prompt gets what waits." in told
    assert "memtui setup" not in told
