"""What is wanted of the log: by session, project, kind, memory, outcome and text, each filter a command."""

from collections import Counter
from collections.abc import Callable, Sequence

from rich.text import Text

from memtui.core.base.phrasing import age, many
from memtui.core.deliveries.filter import Filter
from memtui.core.deliveries.reading import DeliveryRow
from memtui.present import safe_text
from memtui.present.deliveries import GLYPHS, KINDS, MEANINGS
from memtui.tui.dialogs.ask import Choice
from memtui.tui.screens.list_screen import ListScreen
from memtui.tui.services import Command, Services

OFFERED = 200


class Filters:
    """The filter that holds: `wanted`. `changed` is called when it is another one."""

    def __init__(self, services: Services, screen: ListScreen[DeliveryRow], changed: Callable[[], object]) -> None:
        self.services, self.screen, self.changed = services, screen, changed
        self.wanted = Filter()
        self._given = False  # by another screen, before this one was there

    def commands(self) -> dict[str, Command]:
        """Action id to command."""
        return {
            "deliveries.session": Command(self._session, self.why_not_counted),
            "deliveries.project": Command(self._project, self.why_not_counted),
            "deliveries.memory": Command(self._memory, self.why_not_counted),
            "deliveries.kind": Command(self._kind),
            "deliveries.outcome": Command(self._outcome),
            "deliveries.text": Command(self.screen.open_filter),
        }

    def why_not_counted(self) -> str:
        """Why nothing can be told of the sums."""
        return "" if self.services.data.statistics.ready else "The log is still being counted: try again in a moment."

    def only(self, **fields: str) -> None:
        """Show only what fits these fields too; one that is empty wants everything."""
        wanted = self.wanted.but(**fields)
        if wanted != self.wanted:
            self.wanted = wanted
            self.screen.keep(**dict(wanted.words()))
            self.changed()

    def want(self, **fields: str) -> None:
        """Show what fits these fields and no others."""
        self._given = True
        self.wanted = Filter.of(fields)

    def as_left(self) -> None:
        """Want what was wanted when the screen was left the last time, unless something else is asked for."""
        if not self._given:
            self.wanted = Filter.of(self.screen.left)

    def drop_last(self) -> bool:
        """Do without the filter that was set last; False if there is none."""
        words = self.wanted.words()
        if words:
            self.only(**{words[-1][0]: ""})
        return bool(words)

    def line(self) -> Text:
        """What is filtered by, and how to leave it."""
        text = Text(no_wrap=True, overflow="ellipsis")
        words = self.wanted.words()
        for name, value in words:
            shown = value[:8] if name == "session" else value.rpartition("/")[2] if name == "memory" else value
            text.append(f"{name} ", style="dim")
            text.append(safe_text.line(shown, 60) + "  ", style="bold")
        if words:
            text.append(f"escape clears {'the last one' if len(words) > 1 else 'it'}", style="dim")
        return text

    async def _choose(self, question: str, field: str, options: Sequence[tuple[str, str]], current: str) -> None:
        value = await self.services.ask(Choice(question, [("", "everything"), *options], current))
        if value is not None:
            self.only(**{field: value})

    async def _session(self) -> None:
        now, row = self.services.data.now(), self.screen.table.row
        found = sorted(self.services.data.statistics.sessions.items(), key=lambda pair: -pair[1][0])[:OFFERED]
        options = [
            (name, f"{name[:8]}  {project}  {many(count, 'delivery', 'deliveries')}  {age(last, now)}")
            for name, (last, project, count) in found
        ]
        await self._choose("Show the session", "session", options, row.session if row else "")

    async def _project(self) -> None:
        counts: Counter[str] = Counter()
        for _, project, count in self.services.data.statistics.sessions.values():
            counts[project] += count
        options = [(name, f"{name}  {many(count, 'delivery', 'deliveries')}") for name, count in counts.most_common()]
        row = self.screen.table.row
        await self._choose("Show the project", "project", options, row.where if row else "")

    async def _kind(self) -> None:
        await self._choose("Show what brought", "kind", list(KINDS.items()), self.wanted.kind)

    async def _outcome(self) -> None:
        options = [(word, f"{glyph} {word}: {MEANINGS[word]}") for word, (glyph, _) in GLYPHS.items()]
        await self._choose("Show by what became of it", "outcome", options, self.wanted.outcome)

    async def _memory(self) -> None:
        row = self.screen.table.row
        own = set(row.files) if row else set()
        found = self.services.data.statistics.memories.items()
        options = [
            (path, f"{each.name}  {each.deliveries}×" + (f", used {each.uses}×" if each.uses else ""))
            for path, each in sorted(found, key=lambda pair: (pair[0] not in own, -pair[1].deliveries))[:OFFERED]
        ]
        await self._choose("Show the memory", "memory", options, self.wanted.memory)
