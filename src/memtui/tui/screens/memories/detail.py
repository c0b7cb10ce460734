"""The detail of a memory: its text with its index, links, deliveries, and the session it comes from."""

from typing import TYPE_CHECKING

from rich.text import Text

from memtui import keymap
from memtui.base import findings
from memtui.base.finding import PROBLEM
from memtui.base.phrasing_hot import ago, cut, many, share, size
from memtui.client import applied_settings
from memtui.recall_preview import RecallCandidate, RecallRun
from memtui.store.memory import LinkTargets, Memory, flat
from memtui.store.scopes import Scope
from memtui.store.status import BY_CLIENT, MEANINGS, Row
from memtui.tui.model import autosave
from memtui.tui.screens.memories.reader import MemoryReader, Pair
from memtui.tui.screens.memories.rows import last
from memtui.tui.widgets import prose
from memtui.views import colours, recall, rules, safe_text
from memtui.views import memories as present
from memtui.views.deliveries import recalls

if TYPE_CHECKING:
    from memtui.transfer.import_plan import ImportPlan

MAX_BODY = 20_000  # characters of a body that are drawn; the editor opens all of it
LABEL = 10
MARKUP = dict.fromkeys(map(ord, "`*"))  # marks of Markdown in a text, which its description may lack
# Fields that the list of other fields leaves out: shown elsewhere, or of no use to a person.
SHOWN_ELSEWHERE = {
    "name",
    "description",
    "title",
    "type",
    "originSessionId",
    "modified",
    "updated",
    "triggers",
    *rules.FIELDS,
}
Facts = list[tuple[str, Text]]  # lines, each with its label; empty labels continue the one above
RECALL_ONLY = "recall only: not loaded, but brought with prompts that it fits"

# Of a prompt in recall: the characters that are shown; words that are listed of one field, the telling ones first.
PROMPT_SHOWN, TERMS = 600, 12


