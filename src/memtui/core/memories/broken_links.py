"""The links that lead nowhere once memories are in another scope: links lead within one scope only."""

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from memtui.core.memories import scopes
from memtui.core.memories.links import LinkTargets
from memtui.core.memories.memory import Memory
from memtui.core.memories.scopes import Scope


class BrokenLink(NamedTuple):
    """A link to `name` of the memory with the stem `memory`, which is in `scope` after the move."""

    scope: Scope
    memory: str
    name: str


class BeforeMove:
    """The memories of some scopes as they are before some of them are moved to `target`."""

    def __init__(self, target: Scope, sources: Iterable[Scope]) -> None:
        self.target = target
        self.scopes = {each.label: each for each in (target, *sources)}
        self.memories = {label: list(scopes.memories(each)) for label, each in self.scopes.items()}

    def broken(self, moved: Sequence[Memory], new_name: str = "") -> list[BrokenLink]:
        """Return the links that the move breaks: those to the `moved` memories, and those from them. `new_name`: what
        the one moved memory is called in the target, if not as before. Links that are broken already are left out."""
        paths = {found.path for found in moved}
        stay = {label: [each for each in every if each.path not in paths] for label, every in self.memories.items()}
        return [*self._to(stay, moved), *self._from(stay, moved, new_name)]

    def _to(self, stay: dict[str, list[Memory]], moved: Sequence[Memory]) -> Iterator[BrokenLink]:
        for label in dict.fromkeys(found.scope_label for found in moved):
            before, after = LinkTargets(self.memories[label]), LinkTargets(stay[label])
            for each in stay[label]:
                for target in each.links:
                    if before.of(target, each.path) is not None and after.of(target, each.path) is None:
                        yield BrokenLink(self.scopes[label], each.stem, target)

    def _from(self, stay: dict[str, list[Memory]], moved: Sequence[Memory], new_name: str) -> Iterator[BrokenLink]:
        reached = LinkTargets([*stay[self.target.label], *([] if new_name else moved)])
        for found in moved:
            led = LinkTargets(self.memories[found.scope_label])
            for target in found.links:
                meant = led.of(target, found.path)
                if meant is None or target.removesuffix(".md") == new_name:
                    continue
                if reached.of(target, found.path) is None:
                    yield BrokenLink(self.target, new_name or found.stem, target)
