"""Memories are changed one step at a time; every step can be undone and nothing is lost on the way."""

import json
import os
import posix

import pytest

from memtui.base import fs_hot, paths_hot
from memtui.base.errors import ConflictError, MemtuiError, NotFoundError, UsageError
from memtui.store import memory, scopes, trust_grants, trust_hot
from memtui.store.history import Intake
from memtui.store.journal import undo
from memtui.store.store import Store
from memtui.store.versions.versions import Versions, Writer

FLAT = b"---\nname: old\ndescription: 'quoted: yes'  # why\ntype: feedback\ntags: [a, b]\n---\n\nSee [[old]] and [[two]].\n"


class World:
    def __init__(self, top):
        self.env = {"HOME": str(top / "home")}
        self.config = top / "home" / ".claude"
        self.root = self.config / "memtui"
        self.repo = top / "repo"
        (self.repo / ".git").mkdir(parents=True)
        self.auto = self.config / "projects" / paths_hot.slug(str(self.repo)) / "memory"
        self.project = self.repo / ".claude" / "memory"

    @property
    def store(self):
        """A store as another process would open it."""
        return Store(self.env, str(self.repo))

    def undo(self, key=None):
        return undo.run(self.store.journal, "undo", key).first()

    def redo(self):
        return undo.run(self.store.journal, "redo").first()

    def put(self, name, data, directory=None):
        directory = directory or self.auto
        path = directory / f"{name}.md"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
        return path

    def index(self, text, directory=None):
        path = (directory or self.auto) / "MEMORY.md"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode())
        return path

    def files(self):
        """Everything a person has, by path."""
        found = {}
        for top in (self.config, self.repo):
            for place, _, names in os.walk(top):
                if not place.startswith(str(self.root)):
                    found.update({f"{place}/{n}": fs_hot.read_bytes(f"{place}/{n}") for n in names})
        return found

    def scope(self, label):
        return self.store.scope(label)


@pytest.fixture
def world(tmp_path):
    found = World(tmp_path)
    found.put("old", FLAT)
    found.put(
        "two",
        b"---\nname: two\ndescription: second\nmetadata: \n  type: project\n---\nAs [[old]] says, [[old|it]] `[[old]]`.\n",
    )
    found.put("plain", b"# No frontmatter\nlinks to [[old]]\n")
    found.put("bad", b'---\nname: bad\ndescription: "x" y\n---\n[[old]]\n')
    found.index(
        "# Index\r\n\r\n* [old](old.md) - quoted: yes\r\n* [Two](two.md) - second\r\n\r\nprose about [it](old.md)\r\n"
    )
    return found


def undo_and_redo(world, before):
    """What holds for every operation: it can be taken back and made again by later processes."""
    after = world.files()
    assert after != before
    world.undo()
    assert world.files() == before
    world.redo()
    assert world.files() == after
    world.undo()
    assert world.files() == before
    world.redo()


def test_create_also_makes_the_scope_and_its_index(world):
    before = world.files()
    made = world.store.create(world.scope("auto"), "use-pnpm", "Use pnpm: always", "feedback", "Not npm.")
    expected = ("use-pnpm", "feedback", "Use pnpm: always", "\nNot npm.\n")
    assert (made.name, made.type, made.description, made.body) == expected
    assert b"* [use-pnpm](use-pnpm.md) - Use pnpm: always\r\n" in (world.auto / "MEMORY.md").read_bytes()
    undo_and_redo(world, before)
    for label in ("global", "project"):
        before = world.files()
        made = world.store.create(world.scope(label), "first", "The first", "user", "Text")
        assert made.scope_label == label
        assert fs_hot.read_bytes(world.scope(label).index_path) == "- [first](first.md) — The first\n".encode()
        assert world.scope(label).exists
        undo_and_redo(world, before)


def refuses(error, match, *attempts):
    for attempt in attempts:
        with pytest.raises(error, match=match):
            attempt()


ODD_NAMES = (
    *("", " ", ".", "..", "../x", "a/b", "a\\b", "a\0b", "a\nb", "MEMORY", "memory.md", ".hidden", "a]b"),
    *("a:b", "a|b"),
)


