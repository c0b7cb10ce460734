"""`memtui edit --set forbids=…` says what it does, and warns of what no command matches."""

import pytest

from memtui.recall import fields


def said(done):
    return " ".join(done.out.split())


def test_what_is_refused_from_now_on_is_said(memtui):
    done = memtui("edit", "prefer-pnpm", "--set", "forbids=npm install, npm i")
    assert "From now on a hook refuses `npm install`, `npm i` once a session, in the mode full." in said(done)
    assert "a hook" not in said(memtui("edit", "prefer-pnpm", "--description", "Use pnpm here"))
    row = memtui.json("edit", "prefer-pnpm", "--set", "forbids=npm install, [")
    assert (row["forbids"], row["never_match"]) == (["npm install", "["], ["["])


def test_what_never_matches_is_kept_with_a_warning(memtui):
    for value in ("[", "{}", "sudo npm install", "/usr/bin/npm", "a && b"):
        done = memtui("edit", "prefer-pnpm", "--set", f"forbids={value}")
        assert f"! `{value}` matches no command" in said(done)
        assert "From now on" not in said(done)
        assert "forbids" in memtui("show", "prefer-pnpm", "--raw").out


@pytest.mark.parametrize("value", ["npm install", "git push --force", "yarn", "[ a", "", "...", "'npm' i", "A=1 npm"])
def test_what_can_match_is_what_the_hook_finds(value):
    assert fields.can_match(value) is (value in {"npm install", "git push --force", "yarn"})
