"""A memory as the detail pane shows it: fields, findings, text, links, deliveries."""

from rich.text import Text

from memtui.core import clock
from memtui.core.scopes import Scope
from memtui.core.survey import Row
from memtui.core.words import age, size
from memtui.tui import safe


def memory_text(scope: Scope, row: Row, backlinks: list[str], now: float) -> Text:
    """All that is to be said of a memory."""
    found = row.memory
    text = Text()
    text.append(safe.line(found.name) + "\n", style="bold")
    if found.description:
        text.append(safe.line(found.description) + "\n")
    facts = [found.type or "untyped", scope.label, size(found.size), f"changed {age(found.changed_at, now)} ago"]
    text.append(safe.line(" · ".join(facts)) + "\n", style="dim")
    if found.origin_session:
        text.append(f"born in session {safe.line(found.origin_session[:8])}\n", style="dim")
    for flag in row.flags:
        text.append(f"! {safe.line(flag)}\n", style="yellow")
    text.append("\n")
    text.append(
        safe.clean(found.body if found.has_frontmatter or not found.broken else found.raw.decode("utf-8", "replace"))
    )
    text.append("\n\n")
    if found.links:
        text.append("links  → " + ", ".join(safe.line(name) for name in found.links) + "\n", style="dim")
    if backlinks:
        text.append("linked ← " + ", ".join(safe.line(name) for name in backlinks) + "\n", style="dim")
    last = age(clock.parse(row.last_delivery), now) if row.last_delivery else ""
    sent = f"delivered {row.deliveries}×, last {last} ago" if row.deliveries else "never delivered"
    text.append(sent + (f" · used {row.uses}×" if row.uses else "") + "\n", style="dim")
    text.append(safe.line(found.path), style="dim")
    return text
