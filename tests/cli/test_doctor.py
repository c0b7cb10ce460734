"""The doctor fixes what needs no decision, and says how to take it back."""

import os
from pathlib import Path

from memtui.base import clock_hot, paths_hot
from memtui.deliver import error_log_hot
from tidy.checks.broken import ASKED, AT_ONCE, break_all


def fixed(memtui, *words):
    done = memtui("doctor", "--fix", *words, "--json", check=False)
    assert done.code in {0, 5}, done.err
    return {row["what"]: row for row in done.data["fixed"]}


def messages(memtui):
    return " ".join(f["message"] for f in memtui.json("doctor", check=False)["findings"])


def error(world, monkeypatch, message):
    monkeypatch.setattr(clock_hot, "now", lambda: world.now - 60)
    error_log_hot.add(world.root, "Stop", ValueError(message))


def test_files_are_closed_and_fixes_that_need_no_decision_made(memtui, world):
    note, trust = Path(world.root, "global/guidance.md"), Path(world.root, "trust.json")
    Path(world.root).chmod(0o755)
    note.chmod(0o644)
    trust.chmod(0o400)
    assert set(fixed(memtui, "files")["files"]["changed"]) == {world.root, str(note), str(trust)}
    assert [oct(os.stat(path).st_mode & 0o777) for path in (world.root, note, trust)] == ["0o700", "0o600", "0o600"]
    assert fixed(memtui, "files")["files"]["changed"] == []
    break_all(world)
    before = memtui.json("doctor", check=False)["findings"]
    assert {row["code"] for row in before} >= AT_ONCE | ASKED
    assert {what for what, row in fixed(memtui).items() if row["changed"]} == {"files", "errors", "notes"}
    after = {row["code"] for row in memtui.json("doctor", check=False)["findings"]}
    assert not after & AT_ONCE
    assert after >= ASKED


def test_that_the_client_loads_no_memory_of_its_own_is_told(memtui):
    memtui.env["CLAUDE_CODE_DISABLE_AUTO_MEMORY"] = "1"
    (row,) = [row for row in memtui.json("doctor", check=False)["findings"] if row["code"] == "client.memory_off"]
    assert row["level"] == "problem"


def test_undo_brings_errors_back_and_closed_files_stay_closed(memtui, world, monkeypatch):
    error(world, monkeypatch, "disk full")
    note, log = Path(world.root, "global/guidance.md"), Path(world.root, "log/errors.jsonl")
    before = log.read_bytes()
    note.chmod(0o644)
    Path(world.root, "trust.json").chmod(0o400)
    memtui("doctor", "--fix", check=False)
    assert not log.exists()
    memtui("undo")
    assert (log.read_bytes(), list(log.parent.glob("errors-*"))) == (before, [])
    modes = {oct(path.stat().st_mode & 0o777) for path in (note, Path(world.root, "trust.json"))}
    assert modes == {"0o600"}


def test_errors_are_listed_and_set_aside_and_none_is_overwritten(memtui, world, monkeypatch):
    monkeypatch.setattr(clock_hot, "now", lambda: world.now - 7200)
    try:
        raise ValueError("it broke\x1b[31m here")
    except ValueError as wrong:
        error_log_hot.add(world.root, "Stop", wrong)
    newest, *_ = memtui.json("doctor", "--errors")["errors"]
    assert (newest["where"], newest["error"], newest["message"]) == ("Stop", "ValueError", "it broke\x1b[31m here")
    assert any("test_doctor.py" in place for place in newest["trace"])
    done = memtui("doctor", "--errors")
    assert "  2h  Stop: ValueError\n      it broke" in done.out
    assert "test_doctor.py" in done.out
    assert "\x1b" not in done.out
    assert memtui("doctor", "--errors", "--fix", check=False).code == 2
    error(world, monkeypatch, "the first")
    assert "the first" in messages(memtui)
    rows = fixed(memtui)
    assert list(rows) == ["files", "errors", "notes"]
    assert all(row["error"] is None for row in rows.values())
    assert "the first" not in messages(memtui)
    assert all(not row["changed"] for row in fixed(memtui).values())
    error(world, monkeypatch, "the second")
    second = fixed(memtui, "errors")["errors"]
    (one,), (two,) = rows["errors"]["changed"], second["changed"]
    assert one != two
    assert "the first" in Path(one).read_text()
    assert "the second" in Path(two).read_text()
    assert not Path(world.root, "log/errors.jsonl").exists()
    assert second["undo"] == "memtui undo"
    assert memtui("doctor", "--fix", "everything", check=False).code == 2