class MemoryDetail:
    """The details of memories. What they need beside the memory is looked up once for each reading of the scopes."""

    def __init__(self, reader: MemoryReader) -> None:
        self.services, self.reader = reader.services, reader
        self._links: dict[str, list[tuple[Memory, Memory]]] = {}  # by label of the scope: (from, to)
        self._way: str | None = None

    def forget(self) -> None:
        self._way = None
        self._links.clear()

    def text(self, pair: Pair) -> Text:
        scope, row = pair
        memory, now = row.memory, self.services.data.now()
        text = _description(memory).append_text(flag_lines(row))
        text.append("".join(f"  {safe_text.line(note, 300)}\n" for note in memory.notes), "dim")
        words = f"{memory.type or 'untyped'} in {self.reader.name_of(scope)}"
        words += f" · written {ago(memory.changed_at, now)}" if memory.changed_at else ""
        text.append(safe_text.line(words) + "\n", "dim").append_text(self._deliveries(pair, now))
        if (at := self.reader.autosaves.get(memory.path)) is not None:
            text.append(autosave.unsaved(at, now, "memories.edit") + "\n", "yellow")
        text.append_text(_drawn(self._origin(pair, now))).append("\n")
        _append_body(text, memory)
        for facts in (_fields(memory), self._triggers(pair, now), self._linked(pair), self._index(pair)):
            text.append_text(_drawn(facts)).append("\n" if facts else "")
        return text.append(f"{safe_text.line(self.services.data.tilde(memory.path))} · {size(memory.size)}", "dim")

    def _origin(self, pair: Pair, now: float) -> Facts:
        from memtui.store.versions import writers

        source = writers.source(pair[0], pair[1].memory, self.reader.creations)
        origin = "" if source.kind == "unknown" else present.source(source, now)
        facts = (("verified", present.own_check(pair[1].check)), *rules.facts(pair[1], now), ("origin", origin))
        return [(label, Text(safe_text.line(words, 300))) for label, words in facts if words]

    def _triggers(self, pair: Pair, now: float) -> Facts:
        from memtui.store import triggers

        (scope, row), root = pair, self.services.data.root
        lines = [
            Text(safe_text.line(trigger.text, 300)).append(f"  {present.trigger_origin(trigger, now)}", "dim")
            for trigger in triggers.of_memory(root, scope.directory, row.file, row.memory)
        ]
        prompts = triggers.muted_prompts(root, scope.directory, row.file)
        muted = [Text(f"“{safe_text.line(prompt.text, 300)}”") for prompt in prompts]
        facts = (("triggers", lines), ("muted for", muted))
        return [("" if number else label, line) for label, part in facts for number, line in enumerate(part)]

    def links(self, pair: Pair) -> list[tuple[str, str]]:
        """Return (path, words) of the memories that one links to, then of those that link to it."""
        scope, row = pair
        if scope.label not in self._links:
            memories = [row.memory for row in self.reader.rows.get(scope.label, [])]
            targets = LinkTargets(memories)
            links = ((source, targets.of(name, source.path)) for source in memories for name in source.links)
            self._links[scope.label] = [(source, to) for source, to in links if to is not None]
        pairs, path = self._links[scope.label], row.memory.path
        ends = [(to.path, f"→ {to.name}") for source, to in pairs if source.path == path]
        ends += [(source.path, f"← {source.name}") for source, to in pairs if to.path == path]
        return [(end, safe_text.line(words, 80)) for end, words in dict.fromkeys(ends) if end != path]

    def _linked(self, pair: Pair) -> Facts:
        links = self.links(pair)  # of a broken one a line above says that it is
        return [("links", Text("".join(f"{words}  " for _, words in links), "cyan"))] if links else []

    def _index(self, pair: Pair) -> Facts:
        scope, row = pair
        state = self.reader.indexes.get(scope.label)
        if state is None:
            return []
        if not state.index.raw:
            return [("index", Text(f"{safe_text.line(self.reader.name_of(scope), 80)} has no MEMORY.md", "dim"))]
        entry = next((other for other in state.index.entries if other.is_for(row.file)), None)
        if entry is None:
            words = [RECALL_ONLY if row.file in state.recall_only else MEANINGS["N"]]
        else:
            cut, hook = state.budget.cut_line, entry.hook or entry.title
            words = [f"line {entry.line} of MEMORY.md"]
            words += [f"the cut is at {cut}"] if cut is not None and entry.line >= cut else []
            words += [f"“{hook}”"] if hook != row.memory.description else []
        return [("index", Text(safe_text.line(" · ".join(words), 300), "dim"))]

    def _way_of(self, scope: Scope) -> str:
        """Return how Claude Code brings the memories of a scope that memtui does not deliver."""
        if scope.kind != "auto":
            return applied_settings.LOADED
        if self._way is None:
            self._way = applied_settings.way(self.services.data.env, self.services.data.cwd)
        return self._way

    def _deliveries(self, pair: Pair, now: float) -> Text:
        scope, row = pair
        uses = f" · used {row.used}×" if row.used else ""
        if scope.kind == "model":
            return Text("delivered to sessions, where the setting subconscious is full\n")
        if not row.deliveries:
            way = "never delivered" if row.never_delivered(scope) else BY_CLIENT[self._way_of(scope)]
            return Text(f"{way}{uses}\n")
        words = Text.assemble(f"{row.deliveries}×, last ", last(scope, row, self.reader.outcomes, now, ago), uses)
        return _drawn([("delivered", words), *([("", Text(recalls(row.recalls)))] if row.recalls else [])])


def _drawn(facts: Facts) -> Text:
    text = Text()
    for label, words in facts:
        text.append(f"{label:<{LABEL}}", "dim").append_text(words).append("\n")
    return text


def flag_lines(row: Row) -> Text:
    """Return a line for each finding about a memory, with a key to press instead of a command to run."""
    text = Text()
    for flag in row.flags:
        mark, style = ("!", colours.PROBLEM) if flag.level == PROBLEM else ("·", "dim")
        words = findings.flag(flag, keymap.keyed("{memories.follow} goes to it in the Inbox"))
        text.append(f"{mark} {safe_text.line(words, 300)}\n", style)
    return text


def glance_text(row: Row) -> Text:
    """Return a preview of a memory: problems, description, body."""
    text, whole = flag_lines(row).append_text(_description(row.memory, "dim")), _readable_text(row.memory)
    text.append_text(prose.render(whole[:MAX_BODY].strip("\n")))
    return text.append("\n…" if len(whole) > MAX_BODY else "", "dim")


def drafts_text(plan: "ImportPlan") -> Text:
    """Return the drafts that an import would bring, and what it leaves out."""
    from memtui.views import drafts

    text = Text("\n".join(drafts.imported(plan, is_done=False)) + "\n" * (2 if plan.drafts else 1))
    for line in plan.drafts:
        text.append(f"  + {safe_text.line(f'{line.scope}:{line.name}')}", style="bold")
        text.append(f"  {safe_text.line(line.incoming.description)}\n")
    if left_out := drafts.skipped(plan.found.skipped):
        text.append("\nLeft out:\n", style="bold")
        text.append("".join(f"  {line}\n" for line in left_out), style="dim")
    return text


