"""What memories a directory holds: the same answer from the files, from what is kept, and at a glance."""

import os
import tempfile

import pytest

from memtui.base import fs_hot, ids_hot
from memtui.store import catalog_hot, trust_hot


@pytest.fixture
def root(tmp_path):
    return str(tmp_path / "memtui")


@pytest.fixture
def memory(tmp_path):
    found = tmp_path / "memory"
    found.mkdir()
    return found


def write(directory, file, kind="reference", description="What it says", seconds=1_700_000_000, body="Body.\n"):
    path = directory / file
    path.parent.mkdir(exist_ok=True, parents=True)
    name = path.stem
    path.write_text(f"---\nname: {name}\ndescription: {description}\nmetadata:\n  type: {kind}\n---\n{body}")
    os.utime(path, (seconds, seconds))


def names(found):
    return [line.name for line in found.lines]


def read(root, directory, known=None):
    """What hooks see; with `known` as memories of a project that are trusted so."""
    if known is not None:
        trusted = {"v": 1, "dirs": {trust_hot.key(directory): {"always": known.always, "hashes": known.hashes}}}
        data = catalog_hot.fastjson_hot.dumps(trusted).encode()
        if fs_hot.read_or_empty(root + "/trust.json") != data:
            fs_hot.write_atomic(root + "/trust.json", data)
    return catalog_hot.look(root, directory, known is not None)


def test_lines_tell_name_description_type_and_the_digest_of_the_bytes(root, memory):
    write(memory, "sub/prefer-pnpm.md", "feedback", "Use pnpm")
    (line,) = read(root, str(memory)).lines
    assert (line.file, line.name, line.description, line.type) == (
        "sub/prefer-pnpm.md", "prefer-pnpm", "Use pnpm", "feedback",
    )  # fmt: skip
    assert line.digest == ids_hot.digest((memory / "sub" / "prefer-pnpm.md").read_bytes())


def test_rules_come_first_then_the_newest(root, memory):
    for number, kind in enumerate(["reference", "project", "tool", "user", "feedback", "decision"]):
        write(memory, f"{kind}-old.md", kind, seconds=1000 + number)
        write(memory, f"{kind}-new.md", kind, seconds=2000 + number)
    kinds = ("feedback", "user", "tool", "project", "reference", "decision")
    assert names(read(root, str(memory))) == [f"{kind}-{age}" for kind in kinds for age in ("new", "old")]


def test_index_hidden_and_other_files_and_links_that_leave_are_left_out(root, memory, tmp_path):
    write(memory, "a.md")
    write(memory, "MEMORY.md")
    write(memory, ".hidden.md")
    write(memory, "notes.txt")
    write(tmp_path / "else", "secret.md")
    (memory / "out.md").symlink_to(tmp_path / "else" / "secret.md")
    (memory / "outdir").symlink_to(tmp_path / "else")
    (memory / "in.md").symlink_to("a.md")
    (memory / "dir.md").mkdir()
    os.mkfifo(memory / "fifo.md")
    assert sorted(line.file for line in read(root, str(memory)).lines) == ["a.md", "in.md"]


def test_files_of_any_content_have_a_line(root, memory):
    (memory / "binary.md").write_bytes(bytes(range(256)))
    (memory / "empty.md").write_bytes(b"")
    (memory / "broken.md").write_text("---\nname: [unclosed\ndescription: x: y: z\n---\n")
    (memory / "bare.md").write_text("# Just a heading\n\ntext\n")
    (memory / os.fsdecode(b"latin\xe9.md")).write_text("x\n")
    (memory / "long.md").write_text(f"---\nname: long\ndescription: {'x' * 5000}\n---\n")
    found = {line.file: line for line in read(root, str(memory)).lines}
    assert (len(found), found["bare.md"].description) == (6, "Just a heading")
    assert "5000 characters" in found["long.md"].description


def test_what_is_not_trusted_is_only_counted(root, memory):
    for name in ("a", "b", "c"):
        write(memory, f"{name}.md")
    known = trust_hot.Trust(False, {ids_hot.digest((memory / "b.md").read_bytes()): "b.md"})
    found = read(root, str(memory), known)
    assert (names(found), found.count, found.untrusted) == (["b"], 1, 2)
    assert read(root, str(memory), trust_hot.Trust(True, {})).count == 3
    assert read(root, str(memory), trust_hot.Trust(False, {})).untrusted == 3


@pytest.fixture
def many(memory):
    for number in range(catalog_hot.CACHE_FROM + 200):
        write(memory, f"m{number:03}.md", seconds=1_700_000_000 + number)
    return memory


def picture(found):
    return [line.row() for line in found.lines], found.count, found.untrusted


def uncached(directory, known=None):
    with tempfile.TemporaryDirectory() as root:
        return picture(read(root, str(directory), known))


