"""One change for several memories: a failure stops none of the others, and all that was done is one step of undo."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from memtui.core.base.errors import MemtuiError
from memtui.core.base.phrasing import many
from memtui.core.base.storage import storage_error
from memtui.core.memories.store import Store

ASKED_OVER = 20

Item = TypeVar("Item")
Done = TypeVar("Done")


@dataclass
class Outcome(Generic[Item, Done]):
    """What became of so many (`whole`): those not in `done` or `failed` were not tried."""

    whole: int
    done: list[tuple[Item, Done]] = field(default_factory=list)
    failed: list[tuple[Item, MemtuiError]] = field(default_factory=list)

    @property
    def stopped(self) -> bool:
        """Whether somebody stopped it before its end."""
        return len(self.done) + len(self.failed) < self.whole


def each(
    store: Store, items: Sequence[Item], act: Callable[[Item], Done], going: Callable[[int], bool] = lambda _: True
) -> Outcome[Item, Done]:
    """Do it to each. `going` is asked before each whether to go on, and told how many were tried."""
    outcome: Outcome[Item, Done] = Outcome(len(items))
    with store.together():
        for number, item in enumerate(items):
            if not going(number):
                break
            try:
                outcome.done.append((item, act(item)))
            except MemtuiError as error:
                outcome.failed.append((item, error))
            except OSError as error:
                outcome.failed.append((item, storage_error(error, error.filename or "A file")))
    return outcome


def asked_about(labels: Sequence[str]) -> bool:
    """Whether so many memories, of scopes with these labels, go to the trash only after a question: more than a screen
    shows at once, or of more than one project."""
    return len(labels) > ASKED_OVER or _projects(labels) > 1


def counted(labels: Sequence[str]) -> str:
    """How many memories of scopes with these labels, in words: `3,105 memories of 59 projects`."""
    projects = _projects(labels)
    return many(len(labels), "memory", "memories") + (f" of {projects:,} projects" if projects > 1 else "")


def _projects(labels: Sequence[str]) -> int:
    """Of how many projects. What is everybody's, and the person's own agents, belong to none."""
    here = {"here" for label in labels if label in {"project", "auto"} or label.endswith(("@project", "@local"))}
    return len(here | {label for label in labels if label.startswith("auto:")})


def left_alone(count: int) -> str:
    """How many failed, in words."""
    return many(count, "memory was", "memories were") + " left alone"
