"""What a merge of git or a sync left behind: conflict markers, and copies."""

import pytest

from memtui.base.errors import MemtuiError
from memtui.recall import content
from memtui.store import scopes
from memtui.store.frontmatter import conflict_markers, document
from memtui.store.index import index_lines
from memtui.store.index.index import parse_index
from memtui.store.memory import from_bytes
from memtui.store.store import Store
from memtui.tidy.checks import fixes

HEAD = "---\nname: ports\ndescription: Ports\ntype: project\n---\n\n"
SIDES = "<<<<<<< HEAD\nThe API runs on 8081.\n=======\nThe API runs on 9090.\n>>>>>>> origin/main\n"
BASED = "<<<<<<< ours\na\n||||||| 1a2b3c\nbase\n=======\nb\n>>>>>>> theirs\n"
LINES = "- [ports](ports.md) — Ports\n<<<<<<< HEAD\n- [a](a.md) — A\n=======\n- [b](b.md) — B\n>>>>>>> main\n"


@pytest.mark.parametrize("text", [HEAD + SIDES, BASED, SIDES.replace("\n", "\r\n"), SIDES + "```\n" + SIDES + "```\n"])
def test_markers_of_both_versions_are_a_conflict(text):
    assert conflict_markers.first(text.encode())
    assert "conflict markers" in document.parse(text.encode()).broken
    assert content.in_conflict(text.encode())


@pytest.mark.parametrize(
    "text",
    [
        "```\n" + SIDES + "```\n",
        "~~~~ text\n" + SIDES + "~~~~\n",
        "".join(f"    {line}\n" for line in SIDES.splitlines()),
        "Look for `<<<<<<< HEAD`, `=======` and `>>>>>>> main`.\n",
        "A title\n=======\n\n>>>>>>> a quote\n",
        "<<<<<<< HEAD\nno end\n",
        "",
    ],
)
def test_an_example_or_a_part_of_the_markers_is_none(text):
    assert not conflict_markers.first(text.encode())
    assert not content.in_conflict(text.encode())


def test_a_side_takes_the_place_of_each_conflict_and_all_else_stays():
    text = f"{HEAD}above\n{SIDES}\n{BASED}below".encode()
    ours, theirs, both = (conflict_markers.resolved(text, side).decode() for side in ("ours", "theirs", "both"))
    assert ours == HEAD + "above\nThe API runs on 8081.\n\na\nbelow"
    assert theirs == HEAD + "above\nThe API runs on 9090.\n\nb\nbelow"
    assert both == HEAD + "above\nThe API runs on 8081.\nThe API runs on 9090.\n\na\nb\nbelow"
    assert conflict_markers.resolved(SIDES.replace("\n", "\r\n").encode(), "ours") == b"The API runs on 8081.\r\n"


def test_no_writer_changes_an_index_with_markers():
    data = LINES.encode()
    assert parse_index(data).conflict == 2
    assert index_lines.add_line(data, "new.md", "new", "New") == data
    assert index_lines.add_line(data, "new.md", "new", "New", at_end=True) == data
    assert index_lines.remove_line(data, "ports.md") == data
    assert index_lines.replace_target(data, "ports.md", "other.md") == data
    assert index_lines.set_hook(data, "ports.md", "Other", "Ports") == data


def test_both_versions_of_a_frontmatter_are_refused(tmp_path):
    (tmp_path / "repo/.git").mkdir(parents=True)
    store = Store({"HOME": str(tmp_path)}, str(tmp_path / "repo"))
    made = store.create(store.scope("auto"), "ports", "Ports", "project", "Text.")
    text = made.raw.decode().replace(
        "description: Ports\n", "<<<<<<< HEAD\ndescription: A\n=======\ndescription: B\n>>>>>>> main\n"
    )
    with open(made.path, "w") as file:
        file.write(text)
    found = store.find("ports")
    assert (found.name, found.description) == ("ports", "")
    with pytest.raises(MemtuiError, match="frontmatter"):
        fixes.resolve(store, [f"memory:{found.path}"], "both")
    fixes.resolve(store, [f"memory:{found.path}"], "theirs")
    assert store.find("ports").description == "B"


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
    found = scopes.copied_memories(memories)
    assert found == {f"/store/{stem}.md": "ports" for stem in copied}
    alone = named("gone (conflicted copy 2026-11-20)", "gone")
    assert scopes.copied_memories([alone]) == {alone.path: "gone"}
    assert scopes.copied_memories([named("release 2")]) == {}
