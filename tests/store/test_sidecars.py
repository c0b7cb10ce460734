"""What is kept beside a memory follows it, and each change of it is a step of undo: triggers, muted prompts, pairs apart."""

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memtui.base.errors import UsageError
from memtui.recall import words_hot
from memtui.store import mutes_hot, scopes, sidecars, triggers
from memtui.store.journal import own_files, undo
from memtui.store.journal.own_files import BesideEdit
from memtui.store.store import Store
from memtui.store.triggers import Trigger

NOW = 1_790_000_000.0


@pytest.fixture
def store(tmp_path):
    repo = tmp_path / "repo"
    (repo / ".git").mkdir(parents=True)
    found = Store({"HOME": str(tmp_path)}, str(repo), now=lambda: NOW)
    for scope in ("auto", "global"):
        os.makedirs(found.scope(scope).directory)
    for name in "abcxz":
        text = f"---\nname: {name}\ndescription: About {name}\n---\n\nText {name}.\n"
        Path(directory(found), f"{name}.md").write_text(text)
    return found


def directory(store):
    return store.scope("auto").directory


def named(store, name, scope="auto"):
    return next(each for each in scopes.memories(store.scope(scope)) if each.stem == name)


def add(store, name, *texts):
    return triggers.change(store, named(store, name), texts)


def texts(store, scope="auto"):
    found = triggers.lines_of(store.root, store.scope(scope).directory)
    return {file.removesuffix(".md"): [each.text for each in lines] for file, lines in found.items()}


def undone(store):
    undo.run(store.journal, "undo").first()


def test_a_line_is_kept_beside_an_unchanged_memory_and_undo_leaves_nothing(store):
    before = named(store, "a").raw
    assert add(store, "a", "put it  live\n", "go to production")
    assert (named(store, "a").raw, texts(store)) == (before, {"a": ["put it live", "go to production"]})
    assert triggers.lines_of(store.root, directory(store))["a.md"][0] == Trigger("put it live", "person", NOW)
    assert not add(store, "a", "Put it live")
    undone(store)
    assert (texts(store), os.listdir(store.root + "/triggers")) == ({}, [])
    undo.run(store.journal, "redo").first()
    assert texts(store) == {"a": ["put it live", "go to production"]}


def test_lines_follow_a_rename_a_move_and_the_way_through_the_trash(store):
    add(store, "a", "one")
    add(store, "b", "two")
    store.rename(named(store, "a"), "k")
    assert texts(store) == {"b": ["two"], "k": ["one"]}
    store.move(named(store, "k"), store.scope("global"))
    assert (texts(store), texts(store, "global")) == ({"b": ["two"]}, {"k": ["one"]})
    key = store.delete(named(store, "k", "global"))
    assert texts(store, "global") == {}
    store.restore(key)
    assert texts(store, "global") == {"k": ["one"]}
    for _ in range(4):
        undone(store)
    assert (texts(store), texts(store, "global")) == ({"a": ["one"], "b": ["two"]}, {})


def test_what_is_deleted_for_good_leaves_no_line_behind(store):
    add(store, "a", "a secret plan")
    triggers.mute(store, named(store, "a"), "tell me a secret plan", str.split)
    add(store, "b", "stays")
    store.rename(named(store, "a"), "k")
    store.erase(named(store, "k"))
    assert texts(store) == {"b": ["stays"]}
    kept = [path.read_bytes() for path in Path(store.root).rglob("*") if path.is_file()]
    assert not any(b"a secret plan" in data for data in kept)
    assert any(b"stays" in data for data in kept)


@pytest.mark.parametrize("text", ["test", "the tests", "Fehler", "修正", "hello", "please"])
def test_a_word_of_most_prompts_is_no_trigger_and_the_reason_is_said(store, text):
    with pytest.raises(UsageError) as refused:
        add(store, "a", text)
    assert f"{refused.value} {refused.value.hint}" == (
        f"“{text}” alone would fire with most prompts. Add a second word."
    )
    assert texts(store) == {}


