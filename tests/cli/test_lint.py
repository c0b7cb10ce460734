"""`memtui check`: in one's own scopes, in a directory that is given, in CI."""

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest
import yaml

from memtui.cli.context import Context

DATA = Path(__file__).parents[1] / "data/lint"
PROJECT = Path(__file__).parents[2]


def contents(top):
    return {str(path): path.read_bytes() for path in Path(top).rglob("*") if path.is_file()}


@pytest.fixture
def messy(bare):
    """A repository with messy memories, on a machine without memtui's files."""
    found = Path(bare.cwd, ".claude/memory")
    shutil.copytree(DATA / "messy", found)
    return found


def test_lint_of_a_path_writes_nothing_without_fix_and_only_there_with_it(bare, messy):
    top = Path(bare.cwd).parent
    before = contents(top)
    assert (bare("check", ".", check=False).code, contents(top)) == (5, before)
    bare("check", ".claude/memory", "--fix", "--yes", check=False)
    changed = {path for path, data in contents(top).items() if before.get(path) != data}
    assert changed
    assert all(path.startswith(str(messy)) for path in changed)
    assert set(contents(top)) == set(before)
    after = bare.json("check", ".", check=False)
    assert not any(row["fixable"] for row in after["findings"])


def test_rows_have_stable_codes_and_facts_and_a_clean_directory_exits_0(bare, messy):
    assert bare("check", str(DATA / "clean")).out == "2 memories: nothing to fix.\n"
    assert bare("check", "nowhere", check=False).code == 3
    done = bare("check", ".claude/memory/big.md", check=False)
    assert done.code == 2
    assert "memtui check .claude/memory" in done.err
    rows = bare.json("check", ".", check=False)["findings"]
    date = next(row for row in rows if row["code"] == "memories.date" and row["data"]["words"] == "yesterday")
    assert (date["line"], date["fixable"], date["level"]) == (10, True, "note")
    assert date["path"] == str(messy / "dates.md")
    assert date["data"]["proposed"] == "2026-11-04"


def test_fixes_of_ones_own_memories_are_one_step_of_undo_by_a_path_too(memtui, world):
    memtui("trust", "--yes")
    project, auto = Path(world.shop, ".claude/memory"), Path(memtui.json("status", "--paths")["auto_memory"])
    for place in (project, auto):
        (place / "no-words.md").write_text("---\nname: no-words\n---\n\nThe till counts in cents.\n")
    memtui("trust", "--yes")
    before = {**contents(project), **contents(auto)}
    done = memtui.json("check", "--fix", "--yes", check=False)
    assert done["undo"] == "memtui undo"
    newest, below = memtui.json("undo", "--list")["history"][:2]
    assert (newest["op"], below["op"]) == ("consolidate", "trust")
    assert newest["summary"] == "fix 6 files of project, auto and 2 more"
    assert {row["path"] for row in done["fixed"]} >= {f"{place}/no-words.md" for place in (project, auto)}
    assert "description: The till counts in cents." in (project / "no-words.md").read_text()
    assert not [row for row in memtui.json("doctor", check=False)["findings"] if row["code"] == "trust.waiting"]
    memtui("undo", "--yes")
    assert {**contents(project), **contents(auto)} == before
    assert memtui.json("check", ".claude/memory", "--fix", "--yes", check=False)["undo"] == "memtui undo"
    assert contents(project) != {path: data for path, data in before.items() if path.startswith(str(project))}
    memtui("undo", "--yes")
    assert {**contents(project), **contents(auto)} == before


@pytest.mark.parametrize("own", [True, False])
def test_check_fix_leaves_alone_what_changed_meanwhile(memtui, world, bare, own, monkeypatch):
    shell = memtui if own else bare
    project = Path(shell.cwd, ".claude/memory")
    project.mkdir(parents=True, exist_ok=True)
    late, other = project / "late.md", project / "other.md"
    for path in (late, other):
        path.write_text(f"---\nname: {path.stem}\n---\n\nThe till counts in cents.\n")
    changed = "---\nname: late\ndescription: Mine\n---\n\nThe till counts in euros.\n"

    def answer(*_):
        late.write_text(changed)

    monkeypatch.setattr(Context, "confirm", answer)
    done = shell("check", *([] if own else ["."]), "--fix", check=False)
    assert re.search(r"Fixed \d+ of \d+ files\. The others changed meanwhile: check again\.", done.err)
    assert late.read_text() == changed
    assert "description: The till counts in cents." in other.read_text()


def test_two_memories_that_a_person_calls_different_stay_apart(memtui, world):
    project = Path(world.shop, ".claude/memory")
    for name, more in (("till-one", "at the front"), ("till-two", "at the back")):
        text = f"The quarterly inventory spreadsheet lists every pallet, barcode and supplier {more}."
        (project / f"{name}.md").write_text(f"---\nname: {name}\ndescription: Inventory {more}\n---\n\n{text}\n")

    def alike():
        return [row["data"]["other"] for row in memtui.json("check", check=False)["findings"] if "other" in row["data"]]

    assert "project:till-two" in alike()
    memtui("check", "--apart", "till-two", "till-one")
    assert "project:till-two" not in alike()
    assert "already" in memtui("check", "--apart", "till-one", "till-two").out
    memtui("undo", "--yes")
    assert "project:till-two" in alike()
    assert memtui("check", "--apart", "till-one", "till-one", check=False).code == 2


