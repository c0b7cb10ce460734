"""Which files of a directory are memories that a prompt may recall."""

from memtui.client import locate_hot


def test_what_lies_in_an_archive_or_leads_out_is_never_recalled(tmp_path):
    directory = tmp_path / "memory"
    for name in ("one.md", "deep/two.md", "archive/old.md", "deep/_archive/older.md", "notes.txt"):
        (directory / name).parent.mkdir(parents=True, exist_ok=True)
        (directory / name).write_text("text")
    (tmp_path / "outside.md").write_text("text")
    (directory / "link.md").symlink_to(tmp_path / "outside.md")
    (directory / "inner.md").symlink_to(directory / "one.md")
    assert locate_hot.recallable(str(directory)) == ["deep/two.md", "inner.md", "one.md"]
    assert [file for file, problem in locate_hot.walk(str(directory)) if problem] == ["link.md"]