def test_a_word_that_many_memories_have_needs_a_second_one(store):
    assert add(store, "a", "warehouse")
    undone(store)
    for number in range(30):
        Path(directory(store), f"stock-{number}.md").write_text("The warehouse has it.\n")
    with pytest.raises(UsageError, match="“Warehouse” alone"):
        add(store, "a", "Warehouse")
    assert add(store, "a", "warehouse doors")
    assert add(store, "a", "prices")


def test_more_triggers_than_a_memory_can_have_are_refused(store):
    most = [f"phrase {number}" for number in range(triggers.MOST)]
    assert add(store, "a", *most)
    with pytest.raises(UsageError, match="A memory can have 20 triggers at most"):
        add(store, "a", "one more")
    assert texts(store) == {"a": most}
    assert triggers.change(store, named(store, "a"), ["one more"], most[:1])


def test_triggers_in_frontmatter_are_read_in_every_form_and_added_to(store):
    path = Path(directory(store), "a.md")
    path.write_text("---\nname: a\ntriggers:\n  - first\n  - second\n---\n\nText.\n")
    assert triggers.change(store, named(store, "a"), ["third"], ["first"])
    assert path.read_text() == "---\nname: a\ntriggers:\n  - second\n  - third\n---\n\nText.\n"
    assert texts(store) == {}
    shown = triggers.of_memory(store.root, directory(store), "a.md", named(store, "a"))
    assert [each.origin for each in shown] == ["file", "file"]
    undone(store)
    assert "first" in path.read_text()
    for field in ("triggers: one line", "triggers: [one line]", "metadata:\n  triggers:\n  - one line"):
        Path(directory(store), "a.md").write_text(f"---\nname: a\n{field}\n---\n\nText.\n")
        assert triggers.in_frontmatter(named(store, "a").fields) == ["one line"]


def test_a_removed_line_does_not_come_back_unless_the_person_types_it(store):
    rows = triggers.after_adding({}, ["how do I ship?"], "draft", NOW)
    rows = triggers.after_removing(rows, ["how do I ship?"], NOW)
    assert (triggers.kept(rows), triggers.after_adding(rows, ["How do I ship?"], "draft", NOW)) == ([], rows)
    mine = triggers.after_adding(rows, ["how do I ship?"], "person", NOW)
    assert [each.origin for each in triggers.kept(mine)] == ["person"]


def test_merged_memories_have_the_lines_of_both(store):
    add(store, "a", "one", "both")
    add(store, "b", "two", "Both")
    a, b = ((directory(store), f"{name}.md") for name in "ab")
    store.journal.run("x", sidecars.moved_edits(store.root, {b: a}), "merge")
    assert texts(store) == {"a": ["one", "both", "two"]}
    store.journal.run("x", sidecars.moved_edits(store.root, {a: None}), "gone")
    assert texts(store) == {}


def test_a_damaged_file_costs_only_its_damaged_lines(store):
    add(store, "a", "mine")
    path = Path(own_files.beside_path(store.root, "triggers", directory(store)))
    damage = b'\xff{"file": 3}\n{"file": "b.md", "text": "lost", "origin": "nobody"}\n[1]\n{"fi'
    path.write_bytes(path.read_bytes() + damage)
    assert texts(store) == {"a": ["mine"]}
    add(store, "a", "more")
    assert texts(store) == {"a": ["mine", "more"]}


def test_a_directory_that_is_moved_takes_its_lines_along(store, tmp_path):
    add(store, "a", "put it live")
    assert sidecars.adopt(store.root, str(tmp_path)) == []  # the directory is where it was
    new = str(tmp_path / "elsewhere")
    os.rename(directory(store), new)
    assert sidecars.adopt(store.root, new) == ["triggers"]
    assert [each.text for each in triggers.lines_of(store.root, new)["a.md"]] == ["put it live"]
    assert (len(os.listdir(store.root + "/triggers")), sidecars.adopt(store.root, new)) == (1, [])


ROWS = st.lists(st.text(max_size=12), unique=True, max_size=5).map(
    lambda found: {text: {"text": text, "origin": "person"} for text in found}
)


