"""The filters of the deliveries: by session, project, kind, memory, outcome and text. Each is a command."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace

from memtui.core.base.phrasing import many
from memtui.core.client import projects
from memtui.core.deliveries.filter import LOST, Filter
from memtui.core.deliveries.reading import DeliveryRow
from memtui.present import safe_text
from memtui.present.deliveries import GLYPHS, KINDS, LABELS, MEANINGS
from memtui.tui.dialogs.ask import Choice
from memtui.tui.screens.list_screen import ListScreen
from memtui.tui.services import Command, Services

# Memories in the list of a filter.
OPTIONS_SHOWN = 200


class Filters:
    """The current filter, `wanted`, and the commands that change it. `changed` is called after each change."""

    def __init__(self, services: Services, screen: ListScreen[DeliveryRow], changed: Callable[[], object]) -> None:
        self.services, self.screen, self.changed = services, screen, changed
        self.wanted = Filter(labels=LABELS)
        self._set_early = False  # whether another screen set the filter before this one was mounted

    def commands(self) -> dict[str, Command]:
        """Return the commands by action id."""
        return {
            "deliveries.project": Command(self._project, self.why_not_counted),
            "deliveries.memory": Command(self._memory, self.why_not_counted),
            "deliveries.kind": Command(self._kind),
            "deliveries.outcome": Command(self._outcome),
            "deliveries.text": Command(self.screen.open_filter),
        }

    def why_not_counted(self) -> str:
        """Say that the log is still being counted, if it is."""
        return "" if self.services.data.statistics.ready else "The log is still being counted: try again in a moment."

    def set_fields(self, **fields: str) -> None:
        """Set these fields of the filter and keep the others; an empty field lets everything through."""
        wanted = self.wanted.but(**fields)
        if wanted != self.wanted:
            self.wanted = wanted
            self.screen.keep(**dict(wanted.words()))
            self.changed()

    def replace(self, **fields: str) -> None:
        """Replace the filter by one with these fields, before the log is read."""
        self._set_early = True
        self.wanted = replace(Filter.of(fields), labels=LABELS)

    def restore(self) -> None:
        """Restore the filter with which the screen was left the last time, unless another screen has set one."""
        if not self._set_early:
            self.wanted = replace(Filter.of(self.screen.left), labels=LABELS)

    def drop_last(self) -> bool:
        """Clear the field that was set last; return False if none is set."""
        words = self.wanted.words()
        if words:
            self.set_fields(**{words[-1][0]: ""})
        return bool(words)

    def in_words(self) -> list[str]:
        """Say each field that is set, the one that was set last at the end."""
        data = self.services.data
        roots = {self.wanted.project, *(root for _, root, _ in data.statistics.sessions.values())} - {""}
        named = projects.names_of_roots(data.env, roots)
        return [
            safe_text.line(_in_words(name, named[value] if name == "project" else value), 60)
            for name, value in self.wanted.words()
        ]

    def toggle_lost(self) -> None:
        """Show only what was lost, or everything again."""
        self.set_fields(outcome="" if self.wanted.outcome == LOST else LOST)

    async def _choose(self, question: str, field: str, options: Sequence[tuple[str, str]], current: str) -> None:
        value = await self.services.ask(Choice(question, [("", "everything"), *options], current))
        if value is not None:
            self.set_fields(**{field: value})

    async def _project(self) -> None:
        counts: Counter[str] = Counter()
        for _, project, count in self.services.data.statistics.sessions.values():
            counts[project] += count
        named = projects.names_of_roots(self.services.data.env, counts)
        options = [
            (root, f"{named[root]}  {many(count, 'delivery', 'deliveries')}") for root, count in counts.most_common()
        ]
        row = self.screen.table.row
        await self._choose("Show the project", "project", options, row.root if row else "")

    async def _kind(self) -> None:
        await self._choose("Show deliveries with", "kind", list(KINDS.items()), self.wanted.kind)

    async def _outcome(self) -> None:
        options = [(word, f"{glyph} {word}: {MEANINGS[word]}") for word, (glyph, _) in GLYPHS.items()]
        options.insert(0, (LOST, "✗ lost: timed out, failed, dropped or broken off"))
        await self._choose("Show by receipt", "outcome", options, self.wanted.outcome)

    async def _memory(self) -> None:
        row = self.screen.table.row
        statistics = self.services.data.statistics
        own = statistics.present(row) if row else set()
        found = statistics.memories.items()
        options = [
            (path, f"{each.name}  {each.deliveries}×" + (f", used {each.uses}×" if each.uses else ""))
            for path, each in sorted(found, key=lambda pair: (pair[0] not in own, -pair[1].deliveries))[:OPTIONS_SHOWN]
        ]
        await self._choose("Show the memory", "memory", options, self.wanted.memory)


def _in_words(name: str, value: str) -> str:
    match name:
        case "session":
            return f"session {value[:8]}"
        case "project":
            return f"in {value}"
        case "kind":
            return KINDS.get(value, value)
        case "memory":
            return f"with {value.rpartition('/')[2].removesuffix('.md')}"
        case "text":
            return f"“{value}”"
        case _:
            return value
