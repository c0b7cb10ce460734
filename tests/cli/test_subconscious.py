"""`memtui model`: what reads sessions in the background, its state, its blocks, what it did and said, and the switch."""

import pytest

from memtui.base import clock, paths
from memtui.models.subconscious import block_files, blocks, control, runs

SESSION = "5e55aaaa-1"


@pytest.fixture
def on(memtui, world):
    memtui("config", "set", "llm_backend", "api")
    memtui("config", "set", "subconscious", "full")
    memtui.env["ANTHROPIC_API_KEY"] = "sk-loopback"
    return memtui


def test_blocks_are_listed_with_who_wrote_them_and_printed(memtui, world):
    slug = paths.project_key(world.shop)
    blocks.Blocks(world.root, slug).edit("guidance", "", "Ask before a migration.", run="r1", session=SESSION)
    assert memtui("model", "blocks", "guidance").out == "Ask before a migration.\n"
    rows = {each["block"]: each for each in memtui.json("model", "blocks")["blocks"]}
    assert rows["guidance"]["by"] == "model"
    assert set(rows) == set(block_files.BLOCKS)


def test_at_first_it_is_off_and_says_how_to_switch_it_on(memtui):
    out = memtui("model").out
    assert "memtui config set llm_backend auto" in out
    assert "reads along" not in out
    data = memtui.json("model")["reads_along"]
    assert (data["mode"], data["tools"]) == ("off", "read-only")
    assert data["reason"]
    for words, code, said in ((("blocks", "secrets"), 3, "There is no block"), (("sentences", "maybe"), 2, "on, off")):
        done = memtui("model", *words, check=False)
        assert (done.code, said in done.err) == (code, True)


def test_a_setting_that_needs_a_model_says_that_none_can_be_asked(memtui):
    for key, value in (("subconscious", "notes"), ("recall_select", "true")):
        out = " ".join(memtui("config", "set", key, value).out.split())
        assert "But: No model may be asked: llm_backend is off." in out
        assert "memtui config set llm_backend auto" in out
    assert "But:" not in memtui("config", "set", "subconscious", "off").out
    memtui("config", "set", "llm_backend", "api")
    assert "There is no ANTHROPIC_API_KEY" in memtui("config", "set", "subconscious", "full").out
    memtui.env["ANTHROPIC_API_KEY"] = "sk-loopback"
    assert "But:" not in memtui("config", "set", "subconscious", "notes").out


def test_stop_and_start(on):
    assert on.json("model", "stop") == {"stopped": True, "changed": True}
    assert "stopped by you" in on("model").out
    assert on.json("model", "stop")["changed"] is False
    assert on.json("model", "start")["changed"] is True
    assert "full, haiku by the API" in on("model").out


def test_what_it_did_and_said_is_listed(on, world):
    root, slug = world.root, paths.project_key(world.shop)
    now = clock.parse("2026-11-21T08:59:00Z")
    whisper = runs.Whisper("01KAQ00000000000000000000W", "Deploys are on \x1b[31mTuesdays.")
    blocks.Blocks(root, slug).edit("project_context", "", "Deploys: Tuesdays.", run="r1", session=SESSION)
    run = runs.Run(
        "r1", now, SESSION, slug, world.shop, "Stop", outcome="done", heard=4, note="They deploy.", cost=0.002
    )
    runs.append(root, runs.Run("r1", now, SESSION, slug, world.shop, "Stop"))
    assert "reading now" in on("model", "log", "--runs").out
    runs.append(root, run.__class__(**{**vars(run), "changes": ("project_context: added",), "whispers": (whisper,)}))
    runs.send(root, run, whisper)
    state = {"mentions": [{"id": "m1", "who": "person", "words": "when do we deploy?", "time": clock.iso(now)}]}
    control.save(root, SESSION, state)
    out = on("model").out
    assert "1 block, 1 note" in out
    assert "when do we deploy?" in out
    assert "when do we deploy?" in [each["words"] for each in on.json("model")["reads_along"]["waiting"]]
    out = on("model", "log", "--runs").out
    assert "They deploy." in out
    assert "$0.0020" in out
    out = on("note", "--list").out
    assert "from subconscious" in out
    assert "\x1b" not in out
