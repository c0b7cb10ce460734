"""An export comes back byte for byte on another machine; a damaged or hostile archive does no harm."""

import io
import json
import os
import tarfile
import zipfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from memtui.core.base import fs, paths
from memtui.core.base.errors import ConflictError, MemtuiError, NotFoundError, UsageError
from memtui.core.journal import undo
from memtui.core.memories import beside, scopes, triggers
from memtui.present import transfers
from memtui.transfer import exporting, restoring, trees

from .conftest import Desk

KINDS = ["folder", "a.zip", "a.tar.gz"]


def export(desk, path, *labels):
    store = desk.store
    found = exporting.collect(store.env, [store.scope(each) for each in labels or ("global",)])
    exporting.write(found, str(path))
    return found


def restore(desk, path, **how):
    store = desk.store
    plan = restoring.plan(store, desk.read(path).archive, **how)
    plan.write(store, "there")
    return plan


def put(desk, files, scope="global"):
    top = Path(desk.store.scope(scope).directory)
    for name, data in files.items():
        (top / name).parent.mkdir(parents=True, exist_ok=True)
        (top / name).write_bytes(data)
    return top


def all_of(top):
    return {str(each.relative_to(top)): each.read_bytes() for each in sorted(Path(top).rglob("*")) if each.is_file()}


ODD = {
    "plain.md": b"---\nname: plain\ndescription: Plain\n---\n\nText.\n",
    "crlf.md": b"---\r\nname: crlf\r\n---\r\n\r\nText.\r\n",
    "bom.md": b"\xef\xbb\xbf---\nname: bom\n---\nText without an end",
    "none.md": b"No frontmatter.\n",
    "broken.md": b"---\nname: [\n---\nBroken\n",
    "latin.md": b"Caf\xe9 is no UTF-8.\n",
    "empty.md": b"",
    "deep/er/\xc3\xbcn\xc3\xafcode \xe6\x97\xa5\xe6\x9c\xac.md".encode("latin-1").decode(): b"Nested.\n",
    "MEMORY.md": b"# Mine\r\n\r\n- [Plain](plain.md) \xe2\x80\x94 text\r\n",
}


@pytest.mark.parametrize("kind", KINDS)
def test_an_export_comes_back_byte_for_byte(desk, elsewhere, kind):
    top = put(desk, ODD)
    os.utime(top / "plain.md", (1_700_000_000, 1_700_000_000))
    store = desk.store
    found = store.find("global:plain")
    triggers.change(store, found, add=["when is it plain?"])
    export(desk, desk.tmp / kind)
    plan = restore(elsewhere, desk.tmp / kind)
    there = Path(elsewhere.store.scope("global").directory)
    assert all_of(there) == all_of(top) == ODD
    assert (plan.conflicts, plan.skipped) == ([], [])
    assert (there / "plain.md").stat().st_mtime == 1_700_000_000
    lines = triggers.lines_of(elsewhere.env["MEMTUI_HOME"], str(there))
    assert [(each.text, each.origin) for each in lines["plain.md"]] == [("when is it plain?", "person")]
    assert restore(elsewhere, desk.tmp / kind).changes == []
    undo.run(elsewhere.store.journal, "undo")
    assert all_of(there) == {}
    assert triggers.lines_of(elsewhere.env["MEMTUI_HOME"], str(there)) == {}