def test_odd_names_are_refused_and_a_taken_one_is_a_conflict(world):
    before = world.files()
    old, store = world.store.find("old"), world.store
    for name in (*ODD_NAMES, "x" * 201, "é" * 101, "\ud800"):
        refuses(
            UsageError,
            None,
            lambda name=name: store.create(world.scope("auto"), name, "d", "user", "b"),
            lambda name=name: store.rename(old, name),
            lambda name=name: store.copy(old, world.scope("global"), name),
        )
    assert world.files() == before
    old = world.store.find("old")
    world.put("old", b"theirs\n", world.config / "memory")
    before = world.files()
    refuses(
        ConflictError,
        "exists",
        lambda: world.store.create(world.scope("auto"), "two", "d", "user", "b"),
        lambda: world.store.rename(old, "two"),
        lambda: world.store.move(old, world.scope("global")),
        lambda: world.store.copy(old, world.scope("global")),
    )
    assert world.files() == before


def test_an_edit_changes_only_its_line_and_the_index_line(world):
    before = world.files()
    world.store.edit(world.store.find("old"), {"description": "shorter"})
    assert (world.auto / "old.md").read_bytes() == FLAT.replace(b"'quoted: yes'", b"'shorter'")
    assert b"* [old](old.md) - shorter\r\n" in (world.auto / "MEMORY.md").read_bytes()
    undo_and_redo(world, before)
    # A line that a person wrote is left alone.
    path = world.index("- [old](old.md) — my own words\n")
    world.store.edit(world.store.find("old"), {"description": "even shorter"})
    assert path.read_text() == "- [old](old.md) — my own words\n"


def test_an_edit_of_a_field_the_body_the_whole_or_of_nothing_at_all(world):
    old = world.store.find("old")
    world.store.edit(old, old.raw)
    world.store.edit(old, {"description": "quoted: yes"})
    world.store.edit(old, {"type": "feedback"}, op="retype")
    with pytest.raises(MemtuiError, match="has that name already"):
        world.store.rename(old, "old")
    assert world.store.journal.ledger().all() == []
    old = world.store.edit(world.store.find("old"), {"metadata.note": "x", "tags": "", "body": "New\n"})
    assert old.fields["metadata"] == {"note": "x"}
    assert "tags" not in old.fields
    assert (old.body, world.store.edit(old, b"anything\n").raw) == ("New\n", b"anything\n")
    world.undo()
    world.undo()
    assert (world.auto / "old.md").read_bytes() == FLAT


@pytest.mark.parametrize(
    "bare", [b"# No frontmatter\nlinks to [[old]]\n", b"\xef\xbb\xbftab\t\r\n\r\nend \xff", b"", b"\n\nx"]
)
def test_a_type_gives_a_bare_file_frontmatter_and_its_text_keeps_all_bytes(world, bare):
    path = world.put("plain", bare)
    before = world.files()
    made = world.store.edit(world.store.find("plain"), {"type": "user"}, op="retype")
    assert (made.name, made.type, made.broken) == ("plain", "user", None)
    assert made.description == {b"#": "No frontmatter", b"\xef": "tab", b"": "", b"\n": "x"}[bare[:1]]
    assert path.read_bytes().endswith(bare.removeprefix(b"\xef\xbb\xbf"))
    assert path.read_bytes().startswith(bare[:3] if bare.startswith(b"\xef") else b"---")
    undo_and_redo(world, before)


def test_what_has_no_sound_frontmatter_is_never_rewritten(world):
    before = world.files()
    bad = world.store.find("bad")
    refuses(
        MemtuiError,
        "bad",
        lambda: world.store.edit(bad, {"type": "user"}, op="retype"),
        lambda: world.store.edit(bad, {"description": "x"}),
        lambda: world.store.edit(bad, {"body": "x"}),
    )
    assert world.files() == before
    renamed = world.store.rename(bad, "better")
    assert renamed.raw == world.store.move(renamed, world.scope("global")).raw == bad.raw


def test_a_file_changed_since_it_was_read_is_a_conflict_and_stays(world):
    old = world.store.find("old")
    world.put("old", FLAT + b"the agent added this\n")
    before = world.files()
    store = world.store
    attempts = [
        lambda: store.edit(old, b"mine\n"),
        lambda: store.edit(old, {"type": "user"}, op="retype"),
        lambda: store.rename(old, "new"),
        lambda: store.move(old, world.scope("global")),
        lambda: store.copy(old, world.scope("global")),
        lambda: store.delete(old),
    ]
    refuses(ConflictError, r"old\.md changed", *attempts)
    assert world.files() == before
    os.unlink(world.auto / "old.md")
    refuses(ConflictError, r"old\.md", *attempts)


