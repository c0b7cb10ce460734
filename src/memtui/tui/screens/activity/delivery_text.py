"""The detail of a delivery: its receipt, why each item was chosen, what was left out, the exact text, internals."""

import time
from collections.abc import Callable

from rich.text import Text

from memtui import actions
from memtui.core.base.phrasing import ago
from memtui.core.base.short_ids import short_id
from memtui.core.deliveries import blocks as delivery_blocks
from memtui.core.deliveries import receipts
from memtui.core.deliveries.memory_counts import RecallCounts
from memtui.core.deliveries.record import RECALL, Delivery, Item, titles
from memtui.present import deliveries as present
from memtui.present import safe_text
from memtui.present.deliveries import EVENTS, GLYPHS, MEANINGS, counted, session_words

# The kinds of items that commands take by an id.
WITH_ID = ("guidance", "pending-update", "pending-item")
NAMES_SHOWN, LEFT_OUT_SHOWN = 12, 40
GONE = "This record is no longer in the log."
FOLDED = "Text removed: it is old (keep_days in the settings)"
# Characters of the text that are shown below the list on a narrow screen.
GLANCE_LENGTH = 2000
CAME_BACK = "A note that does not arrive waits again, on top of the list."
# The words for outcomes that differ from those of the log.
STATES = {receipts.WAITING: "on its way", "": "looking for its receipt"}
NOT_ARRIVED = {receipts.PREVIEWED, *receipts.LOST}


def delivery_text(
    found: Delivery | None,
    outcome: str,
    title: str,
    project: str,
    now: float,
    recalls: Callable[[Item], RecallCounts] = lambda _: RecallCounts(),
) -> Text:
    """Return the detail of a delivery; None: it is not in the log any more. `title`: what its session is about;
    `project`: the project's name; `recalls`: what came so far of recalling an item's memory."""
    text = Text()
    if found is None:
        text.append(GONE + "\n", style="bold")
        text.append(actions.keyed("{app.refresh} reads the log again."), style="dim")
        return text
    _head(text, found, outcome, now)
    _delivered(text, found, recalls)
    _left_out(text, [item for item in found.items if item.left_out])
    if found.text:
        units = f"{delivery_blocks.units(found.text):,} characters"
        text.append(f"\nThe exact text  {units}\n", style="bold")
        text.append(safe_text.clean(found.text[: safe_text.MAX_LINE * 20]).rstrip("\n") + "\n")
    elif found.folded:
        text.append(f"\n{FOLDED}, {found.chars:,} characters\n", style="dim")
    _internals(text, found, title, project)
    return text


def delivery_glance(found: Delivery | None, outcome: str, title: str) -> tuple[Text, Text]:
    """Return the beginning of the delivered text, without memtui's own tags and introductions; and whether it arrived,
    and where."""
    if found is None:
        return Text(GONE, "dim"), Text()
    words = safe_text.clean(_without_tags(found.text[:GLANCE_LENGTH])) or (
        FOLDED if found.folded else "A record without a text."
    )
    glyph, style = GLYPHS.get(outcome, ("…", "dim"))
    end = Text().append(f"{glyph} {STATES.get(outcome, outcome)}", style)
    who = session_words(found.session, found.entrypoint)
    end.append(safe_text.line(f"  {who}" + (f" “{title}”" if title else ""), 120), "dim")
    return Text(words, "" if found.text else "dim"), end


def _without_tags(text: str) -> str:
    lines: list[str] = []
    for block in text.split("<memtui-"):
        content = block.partition(">\n")[2].partition("</memtui-")[0].rstrip("\n").split("\n")
        lines += content[1:] or content  # the first line introduces the others
    return "\n".join(lines)


def _head(text: Text, found: Delivery, outcome: str, now: float) -> None:
    word = safe_text.line(f"{EVENTS.get(found.event, found.event)} {found.tool}".rstrip(), 200)
    glyph, style = GLYPHS.get(outcome, ("…", "dim"))
    text.append(f"{word} · ", style="bold")
    text.append(f"{glyph} {STATES.get(outcome, outcome)}", style=f"bold {style}")
    text.append(f"  {ago(found.time or None, now)}\n", style="dim")
    text.append(f"{MEANINGS[outcome]}\n" if outcome else "")
    if outcome in NOT_ARRIVED and any(item.kind == "guidance" for item in found.items):
        text.append(CAME_BACK + "\n", style="dim")
    if found.recovered:
        text.append("A worker found it: the hook had died before it could log.\n", style="dim")