STEM = st.text(
    st.characters(codec="utf-8", categories=["L", "N"], include_characters="-_ .'é日"), min_size=1, max_size=12
)
# A directory whose name ends as a memory's does is none in which memories are looked for.
STEMS = STEM.filter(lambda each: each[0] not in ". " and each[-1] not in ". " and not each.lower().endswith(".md"))
NAME = st.lists(STEMS, min_size=1, max_size=3).map(lambda parts: "/".join(parts) + ".md")
CONTENT = st.one_of(
    st.binary(max_size=200),
    st.text(max_size=100).map(str.encode),
    st.sampled_from(list(ODD.values())),
)


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(files=st.dictionaries(NAME, CONTENT, min_size=1, max_size=5), kind=st.sampled_from(KINDS))
@example(files=ODD, kind="a.tar.gz")
def test_any_memories_come_back_byte_for_byte(tmp_path_factory, files, kind):
    tmp = tmp_path_factory.mktemp("both")
    here, there = Desk(tmp), Desk(tmp, "other", "elsewhere/shop")
    try:
        top = put(here, files)
    except (FileExistsError, NotADirectoryError, IsADirectoryError):
        return  # a name is that of a directory as well
    export(here, tmp / kind)
    restore(there, tmp / kind)
    assert all_of(there.store.scope("global").directory) == all_of(top)
    export(there, tmp / ("again-" + kind))
    if kind != "folder":
        assert (tmp / ("again-" + kind)).read_bytes() == (tmp / kind).read_bytes()
    assert all_of(tmp / "again-folder") == all_of(tmp / "folder")


@pytest.mark.parametrize("kind", KINDS)
def test_an_export_names_no_path_of_the_machine(desk, kind):
    put(desk, {"a.md": b"A.\n"}, "auto")
    other = desk.config / "projects/-srv-customers-secret/memory"
    other.mkdir(parents=True)
    (other / "b.md").write_bytes(b"B.\n")
    root = desk.env["MEMTUI_HOME"]
    rows = [triggers.as_row(triggers.Trigger(each, "use", 1.0)) for each in ("/srv/customers/x.py", "src/x.py")]
    place = desk.store.scope("auto").directory
    desk.store.journal.run("x", beside.edit(root, beside.PATHS, place, "a.md", rows), "x")
    store = desk.store
    wanted = [each for each in scopes.discover(store.env, store.cwd, all_projects=True) if each.kind == "auto"]
    exporting.write(exporting.collect(store.env, wanted), str(desk.tmp / kind))
    read = trees.folder(str(desk.tmp / kind)) if kind == "folder" else trees.packed(str(desk.tmp / kind))
    files = all_of(desk.tmp / kind) if kind == "folder" else read.files
    whole = b"\n".join([*files.values(), *(each.encode() for each in files)]).decode()
    assert str(desk.tmp) not in whole
    assert str(desk.tmp).replace("/", "-") not in whole
    assert "srv" not in whole
    assert "src/x.py" in whole


def test_the_same_memories_give_the_same_bytes(desk):
    put(desk, ODD)
    for kind in ("zip", "tar.gz"):
        export(desk, desk.tmp / f"one.{kind}")
        export(desk, desk.tmp / f"two.{kind}")
        assert (desk.tmp / f"one.{kind}").read_bytes() == (desk.tmp / f"two.{kind}").read_bytes()


def test_what_is_there_with_other_content_is_kept_and_reported(desk, elsewhere):
    put(desk, {"a.md": b"Mine.\n", "b.md": b"B.\n", "MEMORY.md": b"- [a](a.md)\n- [b](b.md)\n"})
    top = put(elsewhere, {"a.md": b"Theirs.\n", "MEMORY.md": b"# Own\n\n- [a](a.md)\n"})
    export(desk, desk.tmp / "a.zip")
    plan = restore(elsewhere, desk.tmp / "a.zip")
    assert (plan.new, plan.conflicts) == (["global:b.md"], ["global:a.md"])
    assert (top / "a.md").read_bytes() == b"Theirs.\n"
    index = (top / "MEMORY.md").read_text()
    assert index.startswith("# Own\n\n- [a](a.md)\n")
    assert "(b.md)" in index


def test_a_repository_that_got_memories_back_trusts_them(desk, elsewhere):
    put(desk, {"a.md": b"A rule.\n"}, "project")
    export(desk, desk.tmp / "a.zip", "project")
    restore(elsewhere, desk.tmp / "a.zip")
    store = elsewhere.store
    assert store.is_trusted(store.find("project:a"))