def test_the_hook_for_pre_commit_runs_a_command_that_exists(bare):
    (hook,) = yaml.safe_load((PROJECT / ".pre-commit-hooks.yaml").read_text())
    program, *words = hook["entry"].split()
    assert program == "memtui"
    memory = Path(bare.cwd, ".claude/memory/use-pnpm.md")
    memory.parent.mkdir(parents=True)
    memory.write_text("---\nname: use-pnpm\ndescription: Use pnpm\ntype: feedback\n---\nUse pnpm, never npm.\n")
    assert bare(*words).code == 0
    # It runs only where a commit has a memory, so that a repository without any is not refused.
    assert re.match(hook["files"], ".claude/memory/use-pnpm.md")
    assert not re.match(hook["files"], ".claude/memory/.gitkeep")
    assert hook["pass_filenames"] is False


def test_nothing_that_git_is_configured_to_run_is_run(bare, messy, tmp_path):
    ran = tmp_path / "ran"
    shutil.rmtree(Path(bare.cwd, ".git"))
    (messy / "check.md").write_text(
        "---\nname: check\ndescription: d\nverify: [glob src/*.py, git branch --all]\n---\n\n"
        "It broke yesterday. Run `$(touch x)` in `src/a.py`, call `open_till_drawer()`.\n"
    )
    source = Path(bare.cwd, "src/a.py")
    source.parent.mkdir()
    source.write_text("def open_till_drawer(): pass\n")
    env = {**bare.env, "GIT_CONFIG_GLOBAL": "/dev/null"}
    as_a = ["-c", "user.name=A", "-c", "user.email=a@example.com", "-c", "commit.gpgsign=false"]
    for words in (
        ["init", "-q"],
        ["add", "."],
        ["commit", "-qm", "one"],
        ["rm", "-q", "src/a.py"],
        ["commit", "-qm", "two"],
    ):
        subprocess.run(["git", *as_a, *words], cwd=bare.cwd, env=env, check=True)
    script = tmp_path / "script"
    script.write_text(f"#!/bin/sh\ntouch {ran}\ncat\n")
    script.chmod(0o755)
    with open(Path(bare.cwd, ".git/config"), "a") as file:
        file.write(f"[core]\n\tfsmonitor = {script}\n\tpager = {script}\n[diff]\n\texternal = {script}\n")
        file.write(f'[filter "x"]\n\tclean = {script}\n\tsmudge = {script}\n[diff "x"]\n\ttextconv = {script}\n')
        file.write(f"[gpg]\n\tprogram = {script}\n[log]\n\tshowSignature = true\n[alias]\n\tlog = !{script}\n")
    Path(bare.cwd, ".gitattributes").write_text("* filter=x diff=x\n")
    for path in messy.iterdir():
        os.utime(path, (0, 0))
    rows = bare.json("check", ".", check=False)["findings"]
    codes = {row["code"].partition(".")[2] for row in rows}
    assert codes >= {"verify", "verify_unknown", "path", "symbol", "date"}
    assert not ran.exists()


@pytest.fixture
def over_limit(bare):
    """The MEMORY.md of Claude Code's own memory, with more lines than are loaded; the last is of a memory about tills."""
    from memtui.client import locate_hot

    found = Path(locate_hot.auto_dir(bare.env, str(bare.cwd)))
    found.mkdir(parents=True)
    names = [*(f"m{number}" for number in range(220)), "tills"]
    for name in names:
        about = "How the till counts coins in cents" if name == "tills" else f"About {name}"
        found.joinpath(f"{name}.md").write_text(f"---\nname: {name}\ndescription: {about}\n---\n\n{about}, always.\n")
    index = found / "MEMORY.md"
    index.write_text("".join(f"- [{name}]({name}.md) — Rule of {name}\n" for name in names))
    return index


@pytest.mark.slow
def test_its_fix_shows_what_it_does_and_recall_finds_what_is_not_loaded(bare, over_limit):
    before = over_limit.read_bytes()
    shown = bare("check", "--fix", "--dry-run", check=False).out
    assert over_limit.read_bytes() == before
    assert "Makes 21 memories recall-only: they stay" in " ".join(shown.split())
    assert "+<!-- recall only" in shown
    bare("check", "--fix", "--yes")
    assert bare("check").code == 0
    assert over_limit.read_text().partition("<!-- recall only")[2].count("](") == 21
    assert bare("check", "--fix", "--yes").code == 0
    assert "tills" in bare("recall", "how does the till count coins?").out
    assert "not loaded, but brought by memtui" in " ".join(bare("show", "tills").out.split())
    bare("undo", "--yes")
    assert over_limit.read_bytes() == before
