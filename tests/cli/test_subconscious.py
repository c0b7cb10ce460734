"""`memtui subconscious`: its state, its blocks, what it did and said, and the switch."""

import json
import os

import pytest

from e2e.model import use
from memtui.core.base import clock, fs, paths
from memtui.subconscious import blocks, conversations, places, runs, whispers
from memtui.subconscious.block_versions import PERSON, BlockVersion, VersionLog
from memtui.subconscious.conversations import Remark

SESSION = "5e55aaaa-1"


@pytest.fixture
def on(memtui, world):
    memtui("config", "set", "llm_backend", "api")
    memtui("config", "set", "subconscious", "full")
    memtui.env["ANTHROPIC_API_KEY"] = "sk-loopback"
    return memtui


def test_at_first_it_is_off_and_says_how_to_switch_it_on(memtui):
    out = memtui("subconscious").out
    assert "memtui config set subconscious whisper" in out
    assert "reads the session in the background" in out
    data = memtui.json("subconscious")
    assert (data["mode"], data["tools"], data["tools_in_force"]) == ("off", "read-only", "read-only")
    assert data["reason"]


def test_a_block_is_changed_and_restored_and_undone(memtui):
    said = memtui("subconscious", "edit", "guidance", "--text", "Ask before a migration.").out
    assert "+Ask before a migration." in said
    memtui("subconscious", "edit", "guidance", "--text", "-", stdin="Ask Kim before a migration.\n")
    assert memtui("subconscious", "show", "guidance").out == "Ask Kim before a migration.\n"
    versions = memtui.json("subconscious", "history", "guidance")["versions"]
    assert [(each["number"], each["by"], each["text"]) for each in versions] == [
        (1, "person", "Ask before a migration."),
        (2, "person", "Ask Kim before a migration."),
    ]
    diff = memtui("subconscious", "history", "guidance", "--diff", "2").out
    assert diff.split("\n")[1:3] == ["  -Ask before a migration.", "  +Ask Kim before a migration."]
    memtui("subconscious", "history", "guidance", "--restore", "1")
    assert memtui.json("subconscious", "show", "guidance")["text"] == "Ask before a migration."
    memtui("undo", "--yes")
    assert memtui.json("subconscious", "show", "guidance")["text"] == "Ask Kim before a migration."
    rows = {each["block"]: each for each in memtui.json("subconscious", "blocks")["blocks"]}
    assert rows["guidance"]["by"] == "person"
    assert set(rows) == set(places.BLOCKS)


def test_one_change_of_the_subconscious_is_undone_and_the_undo_too(memtui, world):
    known = blocks.Blocks(world.root, paths.project_key(world.shop))
    for number in range(2):
        known.edit("guidance", "", f"- Rule {number}.", run=f"r{number}", session=SESSION)
    memtui("subconscious", "edit", "guidance", "--text", "- Mine.\n- Rule 0.\n- Rule 1.")
    out = memtui("subconscious", "undo", "guidance", "1").out
    assert "-- Rule 0." in out
    assert "undone: undo version 1 of the block guidance" in memtui("undo", "--yes").out
    memtui("redo", "--yes")
    assert memtui("subconscious", "show", "guidance").out == "- Mine.\n- Rule 1.\n"
    assert "you, undoing 1" in memtui("subconscious", "history", "guidance").out
    assert "undid version 2 of guidance" in memtui("subconscious", "undo", "guidance").out
    memtui("undo", "--yes")
    (undone,) = memtui.json("subconscious", "undo", "guidance")["undone"]
    assert (undone["block"], undone["changed"], undone["error"]) == ("guidance", True, None)
    assert memtui("subconscious", "show", "guidance").out == "- Mine.\n"
    assert "Nothing is left in guidance" in memtui("subconscious", "undo", "guidance").out
    assert "Nothing is left of that change." in memtui("subconscious", "undo", "guidance", "1").out


