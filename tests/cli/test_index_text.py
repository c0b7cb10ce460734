"""What a person wrote into MEMORY.md itself, and no session gets."""

from pathlib import Path

import pytest

TEXT = "# Project memory\n\n- Money is stored in cents, never in floats.\n- The API runs on port 8081.\n"


@pytest.fixture
def index(bare):
    place = Path(bare.cwd, ".claude/memory")
    place.mkdir(parents=True)
    (place / "MEMORY.md").write_text(TEXT)
    return place / "MEMORY.md"


def codes(shell):
    return [each["code"] for each in shell.json("check", check=False)["findings"]]


def test_every_command_that_looks_for_memories_names_it(bare, index):
    assert codes(bare) == ["memories.text"]
    assert "memtui import" in bare("list").out
    assert "line 3: “Money is stored in cents, never in floats.”" in bare("search", "cents").out
    assert "cents" not in bare("search", "port", "8081").out
    told = bare("recall", "which port does the API run on?").out
    assert "line 4: “The API runs on port 8081.”" in " ".join(told.split())
    assert "port 8081" not in bare("recall", "who likes the blue theme?").out
    told = bare("trust").out
    assert "2 passages of text that no session gets" in told
    assert "0 memories" not in told


def test_in_global_memory_it_is_a_problem_too(bare):
    place = Path(bare.env["HOME"], ".claude/memory")
    place.mkdir(parents=True)
    (place / "MEMORY.md").write_text("I work in Berlin.\n")
    assert codes(bare) == ["memories.text"]


def test_claude_code_loads_text_above_the_cut_of_its_own_memory_and_none_below(bare):
    place = _auto(bare)
    lines = [f"- [m{n}](m{n}.md) — M\n" for n in range(198)]
    for n in range(198):
        (place / f"m{n}.md").write_text(f"---\nname: m{n}\ndescription: M\n---\n\nText {n}.\n")
    (place / "MEMORY.md").write_text("Money is in cents.\n" + "".join(lines))
    assert "memories.text" not in codes(bare)
    (place / "MEMORY.md").write_text("Money is in cents.\n" + "".join(lines) + "\n\nPorts begin at 8000.\n")
    (found,) = [each for each in bare.json("check", check=False)["findings"] if each["code"] == "memories.text"]
    assert found["line"] == 202
    assert "below the cut" in found["message"]


def _auto(shell):
    shell("new", "a", "--scope", "auto", "--description", "A", "--body", "A")
    place = Path(shell.json("show", "auto:a")["path"]).parent
    shell("rm", "a")
    return place


def test_import_makes_drafts_of_it(bare, index):
    named = bare.json("import", ".claude/memory", "--dry-run")
    assert [each["description"] for each in named["drafts"]] == [
        "Money is stored in cents, never in floats.",
        "The API runs on port 8081.",
    ]
    assert bare.json("import", ".claude/memory/MEMORY.md", "--dry-run")["drafts"] != []
    assert f"memtui import {index}" in " ".join(bare("check", check=False).out.split())
    (index.parent / "ann.md").write_text("---\nname: ann\ndescription: Ask Ann\n---\n\nAsk Ann.\n")
    index.write_text("- [ann](ann.md) — Ask Ann\n")
    assert bare.json("import", ".claude/memory", "--scope", "global", "--dry-run")["skipped"] == []


def test_a_new_memory_of_a_full_index_is_loaded_and_what_is_not_is_said(bare):
    place = _auto(bare)
    for n in range(205):
        (place / f"m{n}.md").write_text(f"---\nname: m{n}\ndescription: M\n---\n\nText {n}.\n")
    (place / "MEMORY.md").write_text("".join(f"- [m{n}](m{n}.md) — M\n" for n in range(205)))
    done = bare("new", "newest", "--scope", "auto", "--description", "Newest", "--body", "Newest text.")
    told = " ".join(done.err.split())
    assert "MEMORY.md of auto is over its limit: Claude Code does not load line 201 and the rest." in told
    assert "Its line is number 200, so it is loaded; not loaded are m199, m200" in told
    assert (place / "MEMORY.md").read_text().splitlines()[199] == "- [newest](newest.md) — Newest"
    bare("undo")
    assert "newest" not in (place / "MEMORY.md").read_text()
    made = bare.json("new", "quiet", "--scope", "project", "--description", "Quiet", "--body", "Quiet text.")
    assert made["index_note"] == ""


def test_a_new_memory_beside_conflict_markers_says_that_it_got_no_line(bare):
    place = _auto(bare)
    (place / "MEMORY.md").write_text("<<<<<<< HEAD\na\n=======\nb\n>>>>>>> main\n")
    done = bare("new", "newest", "--scope", "auto", "--description", "Newest", "--body", "Newest text.")
    assert "conflict markers, so it got no line there" in " ".join(done.err.split())
