"""`memtui import` and `memtui export`: what they say, what they ask, and what they refuse."""

from pathlib import Path


def test_an_import_says_what_came_and_what_can_not_be_done(memtui, tmp_path):
    (tmp_path / "CLAUDE.md").write_text("# Fruit\n\nEat an apple a day.\n\n@more.md\n")
    done = memtui("import", str(tmp_path / "CLAUDE.md"), "--dry-run")
    assert "instructions, a section at a time" in done.out
    assert "Would add 1 draft." in done.out
    assert "@more.md is imported from there" in done.out
    before = memtui.json("inbox", "--kind", "drafts")["entries"]
    found = memtui.json("import", str(tmp_path / "CLAUDE.md"))
    assert [each["name"] for each in found["drafts"]] == ["Fruit"]
    assert found["transaction"]
    assert len(memtui.json("inbox", "--kind", "drafts")["entries"]) == len(before) + 1
    assert "imported from CLAUDE.md:1" in memtui("inbox", found["drafts"][0]["id"]).out
    memtui("approve", found["drafts"][0]["id"])
    assert "Fruit" in memtui("list").out


def test_a_scope_is_exported_as_a_folder(memtui, tmp_path):
    Path(memtui.cwd, ".claude/memory/odd.md").write_text("---\nname: [odd\n---\n\nThe odd one has a body.\n")
    done = memtui("export", "project", "--to", str(tmp_path / "mine"))
    assert "On another machine: memtui import mine --scope project" in done.err
    assert (tmp_path / "mine/prefer-pnpm.md").exists()
    drafts = memtui.json("import", str(tmp_path / "mine"), "--dry-run")["drafts"]
    assert [each["name"] for each in drafts if each["name"].startswith("odd")] == [], "it is there already"
    assert memtui("export", "global", "--to", str(tmp_path / "mine"), check=False).code == 4
