"""What a merge of git or a sync left behind: conflict markers, and copies."""

import pytest

from memtui.recall import content_hot
from memtui.store import scopes
from memtui.store.frontmatter import document, head_hot
from memtui.store.index import index_lines
from memtui.store.index.index import parse_index
from memtui.store.memory import from_bytes
from tables import rows

HEAD = "---\nname: ports\ndescription: Ports\ntype: project\n---\n\n"
SIDES = "<<<<<<< HEAD\nThe API runs on 8081.\n=======\nThe API runs on 9090.\n>>>>>>> origin/main\n"
BASED = "<<<<<<< ours\na\n||||||| 1a2b3c\nbase\n=======\nb\n>>>>>>> theirs\n"
LINES = "- [ports](ports.md) — Ports\n<<<<<<< HEAD\n- [a](a.md) — A\n=======\n- [b](b.md) — B\n>>>>>>> main\n"


@pytest.mark.parametrize("text", [HEAD + SIDES, BASED, SIDES.replace("\n", "\r\n"), SIDES + "```\n" + SIDES + "```\n"])
def test_markers_of_both_versions_are_a_conflict(text):
    assert head_hot.first_conflict(text.encode())
    assert "conflict markers" in document.parse(text.encode()).broken
    assert content_hot.in_conflict(text.encode())


@pytest.mark.parametrize("text", rows(__file__, "an example or a part of the markers is none"))
def test_an_example_or_a_part_of_the_markers_is_none(text):
    assert not head_hot.first_conflict(text.encode())
    assert not content_hot.in_conflict(text.encode())


def test_no_writer_changes_an_index_with_markers():
    data = LINES.encode()
    assert parse_index(data).conflict == 2
    assert index_lines.add_line(data, "new.md", "new", "New") == data
    assert index_lines.add_line(data, "new.md", "new", "New", at_end=True) == data
    assert index_lines.remove_line(data, "ports.md") == data
    assert index_lines.replace_target(data, "ports.md", "other.md") == data
    assert index_lines.set_hook(data, "ports.md", "Other", "Ports") == data


def test_of_two_versions_of_a_frontmatter_neither_is_read():
    text = HEAD.replace("description: Ports\n", "<<<<<<< HEAD\ndescription: A\n=======\ndescription: B\n>>>>>>> main\n")
    found = from_bytes("/store/ports.md", "auto", text.encode())
    assert (found.name, found.description) == ("ports", "")


def test_copies_are_told_by_their_names_and_what_they_claim():
    def named(stem, name="ports"):
        return from_bytes(f"/store/{stem}.md", "auto", HEAD.replace("name: ports", f"name: {name}").encode())

    copied = [
        *("ports 2", "ports copy", "ports (1)", "Copy of ports", "ports - Copy"),
        "ports (conflicted copy 2026-11-20)",
        "ports (Ann's conflicted copy 2026-11-20)",
        "ports.sync-conflict-20261120-101010-ABCDEFG",
    ]
    memories = [named("ports"), *map(named, copied), named("phase", "phase"), named("phase 2", "phase-2")]
    assert scopes.copied_memories(memories) == {f"/store/{stem}.md": "ports" for stem in copied}
    alone = named("gone (conflicted copy 2026-11-20)", "gone")
    assert scopes.copied_memories([alone]) == {alone.path: "gone"}
    assert scopes.copied_memories([named("release 2")]) == {}