def test_rename_repairs_links_index_and_name_also_by_another_name(world):
    before = world.files()
    new = world.store.rename(world.store.find("old"), "new")
    assert new.raw == FLAT.replace(b"name: old", b"name: new").replace(b"[[old]]", b"[[new]]")
    assert not (world.auto / "old.md").exists()
    assert (world.auto / "two.md").read_bytes().endswith(b"As [[new]] says, [[new|it]] `[[old]]`.\n")
    assert (world.auto / "plain.md").read_bytes().endswith(b"links to [[new]]\n")
    assert (world.auto / "bad.md").read_bytes().endswith(b"[[old]]\n")  # broken: never rewritten
    assert (world.auto / "MEMORY.md").read_bytes() == (
        b"# Index\r\n\r\n* [new](new.md) - quoted: yes\r\n* [Two](two.md) - second\r\n\r\nprose about [it](new.md)\r\n"
    )
    undo_and_redo(world, before)
    # An undo keeps what was added to a linking memory since.
    two = world.auto / "two.md"
    two.write_bytes(two.read_bytes() + b"added by the agent\n")
    world.undo()
    assert two.read_bytes().endswith(b"As [[old]] says, [[old|it]] `[[old]]`.\nadded by the agent\n")
    world.put("file_one", b"---\nname: Nice name\ntype: user\n---\nSee [[Nice name]].\n")
    world.put("refs", b"---\nname: refs\n---\n[[Nice name]]\n")
    before = world.files()
    world.store.edit(world.store.find("file_one"), {"name": "Another"})
    assert (world.auto / "refs.md").read_bytes().endswith(b"---\n[[file_one]]\n")
    assert (world.auto / "file_one.md").read_bytes().endswith(b"---\nSee [[file_one]].\n")
    undo_and_redo(world, before)


def test_move_takes_the_index_line_along_and_copy_leaves_the_original(world):
    before = world.files()
    os.chmod(world.auto / "two.md", 0o644)
    moved = world.store.move(world.store.find("two"), world.scope("global"))
    assert moved.path == str(world.config / "memory" / "two.md")
    assert not (world.auto / "two.md").exists()
    assert b"two.md" not in (world.auto / "MEMORY.md").read_bytes()
    assert (world.config / "memory" / "MEMORY.md").read_text() == "- [Two](two.md) — second\n"
    assert os.stat(moved.path).st_mode & 0o777 == 0o644
    undo_and_redo(world, before)
    before = world.files()
    copied = world.store.copy(world.store.find("old"), world.scope("project"), "fresh")
    assert copied.raw == FLAT.replace(b"name: old", b"name: fresh")
    assert (world.auto / "old.md").read_bytes() == FLAT
    assert (world.project / "MEMORY.md").read_text() == "- [fresh](fresh.md) — quoted: yes\n"
    undo_and_redo(world, before)


def test_delete_restore_and_undo(world):
    before = world.files()
    key = world.store.delete(world.store.find("old"))
    assert not (world.auto / "old.md").exists()
    assert b"* [old]" not in (world.auto / "MEMORY.md").read_bytes()
    (item,) = world.store.trash()
    assert (item.id, item.path, item.scope_label) == (key, str(world.auto / "old.md"), "auto")
    assert item.memory.raw == FLAT
    undo_and_redo(world, before)
    assert [i.id for i in world.store.trash()] == [key]
    world.store.restore(key)
    assert (world.files(), world.store.trash()) == (before, [])
    world.undo()
    assert [i.id for i in world.store.trash()] == [key]
    with pytest.raises(NotFoundError):
        world.store.restore("01K8")


def test_restore_after_other_changes_and_into_a_taken_place(world):
    key = world.store.delete(world.store.find("old"))
    world.store.edit(world.store.find("two"), {"type": "user"}, op="retype")
    world.put("old", b"new one of that name\n")
    with pytest.raises(ConflictError, match=r"old\.md exists"):
        world.store.restore(key)
    os.unlink(world.auto / "old.md")
    assert (world.store.restore(key).raw, world.store.find("two").type) == (FLAT, "user")


