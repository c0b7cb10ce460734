"""The detail of a memory: its text with its index, links, deliveries, and the session it comes from."""

from typing import TYPE_CHECKING

from rich.text import Text
from textual.screen import Screen

from memtui.core.health import findings
from memtui.core.memories.memory import LinkTargets
from memtui.core.memories.scopes import Scope
from memtui.core.memories.status import LINKS
from memtui.core.places import loading
from memtui.present import colours, safe_text
from memtui.present import memories as present
from memtui.tui.model import autosave
from memtui.tui.screens.memories.meters import Meter, cut_line, index_line, meter_of
from memtui.tui.screens.memories.reading import MemoryReader
from memtui.tui.screens.memories.rows import Pair
from memtui.tui.screens.memories.text import MemoryFacts, flag_words, memory_text
from memtui.tui.services import Services

if TYPE_CHECKING:
    from memtui.core.memories.triggers import Trigger


class MemoryDetail:
    """The details of memories. What they need beside the memory is looked up once for each reading of the scopes."""

    def __init__(self, services: Services, screen: Screen[None], reader: MemoryReader) -> None:
        self.services, self.screen, self.reader = services, screen, reader
        self._meters: dict[str, Meter | None] = {}
        self._links: dict[str, dict[str, list[str]]] = {}
        self._way: str | None = None

    def forget(self) -> None:
        """Drop what was looked up, after the scopes were read again."""
        self._way = None
        self._meters.clear()
        self._links.clear()

    def text(self, pair: Pair) -> Text:
        """Return the detail of a memory."""
        scope, row = pair
        found, now = row.memory, self.services.data.now()
        links = self._backlinks(scope)
        back = [stem for stem in links.get(found.path, ()) if stem != found.stem]
        missing = [str(flag.data["link"]) for flag in row.flags if flag.code in LINKS]
        source = self._source(pair, now)
        draft = self._draft(found.path, now)
        facts = MemoryFacts(
            self.reader.name_of(scope),
            back,
            missing,
            self._meter(scope),
            self.reader.outcomes,
            draft,
            source,
            self._triggers(pair, now),
            self._way_of(pair),
        )
        return memory_text(scope, row, facts, now)

    def _draft(self, path: str, now: float) -> str:
        at = self.reader.autosaves.get(path)
        if at is None:
            return ""
        return autosave.unsaved(at, now, "memories.edit")

    def _source(self, pair: Pair, now: float) -> str:
        from memtui.core.memories import origin

        return present.source(origin.source(pair[0], pair[1].memory, self.reader.made), now)

    def _triggers(self, pair: Pair, now: float) -> "list[Trigger]":
        from memtui.core.memories import triggers

        scope, row = pair
        return triggers.of_memory(self.services.data.root, scope.directory, row.file, row.memory, now)

    def _way_of(self, pair: Pair) -> str:
        """Return how Claude Code brings a memory that memtui does not deliver."""
        scope, row = pair
        if scope.kind != "auto":
            return loading.LOADED
        if self._way is None:
            self._way = loading.way(self.services.data.env, self.services.data.cwd)
        if self._way != loading.LOADED:
            return self._way
        if any(flag.code == "memories.cut" for flag in row.flags):
            return loading.CUT
        meter = self._meter(scope)
        is_kept = meter is not None and any(each.is_for(row.file) for each in meter.index.recall_only)
        return loading.RECALL_ONLY if is_kept else loading.LOADED

    def _meter(self, scope: Scope) -> Meter | None:
        if scope.label not in self._meters:
            self._meters[scope.label] = meter_of(scope)
        return self._meters[scope.label]

    def _backlinks(self, scope: Scope) -> dict[str, list[str]]:
        """Return by path the memories of a scope that link to a memory, by their stems."""
        if scope.label not in self._links:
            memories = [row.memory for row in self.reader.rows.get(scope.label, [])]
            link_targets = LinkTargets(memories)
            found: dict[str, dict[str, None]] = {}
            for each in memories:
                for target in each.links:
                    if (meant := link_targets.of(target, each.path)) is not None:
                        found.setdefault(meant.path, {})[each.stem] = None
            self._links[scope.label] = {path: list(stems) for path, stems in found.items()}
        return self._links[scope.label]

    def indexes(self, scopes: tuple[Scope, ...], width: int) -> Text:
        """Return one line, `width` cells wide, with the fill level of the indexes of these scopes."""
        several = len(scopes) > 1
        picked = [s for s in scopes if not several or s.label in {"global", "project", "auto"}]
        if not picked and all(scope.kind == "instructions" for scope in scopes):
            return Text(" CLAUDE.md and rules have no index: Claude Code loads them whole", "dim", overflow="ellipsis")
        if not picked:
            reader = self.reader
            return cut_line([(reader.name_of(scope), reader.rows.get(scope.label, ())) for scope in scopes])
        found = [
            (scope.label if several else self.reader.name_of(scope), meter.budget)
            for scope in picked
            if (meter := self._meter(scope)) is not None
        ]
        none = "" if picked[0].kind == "instructions" else " no index (MEMORY.md) yet: the first memory makes it"
        return index_line(found, width) if found else Text(none, "dim", overflow="ellipsis")

    def findings(self, pair: Pair) -> Text:
        """Return one line with what is wrong with a memory."""
        flags = pair[1].flags
        words = "; ".join(flag_words(flag) for flag in flags)
        mark, style = ("!", colours.PROBLEM) if findings.problems(flags) else ("·", "dim")
        return Text(f" {mark} {safe_text.line(words, 300)}", style, overflow="ellipsis")