def _internals(text: Text, found: Delivery, title: str, project: str) -> None:
    """Append what is seldom wanted: session, project, time, event, cost and ids."""
    words = session_words(found.session, found.entrypoint)
    if title:
        words += f" “{safe_text.line(title, 60)}”"
    clock_time = time.strftime("%a %d %b %Y %H:%M:%S", time.localtime(found.time)) if found.time else "no time"
    cost = [f"{found.chars:,} characters", f"{found.ms:g} ms" if found.ms is not None else "", found.mode]
    who = [f"agent {found.agent}" if found.agent else "", f"subagent {found.agent_id}" if found.agent_id else ""]
    lines = (
        [words, project],
        [clock_time, found.event, *who],
        [*cost, f"delivery {short_id(found.id)}"],
    )
    text.append("\n")
    for line in lines:
        text.append(safe_text.line(" · ".join(filter(None, line)), 300) + "\n", style="dim")


def _score(item: Item) -> str:
    """Write the score of an item, such as `.82`, or its parts by name, where the record has them."""
    return " ".join(f"{key} {value:.2f}" if key else f"{value:.2f}".lstrip("0") for key, value in item.scores)


def _delivered(text: Text, found: Delivery, recalls: Callable[[Item], RecallCounts]) -> None:
    """Append why the items were delivered, each by its title. Those with the same reason share a line, unless they have
    scores."""
    items = [item for item in found.items if not item.left_out]
    if not items:
        return
    text.append("\nWhat it brought, and why\n", style="bold")
    groups: dict[tuple[str, str, str], list[tuple[Item, str]]] = {}
    for item, title in zip(items, titles(found.text, items), strict=True):
        why = "" if present.reason(item.reason) == present.INDEX_LINE else item.reason  # its kind says that
        alone = item.scores or item.kind == RECALL
        key = (item.kind, item.action or why, item.path or item.id if alone else item.scope)
        groups.setdefault(key, []).append((item, title))
    for (kind, reason, _), group in groups.items():
        first = group[0][0]
        text.append(safe_text.line(counted(kind, len(group)), 80))
        text.append(safe_text.line(f"  {first.scope}" if first.scope else "", 80), style="dim")
        text.append(safe_text.line(f"  {reason}" if reason else "", 300))
        text.append(f"  {_score(first)}\n" if first.scores else "\n", style="bold")
        if kind in WITH_ID:
            for item, title in group[:NAMES_SHOWN]:
                text.append(safe_text.line(f"  {title}" if title else "  text removed", 300), "" if title else "dim")
                text.append(safe_text.line(f"  {short_id(item.id)}", 20) + "\n", style="dim")
        else:
            text.append("  " + ", ".join(safe_text.line(title or "?", 80) for _, title in group[:NAMES_SHOWN]))
        if kind == RECALL and (came := present.recalls(recalls(first))):
            text.append(f"  {came}", style="dim")
        more = len(group) - NAMES_SHOWN
        text.append(f"  and {more} more\n" if more > 0 else "" if kind in WITH_ID else "\n", style="dim")


def _left_out(text: Text, items: list[Item]) -> None:
    if not items:
        return
    total = sum(1 if item.count is None else item.count for item in items)
    text.append(f"\nLeft out  {total}\n", style="bold")
    for item in items[:LEFT_OUT_SHOWN]:
        name = short_id(item.id) if item.kind in WITH_ID else item.id
        what = counted(item.kind, 1 if item.count is None else item.count) + (f" {name}" if item.count is None else "")
        text.append(safe_text.line(f"{what}  {item.scope}", 200).rstrip())
        text.append(safe_text.line(f"  {item.left_out}", 300) + "\n", style="yellow")
    if len(items) > LEFT_OUT_SHOWN:
        text.append(f"and {len(items) - LEFT_OUT_SHOWN} more\n", style="dim")
