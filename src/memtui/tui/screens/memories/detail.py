"""The detail of a memory: its text with its index, links, deliveries, and the session it comes from."""

import contextlib
from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

from rich.text import Text

from memtui import actions
from memtui.base import findings, fs
from memtui.base.finding import PROBLEM
from memtui.base.phrasing import age, ago, size
from memtui.client import applied_settings
from memtui.store.memory import LinkTargets, Memory, flat
from memtui.store.scopes import Scope
from memtui.store.status import BY_CLIENT, MEANINGS, Row
from memtui.tui.model import autosave
from memtui.tui.model.data import Data
from memtui.tui.screens.memories.reader import MemoryReader
from memtui.tui.screens.memories.rows import Pair, last
from memtui.tui.services import Services
from memtui.tui.widgets import markdown
from memtui.tui.widgets.markdown import draw
from memtui.views import colours, safe_text
from memtui.views import memories as present
from memtui.views.deliveries import recalls

if TYPE_CHECKING:
    from memtui.store.index.index import Budget, Index

# Characters of a body that are drawn; the editor opens all of it.
MAX_BODY = 20_000
LABEL = 10
# Marks of Markdown in a text, which its description may lack.
MARKUP = dict.fromkeys(map(ord, "`*"))
# From this share of a limit on, its numbers are yellow.
NEARLY = 0.8
# Fields that the list of other fields leaves out: shown elsewhere, or of no use to a person.
SHOWN_ELSEWHERE = {"name", "description", "title", "type", "originSessionId", "modified", "updated", "triggers"}


class Meter(NamedTuple):
    """The index of a scope: how full it is, and its lines."""

    budget: "Budget"
    lines: "Index"


