"""Words for drafts and what else waits in an inbox; and for imports, which make drafts, and exports."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from memtui.base import clock_hot, findings
from memtui.base.dates import day, day_and_time
from memtui.base.phrasing_hot import ago, cut, many, some
from memtui.base.shell import shell_word
from memtui.inbox import drafts as inbox_drafts
from memtui.inbox import format_hot, undelivered
from memtui.review import approvals
from memtui.review.evidence import Evidence, evidence_of
from memtui.review.waiting_entries import Waiting
from memtui.settings import config_hot
from memtui.store import triggers
from memtui.views import colours, safe_text
from memtui.views.parts import Part, Words, heading, line
from memtui.views.rules import proposed

if TYPE_CHECKING:
    from memtui.rules.proposal_evidence import ProposedRule
    from memtui.store.memory import Memory
    from memtui.transfer.export_folder import Export
    from memtui.transfer.import_plan import ImportPlan
    from memtui.transfer.markdown import LeftOut
    from memtui.workspace import Workspace

SIMILAR_SHOWN = 3  # similar memories beside a draft
COUNT_SECONDS = 2.0  # for which past sessions are read for the rules of a draft
LIKELY = 0.5  # from this likelihood on a draft is called likely to last
TITLE_SHOWN = 50  # characters of a title
HIT_SHOWN, AROUND_SHOWN = 900, 300  # characters of a quote: one that the draft comes from, one around it

# The drafts that are made of a refused write (worker/gate_drafts.py).
WRITES = {"write": "Claude wants to write it", "rewrite": "Claude wants to change it"}


def title(item: Waiting, limit: int = TITLE_SHOWN) -> str:
    """Return the first line of an entry, or what it adds to a memory, cut after at most `limit` characters."""
    fields, words = item.entry.fields, inbox_drafts.statement(item.entry)
    if added := fields.get("adds"):
        words = f"{added} (to {fields.get('name')})"
    elif fields.get("from", "").startswith("machine:") and fields.get("name"):
        words = f"{fields['name']} {kind(item)}: {words}"
    return cut(safe_text.line(" ".join(words.split())), limit)


def kind(item: Waiting) -> str:
    """Say what kind of draft an entry is: what Claude wanted to write, what the person said, or its import."""
    source = item.entry.fields.get("source", "")
    if item.entry.fields.get("kind") == format_hot.IMPORTED and source:
        return f"imported from {source}"
    name = item.entry.fields.get("kind", "draft")
    _, is_synced, machine = item.entry.fields.get("from", "").partition("machine:")
    return f"changed on {safe_text.line(machine)}, too" if is_synced else WRITES.get(name, name)


def odds(sure: float | None, lasting: float | None, said: int) -> list[str]:
    """Say how sure a draft is, whether it will last, how often it was said: `96% sure`, `likely to last`."""
    words = [f"{sure:.0%} sure"] if sure is not None else []
    words += [lasts(lasting)] if lasting is not None else []
    times = "said once" if said == 1 else "said twice" if said == 2 else f"said {said} times"
    return [*words, times] if words or said > 1 else []


def lasts(lasting: float) -> str:
    if lasting >= LIKELY:
        return "likely to last"
    return "may last" if lasting >= format_hot.LASTING else "unlikely to last"


def states(settings: dict[str, object], item: Waiting, now: float) -> list[str]:
    """Say why an entry is not delivered, or what is decided about a todo (kept, done)."""
    entry, days = item.entry, config_hot.number(settings, "drafts_days")
    if item.kind == "guidance":
        reports = undelivered.problems(entry, item.directory, now, config_hot.number(settings, "budget"))
        return [flag for finding in reports if (flag := findings.flag(finding))]
    if item.kind == "items":
        state = entry.fields.get("state")
        return [state] if state in {"kept", "done"} else []
    if not entry.snoozed(now) and (entry.time() or now) < now - days * clock_hot.DAY:
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


def warnings(states: Sequence[str]) -> list[Part]:
    """Return what a person should know before a decision: the states of a draft."""
    return [line(f"! {sentence}", colours.WARNING, 600) for sentence in states]


def find_evidence(here: "Workspace", item: Waiting, name: str, near: "Sequence[Memory]") -> Evidence:
    """Find what was said around an entry, and what a draft with a `name` is like."""
    if not name:
        return evidence_of(here.env, item)
    from memtui.tidy import similar_memories

    evidence = evidence_of(here.env, item, similar_memories.to_draft(name, item.text, near))
    evidence.rules = approvals.proposed_rules(here.store(), item, approvals.AS_DRAFTED, COUNT_SECONDS)
    return evidence


def quoted(item: Waiting) -> list[tuple[str, str]]:
    """Return who said what of the evidence that the draft itself holds, for where the transcript is gone."""
    return [(who, words) for who, _, words in (line[2:].partition(": ") for line in item.evidence)]


def session_name(session_id: str, title: str) -> str:
    """Return a session's title, or where it has none the beginning of its id."""
    return f"“{title[:60]}”" if title else session_id[:8]


