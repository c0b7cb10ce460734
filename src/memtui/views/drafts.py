"""Words for what waits in an inbox, in both front doors: titles, what was decided, what drafts come from."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from memtui.base import clock, findings
from memtui.base.dates import day, day_and_time
from memtui.base.phrasing import cut, many, share
from memtui.inbox import delivery_problems
from memtui.inbox import format as inbox_format
from memtui.review.evidence import Evidence, LikeRefused
from memtui.review.waiting_entries import Waiting
from memtui.settings import config
from memtui.views import safe_text

SIMILAR_SHOWN = 3  # similar memories beside a draft
LIKELY = 0.5  # from this likelihood on a draft is called likely to last
TITLE_SHOWN = 50  # characters of a title
REFUSED_SHOWN = 80  # characters of a rejected draft
HIT_SHOWN, AROUND_SHOWN = 900, 300  # characters of a quote: one that the draft comes from, one around it

# The drafts that are made of a refused write (worker/gate_drafts.py).
WRITES = {"write": "Claude wants to write it", "rewrite": "Claude wants to change it"}


def title(item: Waiting, limit: int = TITLE_SHOWN) -> str:
    """Return the first line of an entry, cut between two words after at most `limit` characters."""
    return cut(safe_text.line(" ".join(item.text.strip().partition("\n")[0].split())), limit)


def kind(item: Waiting) -> str:
    """Say what kind of draft an entry is: what Claude wanted to write, what the person said, or its import."""
    source = item.entry.fields.get("source", "")
    if item.entry.fields.get("kind") == inbox_format.IMPORTED and source:
        return f"imported from {source}"
    name = item.entry.fields.get("kind", "draft")
    return WRITES.get(name, name)


def odds(sure: float | None, lasting: float | None, said: int) -> list[str]:
    """Say how sure a draft is, whether it will last, how often it was said: `96% sure`, `likely to last`."""
    words = [f"{sure:.0%} sure"] if sure is not None else []
    words += [lasts(lasting)] if lasting is not None else []
    times = "said once" if said == 1 else "said twice" if said == 2 else f"said {said} times"
    return [*words, times] if words or said > 1 else []


def odds_of(item: Waiting) -> list[str]:
    """Return the same of a draft that waits."""
    return odds(item.entry.fraction("confidence"), item.entry.fraction("durable"), item.entry.count("seen", 1))


def lasts(lasting: float) -> str:
    """Say whether a draft will last, for the likelihood of that."""
    if lasting >= LIKELY:
        return "likely to last"
    return "may last" if lasting >= inbox_format.LASTING else "unlikely to last"


def by_model(fields: Mapping[str, str]) -> str:
    """Return that a model wrote a draft, if one did."""
    return "written by a model" if fields.get("by") == "model" else ""


def states(settings: dict[str, object], item: Waiting, now: float) -> list[str]:
    """Say why an entry is not delivered, or what is decided about a todo (kept, done)."""
    entry, days = item.entry, config.number(settings, "drafts_days")
    if item.kind == "guidance":
        reports = delivery_problems.findings(entry, item.directory, now, config.number(settings, "budget"))
        return [flag for finding in reports if (flag := findings.flag(finding))]
    if item.kind == "items":
        state = entry.fields.get("state")
        return [state] if state in {"kept", "done"} else []
    if not entry.snoozed(now) and (entry.time() or now) < now - days * clock.DAY:
        return [f"older than {days} days, not delivered"]
    return [] if entry.one_off() or entry.for_sessions() else ["no session gets it before you approve it"]


def named(items: Sequence[Waiting]) -> str:
    """Name entries: `“use uv for tools”`, `3 drafts`, `2 drafts and 1 todo`."""
    if len(items) == 1:
        return f"“{title(items[0])}”"
    kinds = [item.kind for item in items]
    counts = ((kinds.count("updates"), "draft"), (kinds.count("items"), "todo"), (kinds.count("guidance"), "note"))
    return " and ".join(many(count, word) for count, word in counts if count)


def put_off(what: str, until: float | None, now: float) -> str:
    """Say that something, nameless if empty, is hidden or back (None): `3 fixes: later, until Fri 27 Nov.`"""
    words = "back in the inbox" if until is None else f"later, until {day_and_time(until, now)}"
    return f"{what}: {words}." if what else f"{words[:1].upper()}{words[1:]}."


def waiting(untils: Sequence[float], now: float) -> str:
    """Say how many drafts are hidden, and until when at least."""
    return f"{len(untils)} for later, {'until' if len(untils) == 1 else 'the first until'} {day(min(untils), now)}"


def one_offs(count: int) -> str:
    """Say how many drafts are folded: `3 probably one-offs`."""
    return f"{count} probably {'a one-off' if count == 1 else 'one-offs'}"


def added(count: int) -> str:
    """Say that drafts are in the inbox now: `Added 2 drafts`."""
    return f"Added {many(count, 'draft')}"


def like_refused(refusal: LikeRefused, now: float) -> str:
    """Say that a draft is like a rejected one: `like a draft that you rejected on Thu 12 Nov (.87): “Use npm”`."""
    moment = day(refusal.draft.time, now) if refusal.draft.time is not None else ""
    when = f"{' at' if ':' in moment else ' on'} {moment}" if moment else ""
    words = cut(safe_text.line(refusal.draft.description), REFUSED_SHOWN)
    good = " for good" if refusal.draft.never else ""
    return f"like a draft that you rejected{good}{when} ({share(refusal.score)}): “{words}”"


class Quote(NamedTuple):
    """Words from a conversation, cut to what is shown; `hit` if the draft comes from them."""

    who: str
    text: str
    hit: bool


def setting(evidence: Evidence) -> list[Quote]:
    """Quote the transcript around a draft."""
    quotes = []
    for reason in evidence.said:
        limit = HIT_SHOWN if reason.hit else AROUND_SHOWN
        words = cut(reason.text, limit)
        quotes.append(Quote(reason.who, " ".join(words.split()) if reason.who == "tool" else words, reason.hit))
    return quotes


def quoted(item: Waiting) -> list[Quote]:
    """Quote the evidence that the draft itself holds, for where the transcript is gone."""
    return [Quote(who, words, hit=True) for who, _, words in (line[2:].partition(": ") for line in item.evidence)]
