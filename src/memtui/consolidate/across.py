"""Merges of memories of two scopes: which of them stays, or why a person has to decide that.

The memory of the broader scope stays, since others read it, too. Nothing of a person's own goes into a repository, and
what an agent has for itself stays there.
"""

from typing import NamedTuple

from memtui.consolidate import coverage
from memtui.core.memories.memory import Memory
from memtui.core.memories.scopes import Scope
from memtui.core.places import trust


class Known(NamedTuple):
    """A memory and its scope."""

    scope: Scope
    memory: Memory

    @property
    def ref(self) -> str:
        """What a person calls it."""
        return f"{self.scope.shown}:{self.memory.stem}"


def obstacle(root: str, one: Known, other: Known) -> str:
    """Return why no merge of two memories of different scopes is proposed, as a part of a sentence; empty if one is.
    `root` is memtui's directory, empty where there is no home."""
    kinds = {one.scope.kind: one, other.scope.kind: other}
    for each in (one, other):
        if each.scope.needs_trust and (not root or not trust.load(root, each.scope.directory).allows(each.memory.raw)):
            return f"{each.ref} is not trusted"
        if not each.scope.writable or each.scope.problem:
            return f"{each.ref} can't be changed"
    if "agent" in kinds:
        return "an agent gets only what is its own"
    if set(kinds) == {"global", "auto"}:
        return ""
    if set(kinds) == {"project", "auto"}:
        shared, own = kinds["project"], kinds["auto"]
        covered = coverage.cover(_says(own), _says(shared))
        says_more = covered.dropped or not covered.is_verbatim
        return f"{own.ref} says more, which would go into the repository" if says_more else ""
    if set(kinds) == {"global", "project"}:
        project = kinds["project"]
        return f"{project.ref} is for everybody in the repository, {kinds['global'].ref} for you in all projects"
    return "neither is for all that the other is for"


def _says(found: Known) -> list[coverage.Statement]:
    return coverage.of_file(found.memory.path, found.memory.raw)


def broadest(found: list[Known]) -> tuple[str, str]:
    """Return the label of the scope whose memory stays, and why, as a sentence. No pair of them has an `obstacle`."""
    for kind, why in (("global", "which holds in all projects"), ("project", "which says all of it")):
        stays = next((each for each in found if each.scope.kind == kind), None)
        if stays is not None:
            return stays.scope.label, f"{stays.ref} stays, {why}."
    return found[0].scope.label, ""
