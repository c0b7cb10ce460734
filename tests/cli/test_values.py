"""Values of fields that a memory should not have: refused, or warned of, and named by `memtui check`."""

REFUSED = "pinned is true or false, not “banana”"


def test_a_switch_is_true_or_false(memtui):
    done = memtui("edit", "prefer-pnpm", "--set", "pinned=banana", check=False)
    assert done.code
    assert REFUSED in done.err
    for value in ("true", "No", ""):
        memtui("edit", "prefer-pnpm", "--set", f"pinned={value}")
