"""Planning from memories that were read before, as the TUI does: it takes no second copy of them."""

import os

from cli.conftest import NOW
from memtui.store import scopes
from memtui.workspace import Workspace


def space(world):
    """The workspace of the TUI, which has read all memories."""
    own = Workspace(world.env, world.shop, by="tui", now=NOW)
    own.known = {each.path: each for scope in scopes.discover(own.env, own.cwd) for each in scopes.memories(scope)}
    return own


def counts(own):
    return own.count_decisions(own.undecided())


def test_what_was_read_is_not_read_again(world, monkeypatch):
    before = counts(Workspace(world.env, world.shop, by="tui", now=NOW))
    own, read, again = space(world), scopes.read_memory, []
    monkeypatch.setattr(scopes, "read_memory", lambda path, label: again.append(path) or read(path, label))
    assert counts(own) == before
    assert not {path for path in again if own.known[path].broken is None and not path.endswith("CLAUDE.md")}


def test_what_changed_or_went_since_is_planned_as_it_is(world):
    own = space(world)
    os.unlink(f"{world.config}/memory/concise-answers.md")
    with open(f"{world.shop}/.claude/memory/prefer-pnpm.md", "a") as file:
        file.write("\nSee [[nowhere-at-all]].\n")
    assert counts(own) == counts(Workspace(world.env, world.shop, by="tui", now=NOW))
    subject = {proposal.id for proposal in own.undecided().proposals}
    assert subject == {proposal.id for proposal in Workspace(world.env, world.shop, by="tui").undecided().proposals}
