"""Many memories are removed only after a yes; the editor gets the file, and nothing that was typed is lost."""

import shutil
from pathlib import Path

import pytest

from memtui.cli.context import Context


def files(world):
    tops = (world.shop + "/.claude/memory", world.env["HOME"] + "/.claude/memory")
    return {str(path): path.read_bytes() for top in tops for path in Path(top).rglob("*.md")}


def test_many_go_to_the_trash_only_after_a_yes(memtui, world):
    many = [f"many-{number}" for number in range(21)]
    for name in many:
        Path(world.shop, f".claude/memory/{name}.md").write_text(f"---\nname: {name}\n---\nText.\n")
    before = files(world)
    done = memtui("rm", *many, check=False)
    assert done.code == 1
    assert "Nothing was removed." in done.err
    assert "--yes" in done.err
    assert files(world) == before
    memtui("rm", *many[:20])
    memtui("undo")
    assert files(world) == before
    memtui("rm", *many, "--yes")
    assert files(world) != before


def test_the_editor_gets_the_file_and_if_it_fails_the_edit_is_discarded(memtui, world, editor):
    path = Path(world.shop, ".claude/memory/prefer-pnpm.md")
    before = path.read_bytes()
    memtui.env["EDITOR"] = editor("path.write_text('gone'); sys.exit(1)")
    assert memtui("edit", "prefer-pnpm", check=False).code == 1
    assert path.read_bytes() == before
    memtui.env["VISUAL"] = editor("path.write_text(path.read_text().replace('every install', 'each install'))")
    memtui("edit", "prefer-pnpm")
    assert "each install" in path.read_text()
    assert memtui("edit", "meeting-notes", "--type", "user", check=False).code == 1, "it is broken"
    memtui.env["VISUAL"] = editor("path.write_text(path.read_text().replace('about \"soft', 'about soft'))")
    memtui("edit", "meeting-notes")
    assert "broken" not in memtui("show", "meeting-notes").out


def test_a_conflict_keeps_what_was_typed_and_says_where(memtui, world, editor):
    path = Path(world.shop, ".claude/memory/prefer-pnpm.md")
    other = path.read_text() + "\nSomebody else was faster.\n"
    memtui.env["EDITOR"] = editor(
        f"path.write_text(path.read_text() + 'MINE')\npathlib.Path({str(path)!r}).write_text({other!r})"
    )
    done = memtui("edit", "prefer-pnpm", check=False)
    assert (done.code, path.read_text()) == (4, other)
    draft = Path(done.err.split("kept in ")[1].split(";")[0])
    assert draft.read_text().endswith("MINE")
    draft.unlink()
    draft.parent.rmdir()


@pytest.mark.parametrize(
    "text", ["", "---\nname: [\n---\nText.\n", "Text alone.\n", "---\nname: a\nrules: foo\n---\nText.\n"]
)
def test_an_edit_that_breaks_the_head_is_refused_and_kept_aside(memtui, world, editor, text):
    path = Path(world.shop, ".claude/memory/prefer-pnpm.md")
    before = path.read_bytes()
    memtui.env["EDITOR"] = editor(f"path.write_text({text!r})")
    done = memtui("edit", "prefer-pnpm", check=False)
    assert (done.code, "would be broken" in done.err, path.read_bytes()) == (1, True, before)
    draft = Path("".join(done.err.split("kept in ")[1].split()[0]))
    assert draft.read_text() == text
    shutil.rmtree(draft.parent)
    assert memtui("edit", "prefer-pnpm", "--set", "rules=foo", check=False).code == 2
    assert path.read_bytes() == before


def test_the_editor_comes_back_with_a_broken_head_until_it_is_kept_or_not(memtui, world, editor, monkeypatch):
    monkeypatch.setattr(Context, "can_ask", True)
    path = Path(world.shop, ".claude/memory/prefer-pnpm.md")
    before = path.read_bytes()
    memtui.env["EDITOR"] = editor("path.write_text('' if path.read_text() else 'Kept.')")
    memtui("edit", "prefer-pnpm", stdin="b\n")
    assert path.read_bytes() == before
    memtui("edit", "prefer-pnpm", stdin="a\nk\n")
    assert path.read_text() == "Kept."


def test_a_description_follows_the_first_sentence_that_it_is(bare):
    bare("new", "tools", "--body", "Use uv, never pip. It is fast.")
    bare("edit", "tools", "--body", "Never pip or conda. Use uv.")
    assert bare.json("show", "tools")["description"] == "Never pip or conda."
    bare("edit", "tools", "--description", "About tools")
    assert "The description of tools stays" in bare("edit", "tools", "--body", "Use uv.").err
    assert bare.json("show", "tools")["description"] == "About tools"
