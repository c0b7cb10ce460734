"""The reasons why an entry of an inbox is not delivered, as findings and in words."""

from memtui.core.base import clock
from memtui.core.base.finding import Finding, note
from memtui.core.base.short_ids import short_id
from memtui.core.health import findings
from memtui.core.inbox import undelivered
from memtui.core.review.waiting import Waiting
from memtui.core.settings import config


def findings_of(settings: dict[str, object], item: Waiting, now: float) -> list[Finding]:
    """Return the findings that keep an entry from being delivered."""
    if item.kind == "guidance":
        found = undelivered.findings(item.entry, item.directory, now, config.number(settings, "budget"))
        return [each for each in found if findings.flag(each)]
    days = config.number(settings, "updates_days")
    if item.kind == "updates" and not item.entry.snoozed(now) and (item.entry.time() or now) < now - days * clock.DAY:
        return [note("inbox.old", id=short_id(item.id), days=days)]
    if item.kind == "updates" and not item.entry.one_off() and not item.entry.for_sessions():
        return [note("inbox.unlikely", id=short_id(item.id))]
    return []


def words(settings: dict[str, object], item: Waiting, now: float) -> list[str]:
    """Return the reasons why an entry is not delivered, or an item's state (kept, done)."""
    state = item.entry.fields.get("state")
    if item.kind == "items" and state in {"kept", "done"}:
        return [state]
    return [findings.flag(each) for each in findings_of(settings, item, now)]