def test_what_a_run_changed_is_undone_by_its_id(memtui, world):
    slug = paths.project_key(world.shop)
    known, now = blocks.Blocks(world.root, slug), clock.parse("2026-11-21T08:59:00Z")
    run = runs.Run("01KAQ0000000000000000RUN7X", now, SESSION, slug, world.shop, "Stop", outcome="done")
    runs.append(world.root, run)
    for name in ("guidance", "user_preferences"):
        known.edit(name, "", "- Of the run.", run=run.id, session=SESSION)
    known.edit("guidance", "- Of the run.", "- Changed since.", run="r9", session=SESSION)
    assert "RUN7X" in memtui("subconscious", "runs").out
    done = memtui("subconscious", "undo", "--run", "RUN7X", check=False)
    assert done.code == 1
    assert "Undid a change of user_preferences." in done.out
    assert "left alone: guidance: The same lines of guidance were changed again since." in done.out
    assert "or `memtui subconscious history`." in " ".join(done.out.split())
    assert "memtui undo takes it back." in done.err
    assert "Of the run" not in known.text("user_preferences")
    assert known.text("guidance") == "- Changed since."
    assert "Nothing was undone." in memtui("subconscious", "undo", "--run", "RUN7X", check=False).out
    assert [
        each["changed"] for each in memtui.json("subconscious", "undo", "--run", "RUN7X", check=False)["undone"]
    ] == [
        False,
        False,
    ]


def test_a_run_that_is_undone_already_or_changed_nothing_says_so(memtui, world):
    slug = paths.project_key(world.shop)
    known, now = blocks.Blocks(world.root, slug), clock.parse("2026-11-21T08:59:00Z")
    for run in ("01KAQ0000000000000000RUN7X", "01KAQ0000000000000000RUN8X"):
        runs.append(world.root, runs.Run(run, now, SESSION, slug, world.shop, "Stop", outcome="done"))
    for name in ("guidance", "user_preferences"):
        known.edit(name, "", "- Of the run.", run="01KAQ0000000000000000RUN7X", session=SESSION)
    done = memtui("subconscious", "undo", "--run", "RUN7X")
    assert "Undid 2 changes of user_preferences, guidance." in done.out
    assert "memtui undo takes them back." in done.err
    done = memtui("subconscious", "undo", "--run", "RUN7X")
    assert done.out == "Nothing is left of these changes.\n"
    assert "memtui undo" not in done.err
    assert memtui("subconscious", "undo", "--run", "RUN8X").out == "That run changed no block.\n"


def test_an_undo_of_a_version_that_is_dropped_by_now_is_told_as_one(memtui, world):
    log, slug = VersionLog(world.root), paths.project_key(world.shop)
    log.append(BlockVersion("01B", 0.0, "guidance", slug, PERSON, "- Mine.", undid="01A", oldest=True))
    known = blocks.Blocks(world.root, slug)
    fs.makedirs(os.path.dirname(known.path("guidance")))
    fs.write_atomic(known.path("guidance"), b"- Mine.\n")
    assert "you, undoing an older one" in memtui("subconscious", "history", "guidance").out
    assert "what it changed is not known" in memtui("subconscious", "undo", "guidance", "1", check=False).err


def test_a_block_of_a_project_is_not_that_of_one_whose_path_has_the_same_slug(memtui, world):
    neighbour = world.shop.replace("/shop", "-shop")
    os.makedirs(neighbour + "/.git")
    assert paths.slug(neighbour) == paths.slug(world.shop)
    memtui("subconscious", "edit", "guidance", "--text", "- Only here.")
    assert "Only here" in memtui("subconscious", "show", "guidance").out
    memtui.cwd = neighbour
    assert "Only here" not in memtui("subconscious", "show", "guidance").out
    assert "Only here" not in memtui("subconscious", "history", "guidance").out