def test_the_memories_of_an_agent_come_back_where_there_is_none(desk, elsewhere):
    top = desk.config / "agent-memory/reviewer"
    top.mkdir(parents=True)
    (top / "a.md").write_bytes(b"A rule.\n")
    export(desk, desk.tmp / "a.zip", "agent:reviewer")
    restore(elsewhere, desk.tmp / "a.zip")
    assert (elsewhere.config / "agent-memory/reviewer/a.md").read_bytes() == b"A rule.\n"


def test_another_project_is_not_guessed(desk, elsewhere):
    put(desk, {"a.md": b"A rule.\n"}, "auto")
    export(desk, desk.tmp / "a.zip", "auto")
    rewrite(desk.tmp / "a.zip", desk.tmp / "b.zip", label="auto:elsewhere")
    assert "can't be restored here" in restore(elsewhere, desk.tmp / "b.zip").skipped[0].why
    assert restore(elsewhere, desk.tmp / "b.zip", scope="auto").new == ["auto:a.md"]


@pytest.mark.parametrize("label", ["auto", "project"])
def test_memories_of_one_project_do_not_go_into_another(desk, tmp_path, label):
    put(desk, {"a.md": b"A rule.\n"}, label)
    export(desk, desk.tmp / "a.zip", label)
    blog = Desk(tmp_path, "third-home", "blog")
    plan = restore(blog, desk.tmp / "a.zip")
    assert (plan.new, len(plan.skipped)) == ([], 1)
    assert blog.take(desk.tmp / "a.zip") == {}
    assert restore(blog, desk.tmp / "a.zip", scope=label).new == [f"{label}:a.md"]


def test_drafts_of_an_export_of_all_go_to_the_project_that_they_are_of(desk, tmp_path):
    put(desk, {"a.md": b"A rule of the shop.\n"}, "auto")
    export(desk, desk.tmp / "a.zip", "auto")
    blog = Desk(tmp_path, "third-home", "blog")
    other = Path(blog.config, "projects/-somewhere-shop/memory")
    other.mkdir(parents=True)
    rewrite(desk.tmp / "a.zip", desk.tmp / "b.zip", label="auto:blog")
    assert [each.entry.fields["scope"] for each in blog.take(desk.tmp / "b.zip").values()] == ["auto"]


def project(desk, path, text="", *, named=True, remote=""):
    """A project of a person, below their home: with a memory, a transcript that names it, and a repository."""
    root = Path(desk.env["HOME"]) / path
    (root / ".git").mkdir(parents=True, exist_ok=True)
    if remote:
        (root / ".git/config").write_text(f'[core]\n\tbare = false\n[remote "origin"]\n\turl = {remote}\n')
    there = desk.config / "projects" / paths.slug(str(root))
    there.mkdir(parents=True, exist_ok=True)
    if named:
        row = {"type": "user", "cwd": str(root), "message": {"content": "hi"}}
        (there / "s.jsonl").write_text(json.dumps(row, separators=(",", ":")) + "\n")
    if text:
        (there / "memory").mkdir()
        (there / "memory/a.md").write_text(text)
    return there / "memory"


def export_all(desk, path):
    store = desk.store
    every = scopes.discover(store.env, store.cwd, all_projects=True)
    found = exporting.collect(store.env, [each for each in every if each.kind != "instructions" and each.exists])
    exporting.write(found, str(path))
    return [each.label for each in found.scopes]


def test_projects_of_one_name_come_back_each_to_its_own(desk, elsewhere):
    for name in ("a/cli", "b/cli"):
        project(desk, name, f"A rule of {name}.\n")
    assert export_all(desk, desk.tmp / "a.zip") == ["auto:cli", "auto:cli-2"]
    there = {name: project(elsewhere, name) for name in ("b/cli", "a/cli")}
    assert restore(elsewhere, desk.tmp / "a.zip").skipped == []
    assert {name: (top / "a.md").read_text() for name, top in there.items()} == {
        name: f"A rule of {name}.\n" for name in there
    }


