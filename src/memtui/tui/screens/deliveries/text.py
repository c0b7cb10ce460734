"""A delivery as the detail pane shows it: the receipt, why each item was chosen, what was left out, the very text."""

import time

from rich.text import Text

from memtui import actions
from memtui.core.base.phrasing import ago, many
from memtui.core.deliveries import blocks as delivery_blocks
from memtui.core.deliveries import receipts
from memtui.core.deliveries.reading import Told
from memtui.core.deliveries.record import GLYPHS, MEANINGS, Record, is_folded, items_of, session_words, text_of
from memtui.present import safe_text

EVENTS = {
    "SessionStart": "start",
    "UserPromptSubmit": "prompt",
    "PreToolUse": "tool",
    "PostToolUse": "use",
    "PreCompact": "compact",
    "Stop": "stop",
    "SessionEnd": "end",
}
NAMES_SHOWN = 12
GONE = "This record is not in the log any more."
FOLDED = "Text removed: it is old (texts_days in the settings)"
# A few lines of what was injected, where there is no room for more.
GLANCED = 2000
CAME_BACK = "Guidance that did not arrive goes back to its inbox."
LOST = {receipts.PREVIEWED, *receipts.LOST}


def delivery_text(row: Told, record: Record | None, outcome: str, title: str, now: float) -> Text:
    """All that is to be said of a delivery. `title` is what its session is about."""
    text = Text()
    if record is None:
        text.append(GONE + "\n", style="bold")
        text.append(actions.keyed("{app.refresh} reads the log again."), style="dim")
        return text
    _head(text, row, record, title, now)
    _receipt(text, record, outcome)
    items = items_of(record)
    _given(text, [item for item in items if not item.get("left_out")])
    _left_out(text, [item for item in items if item.get("left_out")])
    injected = text_of(record, "text")
    if injected:
        units = f"{delivery_blocks.units(injected):,} characters"
        text.append(f"\nThe exact text  {units}\n", style="bold")
        text.append(safe_text.clean(injected[: safe_text.MAX_LINE * 20]))
    elif is_folded(record):
        text.append(f"\n{FOLDED}, {row.chars:,} characters\n", style="dim")
    return text


def delivery_glance(row: Told, record: Record | None, outcome: str, title: str) -> tuple[Text, Text]:
    """The beginning of what was injected, without our tags; and whether it arrived, and where."""
    injected = text_of(record or {}, "text")
    lines = [line for line in injected[:GLANCED].split("\n") if not line.startswith(("<memtui-", "</memtui-"))]
    nothing = FOLDED if is_folded(record or {}) else "A record without a text."
    words = safe_text.clean("\n".join(lines)) or nothing if record else GONE
    glyph, style = GLYPHS.get(outcome, ("…", "dim"))
    end = Text().append(f"{glyph} {outcome or 'looking for its receipt'}", style)
    who = session_words(record or {"session_id": row.session})
    end.append(safe_text.line(f"  {who}" + (f" “{title}”" if title else ""), 120), "dim")
    return Text(words, "" if injected else "dim"), end


def _head(text: Text, row: Told, record: Record, title: str, now: float) -> None:
    tool = f" {text_of(record, 'tool')}" if record.get("tool") else ""
    text.append(safe_text.line(f"{row.event}{tool}", 200), style="bold")
    clock_time = time.strftime("%a %d %b %Y %H:%M:%S", time.localtime(row.time)) if row.time else "no time"
    text.append(f"  {ago(row.time or None, now)}, {clock_time}\n", style="dim")
    words = session_words(record)
    if title:
        words += f" “{safe_text.line(title, 60)}”"
    text.append(safe_text.line(f"{words}  {row.project}", 300) + "\n", style="dim")
    facts = [f"{row.chars:,} characters", f"{row.ms:g} ms" if row.ms is not None else "", text_of(record, "mode")]
    if record.get("agent"):
        facts.append(f"agent {text_of(record, 'agent')}")
    if record.get("agent_id"):
        facts.append(f"subagent {text_of(record, 'agent_id')}")
    text.append(safe_text.line(" · ".join(each for each in facts if each), 300) + "\n", style="dim")
    text.append(f"delivery {safe_text.line(row.id, 60)}\n", style="dim")


def _receipt(text: Text, record: Record, outcome: str) -> None:
    if not outcome:
        text.append("\n… looking for its receipt\n", style="dim")
        return
    glyph, style = GLYPHS[outcome]
    text.append(f"\n{glyph} {outcome}", style=f"bold {style}")
    text.append(f"  {MEANINGS[outcome]}\n")
    if outcome in LOST and any(item.get("kind") == "guidance" for item in items_of(record)):
        text.append(CAME_BACK + "\n", style="dim")
    if record.get("recovered"):
        text.append("A worker found it: the hook had died before it could log.\n", style="dim")


def _score(item: Record) -> str:
    """` .82` of an item that was scored; its parts, where the record names them."""
    score = item.get("score")
    words = [f"{score:.2f}".lstrip("0")] if isinstance(score, (int, float)) else []
    parts = item.get("scores")
    if isinstance(parts, dict):
        words += [f"{key} {value:.2f}" for key, value in parts.items() if isinstance(value, (int, float))]
    return " ".join(words)


def _given(text: Text, items: list[Record]) -> None:
    """Items chosen for the same reason on one line, unless each has a score of its own."""
    if not items:
        return
    text.append(f"\nWhy  {many(len(items), 'item')}\n", style="bold")
    groups: dict[tuple[str, str, str], list[Record]] = {}
    for item in items:
        key = (str(item.get("kind", "?")), str(item.get("action") or item.get("reason") or ""), str(item.get("scope")))
        if _score(item):
            key = (*key[:2], str(item.get("id")))
        groups.setdefault(key, []).append(item)
    for (kind, reason, _), group in groups.items():
        count = f"{len(group)} " if len(group) > 1 else ""
        text.append(safe_text.line(f"{count}{kind}", 80))
        scope = str(group[0].get("scope") or "")
        text.append(safe_text.line(f"  {scope}" if scope else "", 80), style="dim")
        text.append(safe_text.line(f"  {reason}" if reason else "", 300))
        text.append(f"  {_score(group[0])}\n" if _score(group[0]) else "\n", style="bold")
        names = [safe_text.line(str(item.get("id", "?")), 80) for item in group[:NAMES_SHOWN]]
        more = len(group) - len(names)
        text.append("  " + ", ".join(names) + (f" and {more} more" if more else "") + "\n", style="dim")


def _left_out(text: Text, items: list[Record]) -> None:
    if not items:
        return
    total = sum(count if isinstance(count := item.get("count"), int) else 1 for item in items)
    text.append(f"\nLeft out  {total}\n", style="bold")
    for item in items[:40]:
        count = item.get("count")
        what = f"{count} {item.get('kind')}" if isinstance(count, int) else f"{item.get('kind')} {item.get('id', '')}"
        text.append(safe_text.line(f"{what}  {item.get('scope') or ''}", 200).rstrip())
        text.append(safe_text.line(f"  {item.get('left_out')}", 300) + "\n", style="yellow")
    if len(items) > 40:
        text.append(f"and {len(items) - 40} more\n", style="dim")