HEAD_OF_FEEDBACK = b"---\nname: m000\nmetadata:\n  type: feedback\n---\nx\n"
CHANGES = {
    "edit": lambda directory: write(directory, "m247.md", "feedback", "Edited in place"),
    "edit below the head": lambda directory: fs_hot.write_atomic(str(directory / "m000.md"), HEAD_OF_FEEDBACK),
    "add": lambda directory: write(directory, "new.md", "feedback"),
    "add below": lambda directory: write(directory, "sub/new.md", "feedback"),
    "remove": lambda directory: (directory / "m246.md").unlink(),
    "rename": lambda directory: (directory / "m246.md").rename(directory / "m500.md"),
    "same size": lambda directory: write(directory, "m247.md", description="What it told", seconds=1_800_000_000),
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_a_change_is_seen_though_everything_was_cached(root, many, change):
    first = read(root, str(many))
    assert (len(first.lines), first.count) == (catalog_hot.HEAD, catalog_hot.CACHE_FROM + 200)
    assert picture(read(root, str(many))) == picture(first) == uncached(many)
    change(many)
    assert uncached(many) != picture(first)
    for _ in range(2):
        assert picture(read(root, str(many))) == uncached(many)


def test_a_second_look_at_many_unchanged_memories_reads_none(root, many, monkeypatch):
    first = names(read(root, str(many)))
    monkeypatch.setattr(catalog_hot, "_whole", None)
    assert names(read(root, str(many))) == first


def test_a_change_of_trust_is_seen_though_everything_was_cached(root, many):
    every = {ids_hot.digest(path.read_bytes()): path.name for path in many.iterdir()}
    some = dict(list(every.items())[:60])
    for known in (
        trust_hot.Trust(False, every),
        trust_hot.Trust(False, some),
        trust_hot.Trust(True, {}),
        trust_hot.Trust(False, some),
    ):
        for _ in range(2):
            assert picture(read(root, str(many), known)) == uncached(many, known)
    assert read(root, str(many)).untrusted == 0


def test_broken_caches_are_made_anew(root, many):
    whole = uncached(many)
    for garbage in (b"", b"{}", b"[]", b"\xff\x00", b'{"rows": [{}], "dirs": {}, "known": null, "count": 1}'):
        read(root, str(many))
        for name in os.listdir(root + "/run"):
            fs_hot.write_atomic(f"{root}/run/{name}", garbage)
        assert picture(read(root, str(many))) == whole
    for row in ([], {}, "x", None, 5, [1, 2, 3, 4, 5, 6], ["a.md"]):
        read(root, str(many))
        text = catalog_hot.fastjson_hot.dumps(row).encode()
        for name in os.listdir(root + "/run"):
            path, data = f"{root}/run/{name}", b"".join(b"m%03d.md\t%s\n" % (n, text) for n in range(248))
            if name.endswith(".json"):
                data = catalog_hot.fastjson_hot.dumps(
                    catalog_hot.fastjson_hot.loads_dict(fs_hot.read_bytes(path)) | {"rows": [row]}
                ).encode()
            fs_hot.write_atomic(path, data)
        for _ in range(2):
            assert picture(read(root, str(many))) == whole, row


# --- of directories that a hook has no time to look at whole


@pytest.fixture
def large(memory):
    """More than there is time for; those that `changes` are about rank first, but for m000."""
    for number in range(catalog_hot.AT_ONCE + 50):
        write(memory, f"m{number:03}.md", seconds=1_700_000_000 + (number if number < 248 else number - 1000))
    return memory


def test_a_large_directory_tells_nothing_but_its_size_until_it_is_built(root, large):
    found = read(root, str(large))
    assert (found.lines, found.count, found.building, found.unready) == ([], catalog_hot.AT_ONCE + 50, True, True)
    built = catalog_hot.build(root, str(large), project=False)
    assert len(built.lines) == catalog_hot.HEAD
    found = read(root, str(large))
    assert (picture(found), found.building, found.unready) == (picture(built), False, False)


def many_new(directory):
    for number in range(catalog_hot.AT_ONCE + 10):
        write(directory, f"new{number}.md", "feedback")


@pytest.mark.every(step=5)
@pytest.mark.parametrize("change", [*CHANGES.values(), many_new], ids=[*CHANGES, "many new"])
@pytest.mark.parametrize("quick", [False, True])
def test_a_change_of_a_large_directory_is_seen_or_known_unseen_until_built(root, large, change, quick):
    first = catalog_hot.build(root, str(large), project=False)
    change(large)
    found = catalog_hot.look(root, str(large), project=False, quick=quick)
    truth = catalog_hot.build(root + "2", str(large), project=False)
    if not found.unready:
        digests = lambda look: {line.file: line.digest for line in look.lines[: catalog_hot.HEAD - 1]}
        assert digests(found) == digests(truth)
        assert found.count == truth.count
    assert picture(truth) != picture(first)
    assert picture(catalog_hot.build(root, str(large), project=False)) == picture(truth)
    assert picture(read(root, str(large))) == picture(truth)
    assert not read(root, str(large)).unready


def test_what_was_noted_is_read_wherever_it_ranks(root, large):
    catalog_hot.build(root, str(large), project=False)
    CHANGES["edit below the head"](large)
    catalog_hot.touch(root, str(large / "m000.md"))
    assert read(root, str(large)).lines[0].file == "m000.md"
    assert catalog_hot.look(root, str(large), project=False, quick=True).lines[0].file == "m000.md"
    catalog_hot.build(root, str(large), project=False)
    assert catalog_hot.touched(catalog_hot.look(root, str(large), project=False).files[-1]) == []