def test_a_project_without_a_transcript_comes_back_in_its_folder(desk, elsewhere):
    project(desk, "work/secret-shop", "A rule.\n", named=False)
    assert export_all(desk, desk.tmp / "a.zip") == ["auto:shop"]
    plan = restore(elsewhere, desk.tmp / "a.zip")  # whose project is a shop, too
    assert plan.new == []
    assert "Run it again in the folder of that project, or with --only auto:shop and --scope." in plan.skipped[0].why
    there = project(elsewhere, "work/secret-shop", named=False)
    restore(elsewhere, desk.tmp / "a.zip")
    assert (there / "a.md").read_text() == "A rule.\n"


def test_a_project_is_known_by_its_repository_wherever_it_is(desk, elsewhere):
    project(desk, "src/api", "A rule.\n", remote="https://me:word@Example.org/team/api.git")
    project(elsewhere, "api", "Of a namesake.\n", remote="https://example.org/other/api")
    there = project(elsewhere, "clones/service", remote="git@example.org:team/api.git")
    export_all(desk, desk.tmp / "a.zip")
    assert b"example" not in (desk.tmp / "a.zip").read_bytes().lower()
    restore(elsewhere, desk.tmp / "a.zip")
    assert (there / "a.md").read_text() == "A rule.\n"


def test_a_project_in_the_same_place_with_another_repository_is_another_one(desk, elsewhere):
    project(desk, "src/api", "A rule.\n", remote="https://example.org/team/api.git")
    there = project(elsewhere, "src/api", remote="https://example.org/other/api.git")
    export_all(desk, desk.tmp / "a.zip")
    plan = restore(elsewhere, desk.tmp / "a.zip")
    assert plan.new == []
    assert "It is of the project api, which is not known here." in plan.skipped[0].why
    assert not (there / "a.md").exists()


def test_of_two_projects_of_one_name_the_one_that_is_surely_meant_comes_back(desk, elsewhere):
    for name in ("a/cli", "b/cli"):
        project(desk, name, f"A rule of {name}.\n")
    export_all(desk, desk.tmp / "a.zip")
    there = project(elsewhere, "a/cli")
    plan = restore(elsewhere, desk.tmp / "a.zip")
    assert (there / "a.md").read_text() == "A rule of a/cli.\n"
    (left,) = plan.skipped
    assert "Others in the archive could be meant for" in left.why
    assert left.where == "auto:cli-2"


def test_what_can_not_be_restored_is_named_with_what_to_do_and_the_rest_is(desk, elsewhere):
    put(desk, {"g.md": b"Everywhere.\n"})
    for name in ("a/cli", "b/cli", "c/other"):
        project(desk, name, f"A rule of {name}.\n")
    export_all(desk, desk.tmp / "a.zip")
    project(elsewhere, "elsewhere/cli")
    plan = restore(elsewhere, desk.tmp / "a.zip")
    assert plan.new == ["global:g.md"]
    whys = {each.where: each.why for each in plan.skipped}
    assert set(whys) == {"auto:cli", "auto:cli-2", "auto:other"}
    assert "--only auto:cli --scope auto:" in whys["auto:cli"]
    assert "the project other, which is not known here" in whys["auto:other"]
    assert restore(elsewhere, desk.tmp / "a.zip", only=["auto:other"], scope="auto").new == ["auto:a.md"]
    with pytest.raises(NotFoundError, match="no scope “auto:x” in the archive"):
        restore(elsewhere, desk.tmp / "a.zip", only=["auto:x"])


def test_a_file_in_the_way_keeps_one_scope_back_and_no_other(desk, elsewhere):
    put(desk, {"a.md": b"A.\n"})
    put(desk, {"b.md": b"B.\n"}, "auto")
    export(desk, desk.tmp / "a.zip", "global", "auto")
    (Path(elsewhere.store.scope("global").directory) / "a.md").mkdir(parents=True)
    plan = restore(elsewhere, desk.tmp / "a.zip")
    assert plan.new == ["auto:b.md"]
    assert "not a regular file" in plan.skipped[0].why


