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
    for words, code, why in IMPOSSIBLE:
        done = memtui(*words, check=False)
        assert (done.code, why in done.err) == (code, True), done.err
        assert "Traceback" not in done.err


def test_a_scope_is_exported_as_a_folder(memtui, tmp_path):
    Path(memtui.cwd, ".claude/memory/odd.md").write_text("---\nname: [odd\n---\n\nThe odd one has a body.\n")
    done = memtui("export", "project", "--to", str(tmp_path / "mine"))
    assert "On another machine: memtui import mine --scope project" in done.err
    assert (tmp_path / "mine/prefer-pnpm.md").exists()
    drafts = memtui.json("import", str(tmp_path / "mine"), "--dry-run")["drafts"]
    assert [each["name"] for each in drafts if each["name"].startswith("odd")] == [], "it is there already"
    assert memtui("export", "global", "--to", str(tmp_path / "mine"), check=False).code == 4


IMPOSSIBLE = [
    (["import"], 2, "Give PATH|sessions."),
    (["import", "notes", "--scope"], 2, "--scope needs a value."),
    (["import", "notes", "--no"], 2, "`memtui import` takes no --no."),
    (["import", "notes", "--fomat", "a b"], 2, "`memtui import` takes no --fomat.\n"),
    (["new", "X", "--text", "No deploys."], 2, "takes no --text."),
    (["note", "hi", "--agent", "reviewer"], 2, "takes no --agent."),
    (["check", "--dry-rum"], 2, "Did you mean --dry-run?"),
    (["status", "of", "all"], 2, "`memtui status` takes no “of” “all”."),
    (["import", "notes", "--limit", "few"], 2, "memtui: --limit: give a number"),
    (["import", "sessions", "--since", "when"], 2, "--since: “when” is not a time."),
    (["import", "sessions", "--since", "tomorrow"], 2, "--since: “tomorrow” is still to come."),
    (["trust", "--always", "--list"], 2, "--list does not go with --always."),
    (["model", "sentences", "maybe"], 2, "The argument must be one of on, off, not “maybe”."),
    (["undo", "--redo", "--list"], 2, "--list does not go with --redo."),
    (["export"], 2, "Give SCOPE."),
    (["export", "nowhere"], 3, "There is no scope"),
    (["export", "instructions:project"], 2, "but instructions"),
    (["import", "nowhere"], 3, "There is no file or folder"),
    (["import", ".claude/memory", "--scope", "nowhere"], 3, "There is no scope"),
]