def renamed(bare, tmp_path, old="shop", new="store", *, inside=""):
    """A project with a note, an item and two memories of Claude Code's, whose directory was renamed."""
    before, after = tmp_path / old, tmp_path / inside / new
    (before / ".git").mkdir(parents=True)
    bare.cwd = str(before)
    bare("note", "mind the queue")
    directory = Path(bare.env["HOME"]) / ".claude" / "projects" / paths_hot.slug(str(before))
    for name, text in (("one.md", "ONE"), ("deep/two.md", "TWO"), ("MEMORY.md", "- [one](one.md) — one\n")):
        (directory / "memory" / name).parent.mkdir(parents=True, exist_ok=True)
        (directory / "memory" / name).write_text(text)
    (directory / "s.jsonl").write_text('{"type": "user", "cwd": "%s"}\n' % before)
    after.parent.mkdir(exist_ok=True)
    os.rename(before, after)
    bare.cwd = str(after)
    return directory / "memory", directory.parent / paths_hot.slug(str(after)) / "memory"


def findings_of(bare, code):
    return [each for each in bare.json("doctor", check=False)["findings"] if each["code"] == code]


def files(directory):
    return {str(each.relative_to(directory)): each.read_text() for each in directory.rglob("*.md")}


def test_a_renamed_project_is_noticed_and_takes_over_what_was_kept_for_it(bare, tmp_path):
    old, new = renamed(bare, tmp_path)
    before = files(old)
    (found,) = findings_of(bare, "inbox.renamed")
    assert found["level"] == "problem"
    assert str(tmp_path / "shop") in found["message"]
    assert "is that directory" in found["message"]
    assert f"memtui doctor --fix projects --project {tmp_path / 'store'}" in found["remedy"]
    bare("doctor", "--fix", "projects", check=False)
    assert "mind the queue" in bare("note", "--list").out
    assert (files(new), files(old), findings_of(bare, "inbox.renamed")) == (before, {}, [])
    bare("undo", "--yes")
    assert (files(old), files(new)) == (before, {})
    assert "mind the queue" not in bare("note", "--list").out
    assert len(findings_of(bare, "inbox.renamed")) == 1
    new.mkdir(parents=True, exist_ok=True)
    (new / "one.md").write_text("MINE")
    (new / "MEMORY.md").write_text("- [one](one.md) — mine\n")
    bare("doctor", "--fix", "projects", check=False)
    assert files(new) == {"one.md": "MINE", "deep/two.md": "TWO", "MEMORY.md": "- [one](one.md) — mine\n"}
    assert files(old).keys() == {"one.md", "MEMORY.md"}


def test_memories_that_a_living_neighbour_shares_stay_where_they_are(bare, tmp_path):
    """The client keeps those of `my_app` and `my-app` in one directory."""
    old, _ = renamed(bare, tmp_path, old="my_app", new="shop")
    neighbour = tmp_path / "my-app"
    (neighbour / ".git").mkdir(parents=True)
    (old.parent / "n.jsonl").write_text('{"type": "user", "cwd": "%s"}\n' % neighbour)
    before = files(old)
    bare("doctor", "--fix", "projects", check=False)
    assert files(old) == before
    assert "mind the queue" in bare("note", "--list").out