def test_an_overlap_is_said_with_what_to_do(memtui, world):
    known = blocks.Blocks(world.root, paths.project_key(world.shop))
    known.edit("guidance", "", "- Rule.", run="r1", session=SESSION)
    memtui("subconscious", "edit", "guidance", "--text", "- My rule.")
    done = memtui("subconscious", "undo", "guidance", check=False)
    assert done.code == 4
    assert "The same lines of guidance were changed again since." in done.err
    assert "memtui subconscious history" in done.err
    assert memtui("subconscious", "undo", check=False).code == 2
    assert memtui("subconscious", "undo", "guidance", "--run", "x", check=False).code == 2


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (("show", "secrets"), 3, "There is no block"),
        (("undo", "guidance", "9"), 3, "no version 9"),
        (("undo", "--run", "NONE1"), 3, "no run"),
        (("edit", "guidance", "--text", "x" * 2001), 2, "at most 2,000 characters"),
        (("history", "guidance", "--diff", "7"), 3, "no version 7"),
        (("conversation", "nope"), 3, "memtui subconscious runs"),
        (("run",), 1, "memtui config set subconscious whisper"),
    ],
)
def test_what_is_wrong_is_said_with_what_to_do(memtui, words, code, said):
    done = memtui("subconscious", *words, check=False)
    assert done.code == code
    assert said in done.err


def test_a_word_that_is_no_action_gets_the_list_of_them(memtui):
    error = memtui("subconscious", "bogus", check=False).err
    assert "only: status, blocks, show" in error
    assert "Did you mean" not in error
    assert "Did you mean `memtui subconscious whispers`?" in memtui("subconscious", "whisper", check=False).err


def test_a_setting_that_needs_a_model_says_that_none_can_be_asked(memtui):
    for key, value in (("subconscious", "whisper"), ("extract_ask", "true"), ("recall_select", "true")):
        out = " ".join(memtui("config", "set", key, value).out.split())
        assert "But: No model may be asked: llm_backend is off." in out
        assert "memtui config set llm_backend auto" in out
    assert "But:" not in memtui("config", "set", "subconscious", "off").out
    memtui("config", "set", "llm_backend", "api")
    assert "There is no ANTHROPIC_API_KEY" in memtui("config", "set", "subconscious", "full").out
    memtui.env["ANTHROPIC_API_KEY"] = "sk-loopback"
    assert "But:" not in memtui("config", "set", "subconscious", "whisper").out


def test_a_stop_shows_while_it_is_off_too(memtui):
    memtui("subconscious", "stop")
    out = memtui("subconscious").out
    assert "off, and stopped by you" in out
    assert "memtui config set subconscious whisper && memtui subconscious start" in " ".join(out.split())


def test_a_conversation_counts_its_whispers(memtui, world):
    first = memtui("subconscious", "conversation", world.sessions["monday"]).out
    assert "1 entry, no whisper" in first
    assert "summed up" in first
    assert "2 entries, 1 whisper" in memtui("subconscious", "conversation", world.sessions["tuesday"]).out


def test_a_secret_is_not_kept_in_a_block(memtui):
    secret = "ghp_" + "wJ4kQ9z" * 5 + "x"
    memtui("subconscious", "edit", "guidance", "--text", f"The token is {secret}.")
    assert secret not in memtui("subconscious", "show", "guidance").out


def test_stop_and_start(on):
    assert on.json("subconscious", "stop") == {"stopped": True, "changed": True}
    assert "stopped by you" in on("subconscious").out
    assert on.json("subconscious", "stop")["changed"] is False
    assert on.json("subconscious", "start")["changed"] is True
    assert "full, haiku by the API" in on("subconscious").out


def test_what_it_did_and_said_is_listed(on, world):
    root, slug = world.root, paths.project_key(world.shop)
    now = clock.parse("2026-11-21T08:59:00Z")
    whisper = whispers.Whisper(
        "01KAQ00000000000000000000W", now, SESSION, slug, "r1", "Deploys are on \x1b[31mTuesdays."
    )
    whispers.send(root, whisper)
    blocks.Blocks(root, slug).edit("project_context", "", "Deploys: Tuesdays.", run="r1", session=SESSION)
    run = runs.Run(
        "r1", now, SESSION, slug, world.shop, "Stop", outcome="done", heard=4, note="They deploy.", cost=0.002
    )
    runs.append(root, runs.Run("r1", now, SESSION, slug, world.shop, "Stop"))
    assert "reading now" in on("subconscious", "runs").out
    runs.append(root, run.__class__(**{**vars(run), "blocks": ("project_context",), "whispers": (whisper.id,)}))
    conversations.add(root, SESSION, [Remark(now, "r1", "noted", "They deploy.")])
    state = {"mentions": [{"id": "m1", "who": "person", "words": "when do we deploy?", "time": clock.iso(now)}]}
    conversations.save(root, SESSION, state)
    out = on("subconscious").out
    assert "1 block, 1 whisper" in out
    assert "when do we deploy?" in out
    assert "when do we deploy?" in [each["words"] for each in on.json("subconscious")["waiting"]]
    out = on("subconscious", "runs").out
    assert "They deploy." in out
    assert "$0.0020" in out
    out = on("subconscious", "whispers").out
    assert "waits" in out
    assert "\x1b" not in out
    assert on.json("subconscious", "whispers", "--session", "07e5")["whispers"] == []
    assert "They deploy." in on("subconscious", "conversation", "5e55").out
    version = on.json("subconscious", "history", "project_context")["versions"][-1]
    assert (version["by"], version["session"]) == ("subconscious", SESSION)