def contents(world):
    return b"".join(p.read_bytes() for p in world.root.rglob("*") if p.is_file() and p.name != "journal.jsonl")


def test_purge_is_for_good(world):
    secret = world.store.create(world.scope("auto"), "key", "the key", "user", "hunter2 one")
    secret = world.store.edit(secret, {"body": "hunter2 two"})
    secret = world.store.move(secret, world.scope("global"))
    secret = world.store.rename(secret, "other")
    world.store.edit(world.store.find("old"), {"type": "user"}, op="retype")
    key = world.store.delete(secret)
    assert b"hunter2 one" in contents(world)
    world.store.purge(key)
    assert b"hunter2" not in contents(world)
    assert world.store.trash() == []
    with pytest.raises(NotFoundError):
        world.store.restore(key)
    with pytest.raises(NotFoundError, match="deleted for good"):
        world.undo(key)
    assert world.undo().op == "retype"  # what is not about it can still be undone
    assert world.store.find("old").raw == FLAT


def test_symlinks_that_leave_the_scope_are_never_written(world, tmp_path):
    outside = tmp_path / "outside.md"
    outside.write_bytes(FLAT)
    (world.auto / "leak.md").symlink_to(outside)
    (world.auto / "MEMORY.md").unlink()
    (world.auto / "MEMORY.md").symlink_to(tmp_path / "index.md")
    store = world.store
    (tmp_path / "x.md").write_bytes(b"x")
    refuses(
        MemtuiError,
        "outside of its scope",
        lambda: store.edit(store.find("leak"), b"x"),
        lambda: store.delete(store.find("leak")),
        lambda: store.copy(store.find("leak"), world.scope("global")),
        lambda: store.create(world.scope("auto"), "fresh", "d", "user", "b"),
    )
    refuses(
        MemtuiError,
        None,
        lambda: store.delete(memory.from_bytes(str(tmp_path / "x.md"), "auto", b"x")),
        lambda: store.delete(memory.from_bytes(f"{world.auto}/../../../x.md", "auto", b"x")),
    )
    assert outside.read_bytes() == FLAT
    assert not (tmp_path / "index.md").exists()
    assert (tmp_path / "x.md").exists()
    (world.auto / "sub").mkdir()
    (world.auto / "sub" / "elder.md").write_bytes(FLAT)
    trashed = world.store.delete(world.store.find("elder"))
    (world.auto / "sub").rmdir()
    (tmp_path / "away").mkdir()
    (world.auto / "sub").symlink_to(tmp_path / "away")
    with pytest.raises(MemtuiError, match=r"elder\.md is outside of its scope now\.$"):
        world.store.restore(trashed)
    assert not list((tmp_path / "away").iterdir())


def test_instructions_are_read_only_and_a_linked_memory_keeps_its_link(world):
    (world.repo / "CLAUDE.md").write_text("be brief\n")
    instructions = world.store.find("instructions:project:CLAUDE")
    refuses(
        MemtuiError,
        "read-only",
        lambda: world.store.delete(instructions),
        lambda: world.store.edit(instructions, b"x"),
        lambda: world.store.rename(instructions, "x"),
        lambda: world.store.create(world.scope("instructions:project"), "x", "d", "user", "b"),
    )
    assert world.store.copy(instructions, world.scope("global"), "brief").raw == b"be brief\n"
    (world.auto / "link.md").symlink_to("old.md")
    world.store.edit(world.store.find("link"), {"description": "new"})
    assert (world.auto / "link.md").is_symlink()
    assert b"'new'" in (world.auto / "old.md").read_bytes()
    link = world.store.find("link")
    refuses(
        MemtuiError,
        "symlink",
        lambda: world.store.delete(link),
        lambda: world.store.rename(link, "x"),
        lambda: world.store.move(link, world.scope("global")),
    )