class MemoryDetail:
    """The details of memories. What they need beside the memory is looked up once for each reading of the scopes."""

    def __init__(self, services: Services, reader: MemoryReader) -> None:
        self.services, self.reader = services, reader
        self._meters: dict[str, Meter | None] = {}
        self._links: dict[str, list[tuple[Memory, Memory]]] = {}  # by label of the scope: (from, to)
        self._way: str | None = None

    def forget(self) -> None:
        """Drop what was looked up, after the scopes were read again."""
        self._way = None
        self._meters.clear()
        self._links.clear()

    def text(self, pair: Pair) -> Text:
        """Return the detail of a memory: what it says, what is wrong with it, the facts, its text."""
        scope, row = pair
        memory, now = row.memory, self.services.data.now()
        text = _description(memory).append_text(flag_lines(row))
        text.append(safe_text.line(memory.type or "untyped", 40), colours.TYPES.get(memory.type, "dim"))
        words = f" in {self.reader.name_of(scope)} · {age(memory.changed_at or None, now)}"
        text.append(safe_text.line(words) + "\n", "dim")
        self._deliveries(text, pair)
        if (at := self.reader.autosaves.get(memory.path)) is not None:
            text.append(autosave.unsaved(at, now, "memories.edit") + "\n", "yellow")
        if source := self._source(pair):
            _label(text, "origin")
            text.append(safe_text.line(source, 200) + "\n")
        text.append("\n")
        _body(text, memory)
        _fields(text, memory.fields)
        self._triggers(text, pair)
        self._linked(text, pair)
        self._index(text, pair)
        return text.append(f"{safe_text.line(self.services.data.tilde(memory.path))} · {size(memory.size)}", "dim")

    def _source(self, pair: Pair) -> str:
        from memtui.store.versions import moves

        source = moves.source(pair[0], pair[1].memory, self.reader.creations)
        return "" if source.kind == "unknown" else present.source(source, self.services.data.now())

    def _triggers(self, text: Text, pair: Pair) -> None:
        from memtui.store import triggers

        (scope, row), data = pair, self.services.data
        lines = triggers.of_memory(data.root, scope.directory, row.file, row.memory, data.now())
        for number, trigger in enumerate(lines):
            _label(text, "triggers" if not number else "")
            origin = present.trigger_origin(trigger, data.now())
            text.append(safe_text.line(trigger.text, 300)).append(f"  {origin}\n", "dim")
        muted = triggers.muted_prompts(data.root, scope.directory, row.file)
        for number, prompt in enumerate(muted):
            _label(text, "muted for" if not number else "")
            text.append(f"“{safe_text.line(prompt.text, 300)}”\n")
        text.append("\n" if lines or muted else "")

    # links

    def links(self, pair: Pair) -> list[tuple[str, str]]:
        """Return (path, words) of the memories that one links to, then of those that link to it."""
        scope, row = pair
        if scope.label not in self._links:
            memories = [row.memory for row in self.reader.rows.get(scope.label, [])]
            targets, pairs = LinkTargets(memories), []
            for source in memories:
                pairs += [(source, to) for name in source.links if (to := targets.of(name, source.path)) is not None]
            self._links[scope.label] = pairs
        pairs, path = self._links[scope.label], row.memory.path
        links = [(to.path, f"→ {to.name}") for source, to in pairs if source.path == path]
        links += [(source.path, f"← {source.name}") for source, to in pairs if to.path == path]
        return [(link, safe_text.line(words, 80)) for link, words in dict.fromkeys(links) if link != path]

    def _linked(self, text: Text, pair: Pair) -> None:
        links = [words for _, words in self.links(pair)]
        if links:  # of a broken one a line above says that it is
            _label(text, "links")
            text.append("".join(f"{words}  " for words in links), "cyan")
            text.append("\n\n")

    # the index

    def _meter(self, scope: Scope) -> Meter | None:
        """Return how full a scope's index is; None if there is no index."""
        from memtui.store.index import index

        if scope.label not in self._meters:
            self._meters[scope.label] = None
            with contextlib.suppress(OSError):
                if scope.has_index and not scope.problem:
                    data = fs.read_bytes(scope.index_path)
                    budget = index.budget(data, agent=scope.kind == "agent")
                    self._meters[scope.label] = Meter(budget, index.parse_index(data))
        return self._meters[scope.label]

    def _index(self, text: Text, pair: Pair) -> None:
        scope, row = pair
        if not scope.has_index:
            return
        _label(text, "index")
        meter = self._meter(scope)
        if meter is None:
            text.append(f"{safe_text.line(self.reader.name_of(scope), 80)} has no MEMORY.md\n\n", "dim")
            return
        entry = next((other for other in meter.lines.entries if other.is_for(row.file)), None)
        if entry is None:
            recall_only = self._is_recall_only(meter, row)
            words = ["recall only: not loaded, but brought with prompts that it fits" if recall_only else MEANINGS["N"]]
        else:
            cut, hook = meter.budget.cut_line, entry.hook or entry.title
            words = [f"line {entry.line} of MEMORY.md"]
            words += [f"the cut is at {cut}"] if cut is not None and entry.line >= cut else []
            words += [f"“{hook}”"] if hook != row.memory.description else []
        text.append(safe_text.line(" · ".join(words), 300) + " · ", "dim").append_text(_level(meter.budget))
        text.append("\n\n")

    def _is_recall_only(self, meter: Meter, row: Row) -> bool:
        return any(entry.is_for(row.file) for entry in meter.lines.recall_only)

    # deliveries

    def _way_of(self, pair: Pair) -> str:
        """Return how Claude Code brings a memory that memtui does not deliver."""
        scope, row = pair
        if scope.kind != "auto":
            return applied_settings.LOADED
        if self._way is None:
            self._way = applied_settings.way(self.services.data.env, self.services.data.cwd)
        if self._way != applied_settings.LOADED:
            return self._way
        if any(flag.code == "memories.cut" for flag in row.flags):
            return applied_settings.CUT
        meter = self._meter(scope)
        return (
            applied_settings.RECALL_ONLY
            if meter is not None and self._is_recall_only(meter, row)
            else applied_settings.LOADED
        )

    def _deliveries(self, text: Text, pair: Pair) -> None:
        (scope, row), now = pair, self.services.data.now()
        uses = f" · used {row.used}×" if row.used else ""
        if scope.kind == "model":
            text.append("delivered to sessions, where the setting subconscious is full\n")
            return
        if not row.deliveries:
            way = "never delivered" if row.never_delivered(scope) else BY_CLIENT[self._way_of(pair)]
            text.append(f"{way}{uses}\n")
            return
        _label(text, "delivered")
        text.append(f"{row.deliveries}×, last ")
        text.append_text(last(scope, row, self.reader.outcomes, now, ago)).append(f"{uses}\n")
        text.append(" " * LABEL + recalls(row.recalls) + "\n" if row.recalls else "")