def rewrite(path, to, label="", files=None, version=1):
    with zipfile.ZipFile(path) as old, zipfile.ZipFile(to, "w") as new:
        for name in old.namelist():
            data = old.read(name)
            if name == "memtui.json":
                manifest = json.loads(data)
                manifest["v"] = version
                for each in manifest["scopes"]:
                    if label:  # as the previous version wrote it
                        each["scope"] = label
                        each.pop("project", None), each.pop("of", None)
                    each["files"] = files or each["files"]
                data = json.dumps(manifest).encode()
            new.writestr(name, data)


def test_an_export_is_drafts_without_restore(desk, elsewhere):
    put(desk, {"a.md": b"---\nname: a\ndescription: A rule\nmetadata:\n  type: user\n---\n\nKeep it short.\n"})
    store = desk.store
    triggers.change(store, store.find("global:a"), add=["how long?"])
    export(desk, desk.tmp / "a.zip")
    drafts = elsewhere.take(desk.tmp / "a.zip")
    fields = drafts["a"].entry.fields
    assert (fields["type"], fields["scope"], fields["triggers"]) == ("user", "global", '["how long?"]')
    assert drafts["a"].text == "A rule\n\nKeep it short."


def test_a_memory_that_is_no_text_becomes_no_draft_and_is_named(desk, elsewhere):
    put(desk, {"a.md": b"A rule.\n", "latin.md": b"Caf\xe9 is no UTF-8.\n"})
    export(desk, desk.tmp / "a.zip")
    plan = elsewhere.plan(desk.tmp / "a.zip")
    assert [each.name for each in plan.drafts] == ["a"]
    assert [each.where for each in plan.found.skipped] == ["global:latin.md"]


def test_what_is_there_with_other_content_is_told_with_how_to_take_the_archived_one(desk, elsewhere):
    put(desk, {"a.md": b"Mine.\n"})
    put(elsewhere, {"a.md": b"Theirs.\n"})
    export(desk, desk.tmp / "a.zip")
    told = " ".join(transfers.restored(restore(elsewhere, desk.tmp / "a.zip"), done=True))
    assert "rename or remove what is here, then restore again" in told


def test_an_export_says_what_stays_and_which_memories_seem_to_hold_a_secret(desk):
    token = b"ghp_16C7e42F292c6912E7710c838347Ae178B4a"
    top = put(desk, {"a.md": b"Use " + token + b"\n", "b.md": b"B.\n", "picture.png": b"x", ".draft.md": b"x"})
    (top / "gone.md").symlink_to(top / "nothing.md")
    told = " ".join(transfers.beside(export(desk, desk.tmp / "a.zip")))
    assert "3 files that are no memories stayed here" in told
    assert "global:picture.png" in told
    assert "1 memory seems to hold a secret: global:a.md (a GitHub token)" in told


def test_an_archive_of_a_kind_that_is_not_written_is_refused(desk):
    put(desk, {"a.md": b"A.\n"})
    for name in ("a.rar", "a.tar", "a.tar.xz"):
        with pytest.raises(UsageError, match="memtui writes no"):
            export(desk, desk.tmp / name)
        assert not (desk.tmp / name).exists()


def test_a_folder_in_an_archive_is_an_export_too(desk, elsewhere):
    put(desk, {"a.md": b"A rule.\n"})
    export(desk, desk.tmp / "mine")
    with zipfile.ZipFile(desk.tmp / "packed.zip", "w") as packed:
        for name, data in all_of(desk.tmp / "mine").items():
            packed.writestr("mine/" + name, data)
    assert restore(elsewhere, desk.tmp / "packed.zip").new == ["global:a.md"]


def test_nothing_is_overwritten(desk):
    put(desk, {"a.md": b"A rule.\n"})
    (desk.tmp / "full").mkdir()
    (desk.tmp / "full/x").write_text("x")
    (desk.tmp / "a.zip").write_text("x")
    for name in ("full", "a.zip"):
        with pytest.raises(ConflictError):
            export(desk, desk.tmp / name)
    assert all_of(desk.tmp / "full") == {"x": b"x"}
    (desk.tmp / "new").mkdir()
    export(desk, desk.tmp / "new")
    assert (desk.tmp / "new/memtui.json").exists()
    assert (desk.tmp / "new").stat().st_mode & 0o077 == 0