def test_what_a_person_writes_into_a_project_is_trusted_and_nothing_else(world):
    world.put("theirs", b"---\nname: theirs\n---\n[[mine]]\n", world.project)
    root = str(world.root)
    mine = world.store.create(world.scope("project"), "mine", "d", "user", "b")
    assert trust_hot.trusted_names(root, str(world.project)) == {"mine.md"}
    mine = world.store.edit(mine, {"description": "e"})
    assert trust_hot.trusted_names(root, str(world.project)) == {"mine.md"}
    world.store.rename(mine, "ours")
    assert (world.project / "theirs.md").read_bytes().endswith(b"[[ours]]\n")
    assert trust_hot.trusted_names(root, str(world.project)) == {"ours.md"}
    world.undo()
    world.undo()
    assert trust_hot.trusted_names(root, str(world.project)) == {"mine.md"}
    world.store.move(world.store.find("old"), world.scope("project"))
    assert trust_hot.trusted_names(root, str(world.project)) == {"mine.md", "old.md"}


def test_what_is_made_of_an_untrusted_memory_is_not_trusted_either(world):
    world.put("theirs", b"---\nname: theirs\ndescription: d\n---\nDo as I say.\n", world.project)
    found = world.store.edit(world.store.find("theirs"), {"description": "e"})
    found = world.store.rename(found, "renamed")
    world.store.copy(found, world.scope("project"), "copied")
    assert trust_hot.trusted_names(str(world.root), str(world.project)) == set()
    trust_grants.grant(str(world.root), str(world.project))
    world.store.edit(world.store.find("renamed"), {"description": "f"})
    assert trust_hot.trusted_names(str(world.root), str(world.project)) == {"renamed.md", "copied.md"}


def full_disk(fd, data):
    raise OSError(28, "No space left on device")


def test_a_full_disk_loses_nothing_and_says_what_to_do(world, monkeypatch):
    before = world.files()
    store, old = world.store, world.store.find("old")
    for attempt in (
        lambda: store.edit(old, b"x" * 100),
        lambda: store.delete(old),
        lambda: store.rename(old, "new"),
        lambda: store.create(world.scope("global"), "x", "d", "user", "b"),
    ):
        with monkeypatch.context() as patch:
            patch.setattr(posix, "write", full_disk)
            with pytest.raises(MemtuiError, match="No space left") as caught:
                attempt()
        assert str(world.config) in caught.value.message
        assert "space" in caught.value.hint
        assert world.files() == before
    assert world.store.journal.ledger().all() == []
    store.edit(old, b"now it works\n")


def denied(prefix):
    real = posix.open

    def opened(path, flags, *args, **kwargs):
        if str(path).startswith(prefix) and flags & os.O_CREAT:
            raise PermissionError(13, "Permission denied", path)
        return real(path, flags, *args, **kwargs)

    return opened


@pytest.mark.parametrize("place", ["memory", "root"])
def test_a_directory_that_cannot_be_written_is_named(world, monkeypatch, place):
    prefix = str(world.auto if place == "memory" else world.root)
    before = world.files()
    old = world.store.find("old")
    with monkeypatch.context() as patch:
        for module in (posix, os):
            patch.setattr(module, "open", denied(prefix))
        store = world.store
        with pytest.raises(MemtuiError, match="Permission denied") as caught:
            store.edit(old, b"x")
        assert prefix in caught.value.message
        assert "writable" in caught.value.hint
        assert [m.stem for m in scopes.memories(store.scope("auto"))] == ["bad", "old", "plain", "two"]
    assert world.files() == before


def test_opening_where_recovery_is_impossible_still_reads(world, monkeypatch):
    world.store.edit(world.store.find("old"), {"type": "user"}, op="retype")
    path = world.root / "journal.jsonl"
    path.write_bytes(path.read_bytes().split(b"\n")[0] + b"\n")
    with monkeypatch.context() as patch:
        for module in (posix, os):
            patch.setattr(module, "open", denied(str(world.root)))
        store = world.store
        assert store.problem is not None
        assert store.find("old").type == "user"
    assert world.store.problem is None
    assert [json.loads(line)["state"] for line in path.read_bytes().splitlines()] == ["intent", "done"]