def flag_lines(row: Row) -> Text:
    """Return a line for each finding about a memory, with a key to press instead of a command to run."""
    text = Text()
    for flag in row.flags:
        mark, style = ("!", colours.PROBLEM) if flag.level == PROBLEM else ("·", "dim")
        words = findings.flag(flag, actions.keyed("{memories.trust} trusts it"))
        text.append(f"{mark} {safe_text.line(words, 300)}\n", style)
    return text


def glance_text(row: Row) -> Text:
    """Return a preview of a memory: problems, description, body."""
    text, whole = flag_lines(row).append_text(_description(row.memory, "dim")), _readable_text(row.memory)
    text.append_text(markdown.render(whole[:MAX_BODY].strip("\n")))
    return text.append("\n…" if len(whole) > MAX_BODY else "", "dim")


def trust_text(data: Data, directory: str, contents: Mapping[str, bytes]) -> Text:
    """Return memories as the agent gets them, Markdown not drawn; of one that was trusted, what changed since then."""
    from memtui.store import trust, trust_grants
    from memtui.views import changes

    trusted = trust.load(data.root, directory)
    before = {name: trust_grants.earlier(data.root, trusted, name) for name in contents}
    details = (changes.describe_untrusted(name, text, before[name]) for name, text in contents.items())
    return Text("\n").join(map(draw, details))


def _readable_text(memory: Memory) -> str:
    """Return a memory's body; the whole file if its frontmatter can't be read."""
    return memory.body if memory.has_frontmatter or not memory.broken else memory.raw.decode("utf-8", "replace")


def _description(memory: Memory, style: str = "") -> Text:
    """Return the line with a memory's description; empty if its text begins with the same words."""
    words = safe_text.line(memory.description, 400)
    begin = " ".join(_readable_text(memory)[: 2 * len(words) + 20].split()).lstrip("# ")
    plain, begin = (folded.translate(MARKUP).casefold() for folded in (words.rstrip("."), begin))
    return markdown.inline(f"{words}\n" if words and not begin.startswith(plain) else "", style)


def _body(text: Text, memory: Memory) -> None:
    whole = _readable_text(memory)
    cut = whole[:MAX_BODY].strip("\n")
    text.append_text(markdown.render(cut))
    if len(whole) > MAX_BODY:
        key = actions.key_of("memories.editor")
        text.append(f"\n… {len(whole) - MAX_BODY:,} more characters: {key} opens the whole file", "dim")
    text.append("\n\n" if cut.strip() else "(no text)\n\n", "dim")


def _label(text: Text, word: str) -> None:
    text.append(f"{word:<{LABEL}}", "dim")


def _fields(text: Text, fields: Mapping[str, object]) -> None:
    """Append the fields that are not shown elsewhere, by their dotted path."""
    others = [
        (path, value)
        for path, value in flat(fields)
        if (key := path.rpartition(".")[2]) not in SHOWN_ELSEWHERE and (key, value) != ("node_type", "memory")
    ]
    for path, value in others:
        _label(text, safe_text.line(path, 40) + " ")
        text.append(safe_text.line(value, 300) + "\n")
    text.append("\n" if others else "")


def _level(budget: "Budget") -> Text:
    """Return how full an index is, in lines or in characters (UTF-16 units), whichever limit is nearer."""
    style = "yellow" if budget.share >= NEARLY else "dim"
    if budget.units / budget.max_units > budget.lines / budget.max_lines:
        return Text(f"{budget.units:,} of {budget.max_units:,} characters", style)
    return Text(f"{budget.lines} of {budget.max_lines} lines", style)
