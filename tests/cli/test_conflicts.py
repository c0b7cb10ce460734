"""Memories and a MEMORY.md that git or a sync program could not merge."""

from pathlib import Path

import pytest

INDEX = (
    "- [ports](ports.md) — Ports\n<<<<<<< HEAD\n- [head](head.md) — The queue\n=======\n"
    "- [head](head.md) — The other queue\n>>>>>>> origin/main\n"
)
HEAD = "---\nname: ports\ndescription: Ports of the API\ntype: project\n---\n\n"
PORTS = f"{HEAD}<<<<<<< HEAD\nThe API runs on port 8081.\n=======\nThe API runs on port 9090.\n>>>>>>> origin/main\n"


@pytest.fixture
def auto(bare):
    bare("new", "head", "--scope", "auto", "--description", "The queue", "--body", "Queue text.")
    place = Path(bare.json("show", "auto:head")["path"]).parent
    (place / "ports.md").write_text(PORTS)
    (place / "MEMORY.md").write_text(INDEX)
    return place


def codes(shell):
    return [each["code"] for each in shell.json("check", check=False)["findings"]]


def test_both_are_problems_and_no_fix_writes_between_the_markers(bare, auto):
    assert codes(bare) == ["memories.conflict", "memories.index_conflict"]
    told = " ".join(bare("check", check=False).out.split())
    assert "auto:ports has git's conflict markers, from line 7 on: nobody has merged HEAD and origin/main" in told
    bare("new", "later", "--scope", "auto", "--description", "Later", "--body", "Later text.")
    bare("check", "--fix", "--yes", check=False)
    bare("consolidate", "--all", "--yes", check=False)
    bare("mv", "head", "tail")
    assert (auto / "MEMORY.md").read_text() == INDEX
    assert (auto / "ports.md").read_text() == PORTS


def test_copies_get_no_line_and_none_stays_in_place_of_its_original(bare, auto):
    for name in ("ports 2", "Copy of ports", "ports (conflicted copy 2026-11-20)"):
        (auto / f"{name}.md").write_text(f"{HEAD}The API runs on port 8081.\n")
    assert codes(bare).count("memories.copy") == 3
    assert "memories.same_name" not in codes(bare)
    assert [each["kind"] for each in bare.json("consolidate", check=False)["changes"]] == []
    (auto / "ports.md").write_text(f"{HEAD}The API runs on port 8081.\n")
    (auto / "MEMORY.md").write_text("- [ports](ports.md) — Ports\n- [head](head.md) — The queue\n")
    (merge,) = [each for each in bare.json("consolidate", check=False)["changes"] if each["kind"] == "merge"]
    assert merge["title"].endswith(" into ports")
    bare("check", "--fix", "--yes", check=False)
    assert "conflicted" not in (auto / "MEMORY.md").read_text()
