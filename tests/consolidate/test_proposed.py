"""A ChangeSet as a file: what is written is read back the same; a hostile file is refused with a plain sentence."""

import base64
import json
import os

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memtui.consolidate import changeset, composing, proposed
from memtui.consolidate.changeset import ProposalEvidence
from memtui.consolidate.files import MemoryFiles
from memtui.core.base.errors import MemtuiError

from .stores import World, text_of


@pytest.fixture
def world(tmp_path):
    return World(f"{tmp_path}", {"one.md": text_of("one"), "two.md": text_of("two"), "MEMORY.md": "# Index\n"})


def plan(world):
    """A ChangeSet of one merge, as read from its file."""
    proposal = world.proposal("merge", ["one.md", "two.md"], {"one.md": "both\n", "two.md": None})
    return json.loads(proposed.dumps(world.set(proposal)))


def read(world, found):
    data = found if isinstance(found, bytes) else json.dumps(found).encode()
    return proposed.loads(data, MemoryFiles(world.store))


def test_what_is_written_is_read_back_the_same(world):
    world.write("odd.md", b"\xff\xfe no text \x80")
    evidence = ProposalEvidence(
        "duplicate", 0.75, ("a passage", "“ü” \u202e\x1b[31m"), {"count": 3, "level": None, "name": "x"}
    )
    merge = world.proposal("merge", ["one.md", "two.md"], {"one.md": "both\x00\n", "two.md": None})
    found = world.set(
        changeset.propose("merge", merge.inputs, merge.outputs, [evidence], "They say the same."),
        world.proposal("rewrite", ["odd.md"], {"odd.md": b"\xff bytes"}),
        world.proposal("relink", ["MEMORY.md"], {"MEMORY.md": "- x\n"}),
    )
    data = proposed.dumps(found)
    assert read(world, data) == found
    world.write("saved.json", data)
    assert proposed.read(world.path("saved.json"), MemoryFiles(world.store)) == found
    assert all(each == "\n" or each.isprintable() for each in data.decode())


@pytest.mark.slow
@given(text=st.text(), blob=st.binary(max_size=50))
def test_any_text_and_any_bytes_come_back(tmp_path_factory, text, blob):
    world = World(f"{tmp_path_factory.mktemp('any')}", {"one.md": blob, "two.md": text.encode("utf-8", "ignore")})
    made = world.proposal("rewrite", ["one.md", "two.md"], {"one.md": text.encode("utf-8", "replace"), "two.md": blob})
    found = world.set(changeset.propose("rewrite", made.inputs, made.outputs, [], text))
    again = read(world, proposed.dumps(found))
    assert [each.data for each in again.proposals[0].outputs] == [each.data for each in made.outputs]
    assert again.proposals[0].id == found.proposals[0].id


def test_a_file_of_hashes_alone_is_enough(world):
    found = plan(world)
    for each in found["changes"][0]["inputs"]:
        del each["text"]
    assert [each.data for each in read(world, found).proposals[0].inputs] == [None, None]


def with_path(path):
    def change(found, world):
        found["changes"][0]["outputs"][0]["path"] = path.replace("AUTO", world.auto).replace("TOP", world.top)

    return change


def with_key(place, key, value):
    def change(found, world):
        at = found["changes"][0]
        for step in place:
            at = at[step]
        at[key] = value

    return change


def at_top(key, value):
    return lambda found, world: found.__setitem__(key, value)


