"""Values of fields that a memory should not have: refused, or warned of, and named by `memtui check`."""

from pathlib import Path

REFUSED = "pinned is true or false, not “banana”"


def test_a_switch_is_true_or_false(memtui):
    done = memtui("edit", "prefer-pnpm", "--set", "pinned=banana", check=False)
    assert done.code
    assert REFUSED in done.err
    for value in ("true", "No", ""):
        memtui("edit", "prefer-pnpm", "--set", f"pinned={value}")


def test_check_names_a_switch_that_is_neither(memtui):
    path = Path(memtui.json("show", "prefer-pnpm")["path"])
    path.write_text(path.read_text().replace("---\n", "---\npinned: banana\n", 1))
    (row,) = [each for each in memtui.json("check", check=False)["findings"] if each["code"] == "memories.switch"]
    assert row["message"] == (
        "project:prefer-pnpm has `pinned: banana`, which is neither true nor false, so it is not pinned."
    )
    assert row["remedy"] == "memtui edit project:prefer-pnpm --set pinned=true"