@pytest.mark.slow
def test_a_person_has_it_read_the_newest_session_now(on, world, api):
    on.env["ANTHROPIC_BASE_URL"] = api.url
    directory = f"{paths.config_dir(dict(world.env))}/projects/{paths.slug(world.shop)}"
    row = {"type": "user", "uuid": "u1", "sessionId": SESSION, "message": {"content": "We deploy on Tuesdays only."}}
    with open(f"{directory}/{SESSION}.jsonl", "w") as file:
        file.write(json.dumps(row) + "\n")
    api.will(
        use(
            "answer",
            edits=[{"block": "project_context", "old": "", "new": "Deploys: Tuesdays.", "quote": "deploy on Tuesdays"}],
            note="Deploys.",
        )
    )
    out = on("subconscious", "run", SESSION[:6]).out
    assert "done: 1 block" in out
    assert "Deploys: Tuesdays." in on("subconscious", "show", "project_context").out
    assert "Nothing new was said" in on("subconscious", "run", SESSION[:6]).out


def test_what_is_of_another_project_says_so(on, world):
    now = clock.parse("2026-11-21T08:59:00Z")
    blog = paths.project_key(world.blog)
    whispers.send(world.root, whispers.Whisper("W" * 26, now, SESSION, blog, "r9", "Ask Kim first."))
    runs.append(world.root, runs.Run("r9", now, SESSION, blog, world.blog, "Stop", outcome="done", note="Of the blog."))
    mention = {"id": "m1", "who": "person", "words": "who is asked?", "time": clock.iso(now)}
    conversations.save(world.root, SESSION, {"mentions": [mention], "project": blog})
    row = next(line for line in on("subconscious", "runs").out.splitlines() if "5e55aaaa" in line)
    assert " blog " in row
    row = next(line for line in on("subconscious", "whispers").out.splitlines() if "Ask Kim" in line)
    assert " blog " in row
    assert "you in blog, " in on("subconscious").out
    assert on.json("subconscious")["waiting"][-1]["project"] == blog
    assert "in blog" not in "".join(line for line in on("subconscious").out.splitlines() if "who is asked" not in line)


@pytest.mark.parametrize(("hours", "said"), [(1, "withdrawn"), (30, "expired")])
def test_a_whisper_that_waits_no_more_says_why(on, world, hours, said):
    now = clock.parse("2026-11-21T08:59:00Z")
    gone = whispers.Whisper(
        "W" * 26, now - hours * 3600, SESSION, paths.project_key(world.shop), "r9", "Ask Kim first."
    )
    whispers.send(world.root, gone)
    fs.unlink(f"{paths.inbox_dir(world.root, gone.project)}/guidance.md")
    row = next(line for line in on("subconscious", "whispers").out.splitlines() if "Ask Kim" in line)
    assert f" {said} " in row


def test_what_to_do_is_said_by_its_name_and_the_stop_first(on):
    on.env.pop("ANTHROPIC_API_KEY")
    out = on("subconscious").out
    assert "there is no ANTHROPIC_API_KEY" in out
    assert "Set ANTHROPIC_API_KEY" in out
    on("subconscious", "stop")
    out = on("subconscious").out
    assert "stopped by you" in out
    assert "memtui subconscious start" in out
    assert "ANTHROPIC_API_KEY" not in out
