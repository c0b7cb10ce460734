"""`memtui model`: what reads sessions in the background, its state, its blocks, what it did and said, and the switch."""

import os

import pytest

from memtui.base import clock, paths
from memtui.models.subconscious import blocks, control, places, runs

SESSION = "5e55aaaa-1"


@pytest.fixture
def on(memtui, world):
    memtui("config", "set", "llm_backend", "api")
    memtui("config", "set", "subconscious", "full")
    memtui.env["ANTHROPIC_API_KEY"] = "sk-loopback"
    return memtui


def test_at_first_it_is_off_and_says_how_to_switch_it_on(memtui):
    out = memtui("model").out
    assert "memtui config set llm_backend auto" in out
    assert "reads along" not in out
    data = memtui.json("model")["reads_along"]
    assert (data["mode"], data["tools"]) == ("off", "read-only")
    assert data["reason"]


def test_a_block_is_changed_and_restored_and_undone(memtui):
    said = memtui("model", "blocks", "guidance", "--text", "Ask before a migration.").out
    assert "+Ask before a migration." in said
    memtui("model", "blocks", "guidance", "--text", "-", stdin="Ask Kim before a migration.\n")
    assert memtui("model", "blocks", "guidance").out == "Ask Kim before a migration.\n"
    memtui("undo", "--yes")
    assert memtui.json("model", "blocks", "guidance")["text"] == "Ask before a migration."
    rows = {each["block"]: each for each in memtui.json("model", "blocks")["blocks"]}
    assert rows["guidance"]["by"] == "person"
    assert set(rows) == set(places.BLOCKS)


def test_a_block_of_a_project_is_not_that_of_one_whose_path_has_the_same_slug(memtui, world):
    neighbour = world.shop.replace("/shop", "-shop")
    os.makedirs(neighbour + "/.git")
    assert paths.slug(neighbour) == paths.slug(world.shop)
    memtui("model", "blocks", "guidance", "--text", "- Only here.")
    assert "Only here" in memtui("model", "blocks", "guidance").out
    memtui.cwd = neighbour
    assert "Only here" not in memtui("model", "blocks", "guidance").out


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (("blocks", "secrets"), 3, "There is no block"),
        (("blocks", "guidance", "--text", "x" * 2001), 2, "at most 2,000 characters"),
        (("blocks", "--text", "x"), 2, "Name the block."),
        (("sentences", "maybe"), 2, "on, off"),
    ],
)
def test_what_is_wrong_is_said_with_what_to_do(memtui, words, code, said):
    done = memtui("model", *words, check=False)
    assert done.code == code
    assert said in done.err


def test_a_word_that_is_no_action_gets_the_list_of_them(memtui):
    error = memtui("model", "bogus", check=False).err
    assert "only: status, log, sentences" in error
    assert "Did you mean" not in error
    assert "Did you mean `memtui model blocks`?" in memtui("model", "block", check=False).err


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


def test_a_stop_shows_while_it_is_off_too(memtui):
    memtui("model", "stop")
    out = memtui("model").out
    assert "off, and stopped by you" in out
    assert "memtui config set subconscious notes && memtui model start" in " ".join(out.split())


def test_a_secret_is_not_kept_in_a_block(memtui):
    secret = "ghp_" + "wJ4kQ9z" * 5 + "x"
    memtui("model", "blocks", "guidance", "--text", f"The token is {secret}.")
    assert secret not in memtui("model", "blocks", "guidance").out


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


def test_what_is_of_another_project_says_so(on, world):
    now = clock.parse("2026-11-21T08:59:00Z")
    blog = paths.project_key(world.blog)
    runs.append(world.root, runs.Run("r9", now, SESSION, blog, world.blog, "Stop", outcome="done", note="Of the blog."))
    mention = {"id": "m1", "who": "person", "words": "who is asked?", "time": clock.iso(now)}
    control.save(world.root, SESSION, {"mentions": [mention], "project": blog})
    row = next(line for line in on("model", "log", "--runs").out.splitlines() if "5e55aaaa" in line)
    assert " blog " in row
    assert "you in blog, " in on("model").out
    assert on.json("model")["reads_along"]["waiting"][-1]["project"] == blog
    assert "in blog" not in "".join(line for line in on("model").out.splitlines() if "who is asked" not in line)


def test_what_to_do_is_said_by_its_name_and_the_stop_first(on):
    on.env.pop("ANTHROPIC_API_KEY")
    out = on("model").out
    assert "there is no ANTHROPIC_API_KEY" in out
    assert "Set ANTHROPIC_API_KEY" in out
    on("model", "stop")
    out = on("model").out
    assert "stopped by you" in out
    assert "memtui model start" in out