def _readable_text(memory: Memory) -> str:
    return memory.body if memory.has_frontmatter or not memory.broken else memory.raw.decode("utf-8", "replace")


def _description(memory: Memory, style: str = "") -> Text:
    """Return the line with a memory's description; empty if its text begins with the same words."""
    words = safe_text.line(memory.description, 400)
    begin = " ".join(_readable_text(memory)[: 2 * len(words) + 20].split()).lstrip("# ")
    plain, begin = (folded.translate(MARKUP).casefold() for folded in (words.rstrip("."), begin))
    return prose.inline(f"{words}\n" if words and not begin.startswith(plain) else "", style)


def _append_body(text: Text, memory: Memory) -> None:
    whole = _readable_text(memory)
    cut = whole[:MAX_BODY].strip("\n")
    text.append_text(prose.render(cut))
    if len(whole) > MAX_BODY:
        key = keymap.key_of("memories.editor")
        text.append(f"\n… {len(whole) - MAX_BODY:,} more characters: {key} opens the whole file", "dim")
    text.append("\n\n" if cut.strip() else "(no text)\n\n", "dim")


def _fields(memory: Memory) -> Facts:
    return [
        (safe_text.line(path, 40) + " ", Text(safe_text.line(value, 300)))
        for path, value in flat(memory.fields)
        if (key := path.rpartition(".")[2]) not in SHOWN_ELSEWHERE and (key, value) != ("node_type", "memory")
    ]


# in recall


def recall_head(candidate: RecallCandidate, run: RecallRun, where: str, now: float) -> Text:
    """Return what a memory is, and whether it would be delivered. `where`: the name of its scope."""
    mark, style, outcome = recall.outcome(candidate.outcome)
    text = Text().append(f"{mark} {outcome}", style=style)
    line = f", {share(run.threshold)} needed" if candidate.outcome == "unlikely" else ""
    text.append(f": {recall.likely(candidate, run)} likely to help{line}\n", style="dim")
    facts = [f"{candidate.type or 'untyped'} in {where}"]
    facts += [f"written {ago(candidate.stamp, now)}"] if candidate.stamp else []
    facts += ["pinned"] if candidate.pinned else []
    text.append(safe_text.line(" · ".join(facts), 200) + "\n", style="dim")
    return text.append(safe_text.line(candidate.description, 400) + "\n" if candidate.description else "")


def append_reasons(text: Text, candidate: RecallCandidate) -> None:
    """Append why a memory would be delivered or not, and what the model would get."""
    text.append("\nWords that matched\n" if candidate.terms or candidate.trigger else "", style="bold")
    for field, terms in recall.by_field(candidate):
        matched = ", ".join(safe_text.line(term, 40) for term in terms[:TERMS])
        more = f" and {len(terms) - TERMS} more" if len(terms) > TERMS else ""
        text.append(f"  {field:<11}  ", style="dim").append(matched).append(f"{more}\n", style="dim")
    if candidate.trigger:
        text.append("  its trigger  ", style="dim").append(f"“{safe_text.line(candidate.trigger, 300)}”\n")
    if candidate.shifts:
        shifts = " · ".join(recall.shift(*shift) for shift in candidate.shifts)
        text.append("\nAlso counted  ", style="bold").append(safe_text.line(shifts, 300) + "\n")
    _append_exact(text, "What the model would get" + ", were it delivered" * (not candidate.delivered), candidate)


def _append_exact(text: Text, title: str, result: RecallCandidate | RecallRun) -> None:
    if result.text:
        text.append(f"\n{title}", style="bold").append(f"  {recall.amount(result)}\n", style="dim")
        for line in safe_text.clean(result.text).rstrip("\n").split("\n"):
            text.append("│ ", style="dim").append(line + "\n")


def rule_text(run: RecallRun) -> Text:
    """Return the detail of the rule: what the prompt would bring to a new session, and by which of its words."""
    title = "All that the prompt would bring" if run.delivered else recall.nearest(run) or recall.headline(run)
    text = Text().append(f"{safe_text.line(title)}\n", style="bold")
    facts = [recall.others(run), f"{many(run.memories, 'memory', 'memories')} searched", recall.took(run)]
    text.append(safe_text.line(" · ".join(facts), 300) + "\n", style="dim")
    text.append("\nThe words that counted\n", style="bold")
    counted = run.words.strip()
    text.append(cut(safe_text.clean(counted or "none"), PROMPT_SHOWN) + "\n", style="" if counted else "dim")
    _append_exact(text, "What the model would get", run)
    return text
