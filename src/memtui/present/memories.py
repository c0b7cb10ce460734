"""What is said of memories at both front doors: how many they are, where one comes from, who loads it."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from memtui.core.base.phrasing import ago, many

if TYPE_CHECKING:
    from memtui.core.memories.origin import Source

ASKED_OVER = 20
LOADERS = {
    "global": "memtui tells it to sessions of all projects",
    "project": "memtui tells it to sessions of this project",
    "auto": "Claude Code loads it by itself in sessions of this project",
}
SOURCES = {
    "approve": "approved from the inbox",
    "copy": "copied with memtui",
    "made": "made with memtui",
    "own": "your own",
    "repository": "came with the repository",
    "unknown": "not known",
}


def asked_about(labels: Sequence[str]) -> bool:
    """Whether so many memories, of scopes with these labels, go to the trash only after a question: more than a screen
    shows at once, or of more than one project."""
    return len(labels) > ASKED_OVER or _projects(labels) > 1


def counted(labels: Sequence[str]) -> str:
    """How many memories of scopes with these labels: `3,105 memories of 59 projects`."""
    projects = _projects(labels)
    return many(len(labels), "memory", "memories") + (f" of {projects:,} projects" if projects > 1 else "")


def _projects(labels: Sequence[str]) -> int:
    """Of how many projects. What is everybody's, and the person's own agents, belong to none."""
    here = {"here" for label in labels if label in {"project", "auto"} or label.endswith(("@project", "@local"))}
    return len(here | {label for label in labels if label.startswith("auto:")})


def left_alone(count: int) -> str:
    """How many failed."""
    return many(count, "memory was", "memories were") + " left alone"


def loader(label: str) -> str:
    """Who loads the memories of a scope, by its label; empty for one that nobody loads into a main session."""
    return LOADERS.get(label, "")


def source(found: "Source", title: str, now: float) -> str:
    """Where a memory comes from, in a few words; `title` is that of the session it names, where it is known."""
    if found.session:
        return f"session {found.session[:8]}" + (f" “{title}”" if title else "")
    return SOURCES[found.kind] + (f" {ago(found.when, now)}" if found.kind in {"approve", "copy", "made"} else "")
