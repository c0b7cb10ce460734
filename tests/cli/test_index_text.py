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


def test_check_names_it(bare, index):
    assert codes(bare) == ["memories.text"]


def test_in_global_memory_it_is_a_problem_too(bare):
    place = Path(bare.env["HOME"], ".claude/memory")
    place.mkdir(parents=True)
    (place / "MEMORY.md").write_text("I work in Berlin.\n")
    assert codes(bare) == ["memories.text"]


def test_claude_code_loads_text_above_the_cut_of_its_memory_and_none_below(bare):
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


def test_a_new_memory_of_a_full_index_is_loaded(bare):
    place = _auto(bare)
    for n in range(205):
        (place / f"m{n}.md").write_text(f"---\nname: m{n}\ndescription: M\n---\n\nText {n}.\n")
    (place / "MEMORY.md").write_text("".join(f"- [m{n}](m{n}.md) — M\n" for n in range(205)))
    bare("new", "newest", "--scope", "auto", "--description", "Newest", "--body", "Newest text.")
    assert (place / "MEMORY.md").read_text().splitlines()[199] == "- [newest](newest.md) — Newest"
    bare("undo")
    assert "newest" not in (place / "MEMORY.md").read_text()
