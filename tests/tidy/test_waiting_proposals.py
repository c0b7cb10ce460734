"""Saved proposals: what is written is read back the same; another file is refused with a plain sentence."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memtui.base.errors import MemtuiError
from memtui.tidy import changeset, waiting_proposals
from memtui.tidy.changeset import ProposalEvidence

from .stores import World, text_of


@pytest.fixture
def world(tmp_path):
    return World(f"{tmp_path}", {"one.md": text_of("one"), "two.md": text_of("two"), "MEMORY.md": "# Index\n"})


def plan(world):
    """One merge, as it stands in its file."""
    proposal = world.proposal("merge", ["one.md", "two.md"], {"one.md": "both\n", "two.md": None})
    return json.loads(waiting_proposals.dumps([proposal], 0.0))


def read(world, found):
    world.write("saved.json", found if isinstance(found, bytes) else json.dumps(found).encode())
    return waiting_proposals.read(world.path("saved.json"))


def test_what_is_written_is_read_back_and_what_has_no_proposals_refused(world):
    world.write("odd.md", b"\xff\xfe no text \x80")
    facts = {"count": 3, "level": None, "name": "x"}
    evidence = ProposalEvidence("duplicate", 0.75, ("a passage", "“ü” \u202e\x1b[31m"), facts)
    merge = world.proposal("merge", ["one.md", "two.md"], {"one.md": "both\x00\n", "two.md": None})
    found = [
        changeset.propose("merge", merge.files, [evidence], "They say the same."),
        world.proposal("rewrite", ["odd.md"], {"odd.md": b"\xff bytes"}),
        world.proposal("relink", ["MEMORY.md"], {"MEMORY.md": "- x\n"}),
    ]
    data = waiting_proposals.dumps(found, 0.0)
    assert read(world, data) == found
    assert all(each == "\n" or each.isprintable() for each in data.decode())
    odd = (b"", b"null", b"[]", b"{", b"\xff\xfe", b"[" * 100_000, b'{"v": 2}', b'{"v": 1, "changes": 5}', b"1" * 5000)
    for data in odd:
        with pytest.raises(MemtuiError):
            read(world, data)


@given(text=st.text(), blob=st.binary(max_size=50))
def test_any_text_and_any_bytes_come_back(tmp_path_factory, text, blob):
    world = World(f"{tmp_path_factory.mktemp('any')}", {"one.md": blob, "two.md": text.encode("utf-8", "ignore")})
    made = world.proposal("rewrite", ["one.md", "two.md"], {"one.md": text.encode("utf-8", "replace"), "two.md": blob})
    (again,) = read(world, waiting_proposals.dumps([made], 0.0))
    assert (again.files, again.id) == (made.files, made.id)


ELSEWHERE = {
    "outside": "/etc/passwd",
    "upwards": "AUTO/../../x.md",
    "hidden": "AUTO/.git/one.md",
    "no memory": "AUTO/run.sh",
    "the archive, by a merge": "AUTO/.archive/one.md",
    "settings": "TOP/.claude/settings.json",
    "memtui's own files": "TOP/.claude/memtui/trust.md",
    "instructions": "TOP/repo/CLAUDE.md",
    "a NUL": "AUTO/a\0.md",
    "an index": "AUTO/MEMORY.md",
}


@pytest.mark.parametrize("name", ELSEWHERE)
def test_one_about_other_files_is_refused(world, name):
    found = plan(world)
    world.write(f"{world.repo}/CLAUDE.md", "Rules.\n")
    path = ELSEWHERE[name].replace("AUTO", world.auto).replace("TOP", world.top)
    for row in found["changes"][0]["outputs"][0], found["changes"][0]["inputs"][0]:
        row["path"] = path
    try:
        proposals = read(world, found)
    except MemtuiError:
        return
    before = world.files()
    assert [refused.reason for refused in changeset.apply(world.store, proposals).refused] == ["forbidden"]
    assert world.files() == before


TELLING = st.sampled_from(["merge", "delete", "accepted", "/etc/passwd.md", "../x.md", "MEMORY.md"])
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20) | TELLING,
    lambda each: st.lists(each, max_size=3) | st.dictionaries(st.text(max_size=8), each, max_size=3),
    max_leaves=5,
)


def nodes(found, here=()):
    """The paths of all values in a JSON value."""
    yield here
    for key, value in found.items() if isinstance(found, dict) else enumerate(found) if isinstance(found, list) else ():
        yield from nodes(value, (*here, key))


@given(data=st.data())
def test_whatever_a_file_says_it_is_refused_or_stays_within_the_scopes(tmp_path_factory, data):
    world = World(f"{tmp_path_factory.mktemp('any')}", {"one.md": text_of("one"), "two.md": text_of("two")})
    world.write(f"{world.top}/.bashrc", "mine")
    found = plan(world)
    archive = world.proposal("archive", ["one.md"], {"one.md": None, ".archive/one.md": text_of("one")})
    found["changes"] += json.loads(waiting_proposals.dumps([archive], 0.0))["changes"]
    for _ in range(data.draw(st.integers(1, 3))):
        path = data.draw(st.sampled_from([each for each in nodes(found) if each]))
        at = found
        for key in path[:-1]:
            at = at[key]
        if path[-1] == "path" and data.draw(st.booleans()):
            at["path"] = f"{world.auto}/{data.draw(st.text(max_size=12))}.md"
        else:
            at[path[-1]] = data.draw(JSON)
    outside = {name: text for name, text in world.files().items() if not name.startswith(world.auto + "/")}
    try:
        changeset.apply(world.store, read(world, found))
    except MemtuiError:
        return
    finally:
        assert {n: t for n, t in world.files().items() if not n.startswith(world.auto + "/")} == outside