@given(ROWS, ROWS, ROWS)
def test_an_edit_and_its_inverse_leave_what_others_added(before, after, others):
    edit = BesideEdit("/r/triggers/x.jsonl", before, after, "/d", "a.md")
    assert edit.result(before) == after
    foreign = {text: row for text, row in others.items() if text not in {**before, **after}}
    assert edit.inverse().result(edit.result(before | foreign)) == before | foreign


# --- never for prompts like this

PROMPT = "how do I run the tests of the billing service?"


def mute(store, text=PROMPT):
    return triggers.mute(store, store.find("a"), text, words_hot.terms)


def muted(store, text, file="a.md"):
    return mutes_hot.Mutes(store.root, words_hot.COMMON).muted(directory(store), file, words_hot.terms(text))


def test_a_memory_is_muted_for_prompts_like_one_until_it_is_undone(store):
    assert mute(store)
    assert not mute(store)
    assert triggers.muted_prompts(store.root, directory(store), "a.md") == [(PROMPT, NOW)]
    store.rename(store.find("a"), "k")
    assert muted(store, PROMPT, "k.md")
    triggers.unmute(store, store.find("k"), [PROMPT])
    assert not muted(store, PROMPT, "k.md")
    for _ in range(3):
        undo.run(store.journal, "undo").first()
    assert triggers.muted_prompts(store.root, directory(store), "a.md") == []
    assert not muted(store, PROMPT)
    mute(store)
    for prompt in (PROMPT, "run the billing service tests", "Please run tests of billing service now"):
        assert muted(store, prompt)
        assert not muted(store, prompt, "b.md")
    others = (
        "how do I run the linter of the web client?",
        "how do I run the dev server?",
        "what is the billing period?",
    )
    for prompt in (*others, ""):
        assert not muted(store, prompt)


def test_muted_prompts_hold_no_secret_and_damage_mutes_nothing_more(store):
    secret = "ghp_" + "a1B2" * 9
    mute(store, f"deploy with {secret} please")
    assert not any(
        secret.lower().encode() in path.read_bytes().lower() for path in Path(store.root).rglob("*") if path.is_file()
    )
    with pytest.raises(UsageError):
        mute(store, " ")
    mute(store)
    path = next(Path(store.root, "mutes").iterdir())
    path.write_bytes(path.read_bytes() + b'{"file": "a.md", "terms": 7}\n[]\n{"file": "a.md", "te')
    assert muted(store, PROMPT)
    assert not muted(store, "te")


# --- pairs of memories that a person called different


def mark(store, one, other):
    return sidecars.keep_apart(store.journal, named(store, one), named(store, other))


def pairs(store):
    return {"".join(sorted(os.path.basename(each)[0] for each in pair)) for pair in sidecars.kept_apart(store.root)}


def content(store):
    path = sidecars.pairs_path(store.root)
    return Path(path).read_bytes() if os.path.exists(path) else None


def undo_last(store, op):
    """Undo the newest step of that kind, wherever in the list it is."""
    (undone,) = [each for each in store.journal.ledger().changes() if each.op == op][:1]
    undo.run(store.journal, "undo", undone.id).first()


@pytest.mark.parametrize("other", ["ac", "bx", "xz"])  # sorted before, between and behind the one that is renamed
def test_undo_of_a_rename_takes_back_the_mark_also_after_another_was_made(store, other):
    mark(store, "b", "c")
    before = content(store)
    store.rename(named(store, "b"), "y")
    assert pairs(store) == {"cy"}
    new = other.replace("b", "y")
    mark(store, *new)
    undo_last(store, "rename")
    assert pairs(store) == {"bc", "".join(sorted(new))}
    undo_last(store, "apart")
    assert content(store) == before


def test_a_mark_is_taken_back_after_its_memory_was_renamed_back(store):
    mark(store, "b", "c")
    store.rename(named(store, "b"), "y")
    undo.run(store.journal, "undo").first()
    undo.run(store.journal, "undo").first()
    assert content(store) is None
