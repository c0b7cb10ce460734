"""The fixed content of a MEMORY.md."""

from memtui.core.health.index_report import reports
from memtui.core.memories import scopes


def test_a_section_that_loses_its_last_line_goes(tmp_path):
    home, project = tmp_path / "home", tmp_path / "project"
    directory = project / ".claude" / "memory"
    directory.mkdir(parents=True)
    home.mkdir()
    (directory / "kept.md").write_text("---\nname: kept\ndescription: kept\n---\n\nText.\n")
    index = "# Memory\n\n- [kept](kept.md) — kept\n\n## Where things are\n\n- [gone](gone.md) — gone\n"
    (directory / "MEMORY.md").write_text(index)
    found = scopes.discover({"HOME": str(home)}, str(project))
    (report,) = (each for each in reports(str(home / ".memtui"), found) if each.scope.label == "project")
    assert b"gone" not in report.fixed
    assert b"Where things are" not in report.fixed
    assert b"[kept](kept.md)" in report.fixed