def facts(item: Waiting, evidence: Evidence | None, now: float) -> list[Part]:
    """Return what is known of a draft: how sure it is, when it was written, and where it comes from."""
    fields, until = item.entry.fields, item.until(now)
    likely = odds(item.entry.fraction("confidence"), item.entry.fraction("durable"), item.entry.count("seen", 1))
    by_model = "written by a model" if fields.get("by") == "model" else ""
    begin = ["" if until is None else f"later, until {day(until, now)}", kind(item), *likely, by_model]
    where = fields.get("project", "").rstrip("/").rpartition("/")[2]
    source = [f"from {name}" for name in (where, fields.get("machine", "")) if name]
    if fields.get("session"):
        source.append("session " + session_name(fields["session"], evidence.title if evidence else ""))
    elif not fields:
        source.append("hand-written")
    trigger = fields.get("request", "")
    if trigger:
        remark = "what it is about" if trigger in item.text else "your prompt before the correction"
        remark = triggers.LEFT_OUT if triggers.is_everywhere(trigger) else remark
        trigger = f"trigger: “{trigger}” ({remark})"
    rejected = clock_hot.parse(fields.get("rejected"))
    rejection = f"rejected on {day(rejected, now)}, and said again since" if rejected is not None else ""
    lines = [[*begin, ago(item.entry.time(), now)], [rejection], source, [trigger]]
    return [line(" · ".join(filter(None, words)), colours.QUIET, 400) for words in lines]


def checks(rules: "Sequence[ProposedRule]") -> list[Part]:
    """Return the rules that are checked once a draft is approved, each with how often past sessions broke it."""
    return [line(("rules  " if not number else " " * 7) + proposed(rule)) for number, rule in enumerate(rules)]


def todo_facts(item: Waiting, title: str, states: Sequence[str], now: float) -> Words:
    """Return where a todo comes from; `title`: of the session that left it, empty if it is not known."""
    session = item.entry.fields.get("session")
    facts = ["unfinished", *states, ago(item.entry.time(), now) if item.entry.time() else "no date"]
    facts.append(f"left by session {session_name(session, title)}" if session else "written by hand")
    return line(" · ".join(facts), colours.QUIET)


def conversation(item: Waiting, evidence: Evidence | None) -> list[Part]:
    """Return what was said around a draft, from the transcript, or else what the draft itself holds of it."""
    parts: list[Part] = []
    if evidence is not None and evidence.utterances:
        for reason in evidence.utterances:
            mark, style, text_style = ("›", "bold", "") if reason.hit else (" ", colours.QUIET, colours.QUIET)
            words = cut(reason.text, HIT_SHOWN if reason.hit else AROUND_SHOWN)
            words = " ".join(words.split()) if reason.who == "tool" else words
            parts += [Words(f"{mark} {reason.who:<6}", style), Words(indented(words), text_style)]
        return [heading("evidence"), *parts]
    for who, words in quoted(item):
        parts += [Words(f"  {safe_text.line(who):<6}", colours.QUIET), Words(indented(words))]
    problem = "looking for it in the transcript …" if evidence is None else evidence.problem
    problems = line(f"  {problem}" if problem else "", colours.QUIET)
    return [*([heading("evidence")] if item.evidence else []), *parts, problems]


def indented(words: str) -> str:
    """Indent all lines but the first by the width of the name before it. The pane indents the lines that it wraps."""
    return safe_text.clean(words).replace("\n", "\n" + " " * 8) + "\n"


# imports and exports

# Lines of each list that are shown.
LISTED = 8
FULL = "the inbox is full. Approve or reject some drafts, then import it again"


def imported(plan: "ImportPlan", *, is_done: bool) -> list[str]:
    """Say what an import brings, or brought, a line each: counts, and the first of what was left out."""
    drafts = plan.drafts
    verb = "Added" if is_done else "Would add"
    none = "None of it fits into the inbox." if plan.full else "Nothing new is in it."
    lines = [f"{verb} {many(len(drafts), 'draft')}." if drafts else none]
    if plan.secrets:
        from memtui.redact import redact

        lines.append(f"Secrets {'were' if is_done else 'are'} removed: {redact.described(plan.secrets)}.")
    if plan.known:
        secrets = [f"{left_out.where} ({left_out.why})" for left_out in plan.known]
        lines.append(f"{len(plan.known)} known already: {safe_text.line(some(secrets, 3))}.")
    if plan.decided:
        lines.append(f"{len(plan.decided)} decided on before: {safe_text.line(some(plan.decided, 3))}.")
    if plan.left:
        why = FULL if plan.full else "that is enough to review at once"
        lines.append(f"{many(len(plan.left), 'more memory', 'more memories')} left for another import: {why}.")
    return [*lines, *map(safe_text.line, plan.found.notes)]


def skipped(left_outs: "Sequence[LeftOut]") -> list[str]:
    lines = [safe_text.line(f"{left_out.where} {left_out.why}") for left_out in left_outs[:LISTED]]
    return [*lines, f"and {len(left_outs) - LISTED} more"] if len(left_outs) > LISTED else lines


def exported(export: "Export") -> str:
    return safe_text.line(f"{many(export.memories, 'memory', 'memories')} of {export.scope}")


def beside(export: "Export") -> list[str]:
    """Say what an export takes along that others should not see, a line each."""
    lines = []
    if export.secrets:
        places = [f"{left_out.where} ({left_out.why})" for left_out in export.secrets]
        hold = "seems to hold a secret" if len(places) == 1 else "seem to hold secrets"
        memories = many(len(places), "memory", "memories")
        lines.append(f"{memories} {hold}: {safe_text.line(some(places, LISTED))}. The export has them as they are.")
    return lines


def elsewhere(export: "Export", name: str) -> str:
    """Say what to type on another machine for an export of that file name."""
    return f"On another machine: memtui import {shell_word(name)} --scope {shell_word(export.scope)}"