HOSTILE = {
    "another format": at_top("format", "other"),
    "a newer version": at_top("version", 2),
    "a version that is true": at_top("version", True),
    "changes that are no list": at_top("changes", {"a": 1}),
    "a change that is no object": at_top("changes", ["rm -rf /"]),
    "too many changes": at_top("changes", [{}] * (proposed.MAX_CHANGES + 1)),
    "a time that is no text": at_top("time", 5),
    "the same id twice": lambda found, world: found["changes"].append(found["changes"][0]),
    "an unknown kind": with_key([], "kind", "execute"),
    "a kind that is a list": with_key([], "kind", ["merge"]),
    "an id with a path in it": with_key([], "id", "../../x"),
    "no id": with_key([], "id", ""),
    "a reason without end": with_key([], "reason", "x" * (changeset.MAX_TEXT + 1)),
    "no outputs": with_key([], "outputs", []),
    "outputs that are a text": with_key([], "outputs", "x"),
    "more files than a change may have": with_key([], "outputs", [{}] * (proposed.MAX_FILES + 1)),
    "evidence that is no list of objects": with_key([], "evidence", ["x"]),
    "a score that is a text": with_key([], "evidence", [{"code": "x", "score": "1"}]),
    "data that is nested": with_key([], "evidence", [{"code": "x", "data": {"a": {"b": 1}}}]),
    "texts that are numbers": with_key([], "evidence", [{"code": "x", "texts": [1]}]),
    "a path outside": with_path("/etc/passwd"),
    "a path beside the memories": with_path("TOP/.ssh/authorized_keys"),
    "a path upwards": with_path("AUTO/../../x.md"),
    "a path that is not normal": with_path("AUTO/./one.md"),
    "a relative path": with_path("one.md"),
    "a file that is no memory": with_path("AUTO/run.sh"),
    "a hidden file": with_path("AUTO/.hidden.md"),
    "a hidden directory": with_path("AUTO/.git/one.md"),
    "the archive, by a merge": with_path("AUTO/.archive/one.md"),
    "an index below": with_path("AUTO/sub/MEMORY.md"),
    "a NUL in a path": with_path("AUTO/a\0.md"),
    "half a character in a path": with_path("AUTO/\ud800.md"),
    "settings": with_path("TOP/.claude/settings.json"),
    "memtui's own files": with_path("TOP/.claude/memtui/trust.md"),
    "instructions": with_path("TOP/repo/CLAUDE.md"),
    "a name as long as a text": with_path("AUTO/" + "x" * 300 + ".md"),
    "a path without end": with_path("AUTO/" + "x/" * 5000 + "a.md"),
    "half a character in a text": with_key(["outputs", 0], "text", "\ud800"),
    "a text that is a list": with_key(["outputs", 0], "text", ["x"]),
    "gone and a text": with_key(["outputs", 0], "gone", True),
    "gone that is a text": with_key(["outputs", 1], "gone", "yes"),
    "both contents": with_key(["outputs", 0], "base64", "eA=="),
    "base 64 that is none": lambda found, world: found["changes"][0]["outputs"].__setitem__(
        0, {"path": world.path("one.md"), "base64": "§§"}
    ),
    "a hash that is none": with_key(["inputs", 0], "sha256", "x" * 64),
    "a text with another hash": with_key(["inputs", 0], "text", "other"),
    "a file removed that was not read": with_key([], "inputs", []),
    "an input outside": with_key(["inputs", 0], "path", "/etc/passwd"),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_file_is_refused_with_a_plain_sentence(world, name):
    found = plan(world)
    world.write(f"{world.repo}/CLAUDE.md", "Rules.\n")
    HOSTILE[name](found, world)
    before = world.files()
    with pytest.raises(MemtuiError) as refused:
        read(world, found)
    assert len(refused.value.message) < 25_000
    assert "Traceback" not in refused.value.message
    assert world.files() == before


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"null",
        b"[]",
        b"{",
        b"\xff\xfe",
        b"[" * 100_000,
        b'{"format": "memtui-changeset", "version": NaN}',
        b"1" * 5000,
    ],
)
def test_what_is_no_changeset_at_all_is_refused(world, data):
    with pytest.raises(MemtuiError):
        read(world, data)


@pytest.mark.slow
def test_a_huge_file_and_a_huge_output_are_refused(world):
    with pytest.raises(MemtuiError, match="larger"):
        read(world, b" " * (proposed.MAX_BYTES + 1))
    found = plan(world)
    found["changes"][0]["outputs"][0]["text"] = "x" * (proposed.MAX_OUTPUT + 1)
    with pytest.raises(MemtuiError, match="at most 8 MB"):
        read(world, found)


def test_symlinks_are_refused(world):
    os.symlink("/etc", world.path("sub"))
    os.symlink("/etc/passwd", world.path("link.md"))
    os.makedirs(world.path("real"))
    os.symlink(world.path("real"), world.path("inner"))
    for name in ("sub/passwd.md", "link.md", "inner/x.md"):
        found = plan(world)
        found["changes"][0]["outputs"][0]["path"] = world.path(name)
        with pytest.raises(MemtuiError):
            read(world, found)


def test_unknown_keys_are_passed_over(world):
    found = plan(world)
    found["dropped"] = found["changes"][0]["coverage"] = found["changes"][0]["decision"] = [1]
    assert len(read(world, found).proposals) == 1


def test_base_64_is_read_for_text_too(world):
    found = plan(world)
    found["changes"][0]["outputs"][0] = {
        "path": world.path("one.md"),
        "base64": base64.b64encode(b"both\n").decode(),
    }
    assert read(world, found).proposals[0].outputs[0].data == b"both\n"


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=20)
    | st.sampled_from(["merge", "delete", "accepted", "/etc/passwd.md", "../x.md", "MEMORY.md"]),
    lambda each: st.lists(each, max_size=3) | st.dictionaries(st.text(max_size=8), each, max_size=3),
    max_leaves=5,
)


def nodes(found, here=()):
    """The paths of all values in a JSON value."""
    yield here
    for key, value in found.items() if isinstance(found, dict) else enumerate(found) if isinstance(found, list) else ():
        yield from nodes(value, (*here, key))


@pytest.mark.slow
@given(data=st.data())
def test_whatever_a_file_says_it_is_refused_or_stays_within_the_scopes(tmp_path_factory, data):
    world = World(f"{tmp_path_factory.mktemp('any')}", {"one.md": text_of("one"), "two.md": text_of("two")})
    world.write(f"{world.top}/.bashrc", "mine")
    found = json.loads(
        proposed.dumps(
            world.set(
                world.proposal("merge", ["one.md", "two.md"], {"one.md": "both\n", "two.md": None}),
                world.proposal("archive", ["one.md"], {"one.md": None, ".archive/one.md": text_of("one")}),
            )
        )
    )
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
        composing.apply(world.store, read(world, json.dumps(found).encode()).proposals)
    except MemtuiError:
        return
    finally:
        assert {n: t for n, t in world.files().items() if not n.startswith(world.auto + "/")} == outside
