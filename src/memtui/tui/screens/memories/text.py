"""The text of the detail pane: a memory's fields, findings, body, links, index line, deliveries and origin."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from rich.text import Text

from memtui import actions
from memtui.core.base import clock
from memtui.core.base.finding import PROBLEM, Finding
from memtui.core.base.phrasing import age, size
from memtui.core.health import findings
from memtui.core.memories.links import shown
from memtui.core.memories.memory import flat
from memtui.core.memories.scopes import Scope
from memtui.core.memories.status import BY_CLIENT, MEANINGS, Row
from memtui.core.places import loading
from memtui.present import colours, safe_text
from memtui.present.deliveries import EVENTS, GLYPHS, reason, recalls
from memtui.present.memories import TYPE_STYLES
from memtui.present.triggers import origin as origin_words
from memtui.tui.screens.memories.meters import Meter, both
from memtui.tui.widgets import markdown
from memtui.tui.widgets.gauges import gauge

if TYPE_CHECKING:
    from memtui.core.memories.memory import Memory
    from memtui.core.memories.triggers import Trigger

# Characters of a body that are drawn; the editor opens all of it.
MAX_BODY = 20_000
MAX_PREVIEW = 2000
BAR = 8
LABEL = 10
# Fields that the list of other fields leaves out: shown elsewhere, or of no use to a person.
SHOWN_ELSEWHERE = {"name", "description", "title", "type", "originSessionId", "modified", "updated", "triggers"}


@dataclass
class MemoryFacts:
    """What the detail shows beside the memory itself. `where`: the name of its scope; `back`: memories that link to it;
    `missing`: links that lead nowhere; `outcomes`: by delivery id; `draft`: words about an autosave; `source`: words
    about where the memory comes from; `triggers`: the lines by which it is found; `way`: how Claude Code brings it, if
    memtui does not."""

    where: str
    back: Sequence[str] = ()
    missing: Sequence[str] = ()
    meter: Meter | None = None
    outcomes: Mapping[str, str] = field(default_factory=dict)
    draft: str = ""
    source: str = ""
    triggers: "Sequence[Trigger]" = ()
    way: str = loading.LOADED


def memory_text(scope: Scope, row: Row, facts: MemoryFacts, now: float) -> Text:
    """Return the whole text about a memory."""
    found = row.memory
    text = Text()
    text.append(safe_text.line(found.name, 300) + "\n", style="bold")
    if found.description:
        text.append(safe_text.line(found.description) + "\n")
    text.append(safe_text.line(found.type or "untyped", 40), TYPE_STYLES.get(found.type, "dim"))
    words = [f" in {facts.where}", age(found.changed_at or None, now)]
    text.append(safe_text.line(" · ".join(words)) + "\n", style="dim")
    text.append("origin  ", "dim").append(safe_text.line(facts.source or "not known", 200) + "\n")
    if facts.draft:
        text.append(f"{facts.draft}\n", style="yellow")
    for flag in row.flags:
        mark, style = ("!", colours.PROBLEM) if flag.level == PROBLEM else ("·", "dim")
        text.append(f"{mark} {safe_text.line(flag_words(flag), 300)}\n", style=style)
    for note in found.notes:
        text.append(f"  {safe_text.line(note, 300)}\n", style="dim")
    text.append("\n")
    _body(text, found)
    _labelled(text, _fields(found.fields))
    _triggers(text, facts, now)
    _links(text, found.links, facts)
    _index(text, scope, row, facts)
    _deliveries(text, scope, row, facts, now)
    text.append(f"{safe_text.line(found.path)} · {size(found.size)}", style="dim")
    return text


def flag_words(flag: Finding) -> str:
    """Return a finding in words, with a key to press instead of a command to run."""
    return findings.flag(flag, actions.keyed("{memories.trust} trusts it"))


def glance_text(found: "Memory", most: int = MAX_PREVIEW) -> Text:
    """Return a preview of a memory: name, description, and at most `most` characters of its body."""
    text = Text("\n")
    text.append("── ", "dim").append(safe_text.line(found.name, 200), "bold").append("\n")
    if found.description:
        text.append(safe_text.line(found.description, 400) + "\n", "dim")
    whole = _readable_text(found)
    text.append_text(markdown.render(whole[:most].strip("\n")))
    if len(whole) > most:
        text.append("\n…", "dim")
    return text


def _readable_text(found: "Memory") -> str:
    """Return a memory's body; the whole file if its frontmatter can't be read."""
    return found.body if found.has_frontmatter or not found.broken else found.raw.decode("utf-8", "replace")


def _body(text: Text, found: "Memory") -> None:
    whole = _readable_text(found)
    shown = whole[:MAX_BODY].strip("\n")
    text.append_text(markdown.render(shown))
    if len(whole) > MAX_BODY:
        text.append(
            f"\n… {len(whole) - MAX_BODY:,} more characters: {actions.key_of('memories.editor')} opens the whole file",
            style="dim",
        )
    text.append("\n\n" if shown.strip() else "(no text)\n\n", style="dim")


def _label(text: Text, word: str) -> None:
    text.append(f"{word:<{LABEL}}", style="dim")


def _labelled(text: Text, rows: Sequence[tuple[str, str]]) -> None:
    for key, value in rows:
        _label(text, safe_text.line(key, 40) + " ")
        text.append(safe_text.line(value, 300) + "\n")
    if rows:
        text.append("\n")


def _fields(fields: Mapping[str, object]) -> list[tuple[str, str]]:
    """Return the fields that are not shown elsewhere, by their dotted path."""
    found = [(path, path.rpartition(".")[2], value) for path, value in flat(fields)]
    return [
        (path, value)
        for path, key, value in found
        if key not in SHOWN_ELSEWHERE and (key, value) != ("node_type", "memory")
    ]


def _triggers(text: Text, facts: MemoryFacts, now: float) -> None:
    for number, each in enumerate(facts.triggers):
        _label(text, "triggers" if not number else "")
        text.append(safe_text.line(each.text, 300)).append(f"  {origin_words(each, now)}\n", "dim")
    if facts.triggers:
        text.append("\n")


def _links(text: Text, links: Sequence[str], facts: MemoryFacts) -> None:
    if not (links or facts.back):
        return
    _label(text, "links")
    for target in links:
        gone = shown(target) in facts.missing
        text.append("→ " + safe_text.line(target, 80), "yellow" if gone else "cyan")
        text.append(" (not found)  " if gone else "  ", "dim")
    for name in facts.back:
        text.append("← " + safe_text.line(name, 80) + "  ", "cyan")
    text.append("\n\n")


def _index(text: Text, scope: Scope, row: Row, facts: MemoryFacts) -> None:
    meter = facts.meter
    if not scope.has_index:
        return
    _label(text, "index")
    if meter is None:
        text.append(f"{safe_text.line(facts.where, 80)} has no MEMORY.md\n\n", "dim")
        return
    text.append_text(gauge(meter.budget.share, BAR))
    text.append_text(both(meter.budget))
    entry = next((each for each in meter.index.entries if each.is_for(row.file)), None)
    if entry is None:
        is_kept = any(each.is_for(row.file) for each in meter.index.recall_only)
        where = "recall only: not loaded, but brought with prompts that it fits" if is_kept else MEANINGS["N"]
    else:
        cut = meter.budget.cut_line
        lost = f", the cut is at {cut}" if cut is not None and entry.line >= cut else ""
        where = f"line {entry.line}{lost}: {entry.hook or entry.title}"
    text.append("\n" + " " * LABEL + safe_text.line(where, 300) + "\n\n", "dim")


def _deliveries(text: Text, scope: Scope, row: Row, facts: MemoryFacts, now: float) -> None:
    _label(text, "delivered")
    used = f", opened or written by the agent {row.uses}×" if row.uses else ""
    if scope.kind == "model":
        text.append("to sessions, where the setting subconscious is full\n\n")
        return
    if not row.deliveries:
        never = "never" if row.never_delivered(scope) else BY_CLIENT[facts.way]
        text.append(f"{never}{used}\n\n")
        return
    text.append(f"{row.deliveries}×{used}\n")
    if row.recalls:
        text.append(" " * LABEL + recalls(row.recalls) + "\n")
    for delivery in row.newest:
        record = delivery.record
        glyph, style = GLYPHS.get(facts.outcomes.get(str(record.get("id")), ""), (" ", ""))
        text.append(f"  {age(clock.parse(record.get('time')), now):>4} ", "dim")
        text.append(glyph, style)
        event = str(record.get("event", ""))
        session = safe_text.line(str(record.get("session_id", "")), 60)[:8]
        text.append(f"  {session}  {safe_text.line(EVENTS.get(event, event), 40)}", "")
        text.append(f"  {safe_text.line(reason(str(delivery.item.get('reason', ''))), 80)}\n", "dim")
    if row.deliveries > len(row.newest):
        text.append(f"  and {row.deliveries - len(row.newest)} earlier\n", "dim")
    text.append("\n")