def test_crlf_bom_and_the_age_of_a_file_survive_every_operation(world):
    data = b"\xef\xbb\xbf---\r\nname: win\r\ndescription: d\r\ntype: user\r\n---\r\nSee [[old]].\r\n"
    world.put("win", data)
    world.store.rename(world.store.find("old"), "new")
    assert (world.auto / "win.md").read_bytes() == data.replace(b"[[old]]", b"[[new]]")
    world.store.edit(world.store.find("win"), {"description": "e"})
    assert (world.auto / "win.md").read_bytes() == data.replace(b"[[old]]", b"[[new]]").replace(b": d\r", b": e\r")
    for _ in range(2):
        world.undo()
    assert (world.auto / "win.md").read_bytes() == data
    path = world.auto / "two.md"
    os.utime(path, ns=(10**18, 10**18))
    world.store.edit(world.store.find("two"), {"description": "other"})
    assert os.stat(path).st_mtime_ns != 10**18
    world.undo()
    assert os.stat(path).st_mtime_ns == 10**18
    world.redo()
    assert os.stat(path).st_mtime_ns != 10**18
    world.undo()
    world.store.restore(world.store.delete(world.store.find("two")))
    assert os.stat(path).st_mtime_ns == 10**18


@pytest.mark.parametrize("mask", [0o022, 0o002, 0o077, 0o027])
def test_a_repositorys_new_files_follow_the_umask_and_ones_own_are_private(world, mask):
    old = os.umask(mask)
    try:
        shared = world.store.create(world.scope("project"), "pnpm", "d", "tool", "x")
        private = world.store.create(world.scope("global"), "mine", "d", "tool", "x")
    finally:
        os.umask(old)
    mode = lambda path: os.stat(path).st_mode & 0o777
    assert [mode(path) for path in (shared.path, world.project / "MEMORY.md")] == [0o666 & ~mask] * 2
    assert [mode(path) for path in (world.project, world.project.parent)] == [0o777 & ~mask] * 2
    assert [mode(path) for path in (private.path, world.config / "memory", world.root)] == [0o600, 0o700, 0o700]


def test_a_purge_takes_trusted_texts_along_and_spares_what_others_have(world):
    path = world.put("theirs", b"---\nname: theirs\n---\nA secret.\n", world.project)
    trust_grants.grant(str(world.root), str(world.project))
    path.write_bytes(b"---\nname: theirs\n---\nNone.\n")
    world.store.purge(world.store.delete(world.store.find("theirs")))
    assert not any(b"A secret" in each.read_bytes() for each in (world.root / "trash").iterdir())
    key = world.store.delete(world.store.copy(world.store.find("old"), world.scope("global")))
    changed = world.store.edit(world.store.find("auto:old"), b"changed\n")
    world.store.purge(key)
    world.undo()
    assert world.store.find("auto:old").raw == FLAT
    assert changed.raw != FLAT
    world.store.rename(world.store.find("old"), "new")
    world.store.create(world.scope("auto"), "old", "Another", "user", "Its text.")
    world.store.purge(world.store.delete(world.store.find("new")))
    world.undo()
    assert not (world.auto / "old.md").exists()


def test_a_purge_takes_versions_along_and_spares_those_of_others(world):
    def look():
        return Intake(versions, lambda _: Writer("agent")).take_in(str(world.auto))

    versions = Versions(str(world.root))
    for text in (b"hunter2 one", b"The same text.", b"hunter2 two"):
        world.put("key", text)
        look()
    world.put("other", b"The same text.")
    look()
    world.store.purge(world.store.delete(world.store.find("auto:key")))
    assert b"hunter2" not in contents(world)
    versions.follow()
    (spared,) = versions.of(str(world.auto), "other.md")
    (world.auto / "other.md").unlink()
    assert versions.content(spared) == b"The same text."


def test_an_index_begun_by_a_new_memory_names_the_others_that_are_trusted(world):
    directory = world.config / "memory"
    world.put("second", b"---\nname: second\ndescription: two\n---\nb\n", directory)
    before = world.files()
    world.store.create(world.store.scope("global"), "fresh", "new", "feedback", "b\n")
    assert sorted((directory / "MEMORY.md").read_text().splitlines()) == [
        "- [fresh](fresh.md) — new",
        "- [second](second.md) — two",
    ]
    world.undo()
    assert world.files() == before
    world.put("strange", b"---\nname: strange\ndescription: not read yet\n---\nb\n", world.project)
    world.store.create(world.store.scope("project"), "fresh", "new", "feedback", "b\n")
    assert (world.project / "MEMORY.md").read_text() == "- [fresh](fresh.md) — new\n"