def test_there_must_be_something_to_export(desk):
    with pytest.raises(NotFoundError):
        export(desk, desk.tmp / "a.zip")


# Damaged and hostile archives


def hostile(desk, **files):
    put(desk, {"a.md": b"A rule.\n"})
    export(desk, desk.tmp / "a.zip")
    rewrite(desk.tmp / "a.zip", desk.tmp / "bad.zip", **files)
    return desk.tmp / "bad.zip"


@pytest.mark.parametrize("name", ["../../out.md", "/tmp/out.md", "x/../../out.md", ".hidden.md", "a.sh", "a\\b.md"])
def test_a_manifest_can_name_no_file_elsewhere(desk, elsewhere, name):
    path = hostile(desk, files={name: {"sha256": "0" * 64}})
    before = all_of(elsewhere.config)
    plan = restore(elsewhere, path)
    assert plan.new == []
    assert len(plan.skipped) == 1
    assert {key: value for key, value in all_of(elsewhere.config).items() if "memtui/" not in key} == before


def test_a_file_that_differs_from_the_manifest_is_left_out(desk, elsewhere):
    path = hostile(desk, files={"a.md": {"sha256": "0" * 64}})
    plan = restore(elsewhere, path)
    assert plan.new == []
    assert "changed or damaged" in plan.skipped[0].why


def test_a_newer_format_is_refused(desk):
    with pytest.raises(MemtuiError, match="newer memtui") as error:
        desk.read(hostile(desk, version=2))
    assert "Update" in error.value.hint


@pytest.mark.parametrize(
    "manifest", ["", "[]", '{"format": "x"}', '{"format": "memtui memories", "v": 1, "scopes": [{}]}']
)
def test_a_damaged_manifest_is_refused(desk, manifest):
    folder = desk.tmp / "folder"
    folder.mkdir()
    (folder / "memtui.json").write_text(manifest)
    with pytest.raises(MemtuiError, match="damaged"):
        desk.read(folder)


def zipped(path, *members, **how):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, **how) as packed:
        for name, data, mode in members:
            info = zipfile.ZipInfo(name)
            info.external_attr, info.compress_type = mode << 16, zipfile.ZIP_DEFLATED
            packed.writestr(info, data)
    return path


def test_a_zip_with_paths_that_leave_it_links_and_twins_gives_only_the_rest(desk, recwarn):
    path = zipped(
        desk.tmp / "a.zip",
        ("../evil.md", b"Evil words.", 0o100644),
        ("/abs.md", b"Absolute.", 0o100644),
        ("link.md", b"/etc/passwd", 0o120777),
        ("good.md", b"A good note.", 0o100644),
        ("good.md", b"A second one.", 0o100644),
    )
    plan = desk.plan(path)
    assert [each.given.body for each in plan.drafts] == ["A good note."]
    assert {each.where for each in plan.found.skipped} == {"../evil.md", "/abs.md", "link.md", "good.md"}


def test_a_tar_with_paths_that_leave_it_links_and_devices_gives_only_the_rest(desk):
    path = desk.tmp / "a.tar.gz"
    with tarfile.open(path, "w:gz") as packed:
        for name, kind, target in (
            ("../evil.md", tarfile.REGTYPE, ""),
            ("link.md", tarfile.SYMTYPE, "/etc/passwd"),
            ("hard.md", tarfile.LNKTYPE, "good.md"),
            ("pipe.md", tarfile.FIFOTYPE, ""),
            ("./good.md", tarfile.REGTYPE, ""),
        ):
            info = tarfile.TarInfo(name)
            info.type, info.linkname = kind, target
            data = b"A good note." if kind == tarfile.REGTYPE else b""
            info.size = len(data)
            packed.addfile(info, io.BytesIO(data))
    plan = desk.plan(path)
    assert [each.given.body for each in plan.drafts] == ["A good note."]
    assert {each.where for each in plan.found.skipped} == {"../evil.md", "link.md", "hard.md", "pipe.md"}


