"""An export has the bytes of the memories, and overwrites nothing."""

from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from memtui.base.errors import ConflictError, MemtuiError
from memtui.transfer import export_folder
from memtui.views import drafts

from .conftest import Desk


def export(desk, path, label="global"):
    exported = export_folder.collect(desk.store.scope(label))
    export_folder.write(exported, str(path))
    return exported


def put(desk, files, scope="global"):
    top = Path(desk.store.scope(scope).directory)
    for name, data in files.items():
        (top / name).parent.mkdir(parents=True, exist_ok=True)
        (top / name).write_bytes(data)
    return top


def all_of(top):
    return {str(path.relative_to(top)): path.read_bytes() for path in sorted(Path(top).rglob("*")) if path.is_file()}


ODD = {
    "plain.md": b"---\nname: plain\ndescription: Plain\n---\n\nText.\n",
    "crlf.md": b"---\r\nname: crlf\r\n---\r\n\r\nText.\r\n",
    "bom.md": b"\xef\xbb\xbf---\nname: bom\n---\nText without an end",
    "none.md": b"No frontmatter.\n",
    "broken.md": b"---\nname: [\n---\nBroken\n",
    "latin.md": b"Caf\xe9 is no UTF-8.\n",
    "empty.md": b"",
    "deep/er/ünïcode 日本.md": b"Nested.\n",
    "MEMORY.md": b"# Mine\r\n\r\n- [Plain](plain.md) \xe2\x80\x94 text\r\n",
}
NAME = st.from_regex(r"[a-zé日][a-z0-9é日 _-]{0,12}", fullmatch=True).map(lambda name: name.strip() + ".md")


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(files=st.dictionaries(NAME, st.binary(max_size=200), min_size=1, max_size=5))
@example(files=ODD)
def test_an_export_has_the_bytes_of_the_memories(tmp_path_factory, files):
    desk = Desk(tmp_path_factory.mktemp("desk"))
    put(desk, files)
    export(desk, desk.tmp / "mine")
    assert all_of(desk.tmp / "mine") == files


def test_an_export_is_imported_as_drafts(desk, elsewhere):
    rule = b"---\nname: a\ndescription: A rule\nmetadata:\n  type: user\n---\n\nKeep it short.\n"
    put(desk, {"a.md": rule, "latin.md": b"Caf\xe9 is no UTF-8.\n"})
    export(desk, desk.tmp / "mine")
    plan = elsewhere.plan(desk.tmp / "mine")
    assert [draft.name for draft in plan.drafts] == ["a"]
    assert [part.where for part in plan.found.skipped] == ["latin.md"], "what is no text is named"
    draft = elsewhere.take(desk.tmp / "mine", scope="global")["a"]
    assert (draft.entry.fields["type"], draft.scope) == ("user", "global")
    assert draft.text == "A rule\n\nKeep it short."


def test_an_export_says_what_holds_a_secret_and_a_failed_one_leaves_none(desk):
    token = b"ghp_16C7e42F292c6912E7710c838347Ae178B4a"
    put(desk, {"a.md": b"Use " + token + b"\n", "b.md": b"B.\n"})
    words = " ".join(drafts.beside(export(desk, desk.tmp / "mine")))
    assert "1 memory seems to hold a secret: a.md (a GitHub token)" in words
    put(desk, {"a.md": b"A.\n"})
    (desk.tmp / "file").write_text("x")
    before = sorted(path.name for path in desk.tmp.iterdir())
    with pytest.raises(MemtuiError):
        export(desk, desk.tmp / "file/mine")
    assert sorted(path.name for path in desk.tmp.iterdir()) == before


def test_nothing_is_overwritten(desk):
    put(desk, {"a.md": b"A rule.\n"})
    (desk.tmp / "full").mkdir()
    (desk.tmp / "full/x").write_text("x")
    (desk.tmp / "file").write_text("x")
    for name in ("full", "file"):
        with pytest.raises(ConflictError):
            export(desk, desk.tmp / name)
    assert ((desk.tmp / "file").read_text(), all_of(desk.tmp / "full")) == ("x", {"x": b"x"})
    (desk.tmp / "new").mkdir()
    export(desk, desk.tmp / "new")
    assert (all_of(desk.tmp / "new"), (desk.tmp / "new").stat().st_mode & 0o077) == ({"a.md": b"A rule.\n"}, 0)