def test_bombs_are_refused(desk, monkeypatch):
    monkeypatch.setattr(trees, "MAX_FILE", 1 << 20)
    monkeypatch.setattr(trees, "MAX_TOTAL", 3 << 20)
    zeros = bytes(1 << 20)
    many = zipped(desk.tmp / "many.zip", *((f"{number}.md", zeros, 0) for number in range(5)))
    with tarfile.open(desk.tmp / "many.tar.gz", "w:gz") as packed:
        for number in range(9):
            info = tarfile.TarInfo(f"{number}.md")
            info.size = len(zeros)
            packed.addfile(info, io.BytesIO(zeros))
    for path in (many, desk.tmp / "many.tar.gz"):
        with pytest.raises(MemtuiError, match="unpacks to more"):
            desk.read(path)
    one = zipped(desk.tmp / "one.zip", ("big.md", zeros * 2, 0), ("good.md", b"A good note.", 0))
    plan = desk.plan(one)
    assert [each.where for each in plan.drafts[0:1] for each in [each.given]] == ["good.md"]
    assert [each.where for each in plan.found.skipped] == ["big.md"]


@pytest.mark.parametrize("cut", [10, 60, -30])
@pytest.mark.parametrize("kind", KINDS[1:])
def test_a_cut_archive_is_refused(desk, cut, kind):
    put(desk, ODD)
    export(desk, desk.tmp / kind)
    path = desk.tmp / ("cut-" + kind)
    path.write_bytes((desk.tmp / kind).read_bytes()[:cut])
    with pytest.raises(MemtuiError, match="damaged"):
        desk.read(path)


@pytest.mark.parametrize("method", [zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
@pytest.mark.every(step=5)
@pytest.mark.parametrize("place", range(30, 110, 4))
def test_a_zip_damaged_anywhere_is_refused_or_read_however_it_is_packed(desk, method, place):
    """Each way to pack has errors of its own: they come as one with what to do."""
    path = desk.tmp / "a.zip"
    with zipfile.ZipFile(path, "w", method) as packed:
        packed.writestr("a.md", "".join(f"Line {number}.\n" for number in range(400)))
    content = bytearray(path.read_bytes())
    content[place] ^= 0xFF
    path.write_bytes(bytes(content))
    told = []
    try:
        desk.read(path)
    except MemtuiError as error:
        told.append(error)
    assert all("damaged" in each.message or "encrypted" in each.message for each in told), told


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    kind=st.sampled_from(KINDS[1:]),
    damage=st.lists(st.tuples(st.integers(0, 1 << 16), st.integers(0, 255)), min_size=1, max_size=8),
)
def test_no_bytes_of_an_archive_do_harm(tmp_path_factory, kind, damage):
    desk = Desk(tmp_path_factory.mktemp("fuzz"))
    put(desk, ODD)
    export(desk, desk.tmp / kind)
    content = bytearray((desk.tmp / kind).read_bytes())
    # An archive's length differs with the time at which it was made, so nothing that is drawn may depend on it.
    for place, value in damage:
        content[4 + place % (len(content) - 4)] = value
    (desk.tmp / kind).write_bytes(bytes(content))
    try:
        found = desk.read(desk.tmp / kind).archive
    except MemtuiError:
        return
    for scope in found.scopes if found else ():
        assert all(ODD.get(name, made) == made for name, made in scope.files.items())


def test_an_archive_of_several_scopes_goes_into_its_own(desk, elsewhere):
    put(desk, {"a.md": b"A.\n"})
    put(desk, {"b.md": b"B.\n"}, "auto")
    export(desk, desk.tmp / "a.zip", "global", "auto")
    with pytest.raises(UsageError):
        restore(elsewhere, desk.tmp / "a.zip", scope="global")
    assert restore(elsewhere, desk.tmp / "a.zip").new == ["global:a.md", "auto:b.md"]


def test_the_limits_leave_room_for_every_memory():
    from memtui.core.memories import memory

    assert trees.MAX_FILE >= memory.MAX_BYTES
    assert fs.FILE_MODE == 0o600
