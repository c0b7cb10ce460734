"""The blocks of pending updates and pending items: all at first, later only what is new or changed."""

from memtui.base import clock_hot, fastjson_hot, ids_hot
from memtui.base.session_state_hot import SessionState
from memtui.deliver import blocks_hot
from memtui.hooks.runner_hot import Hook
from memtui.inbox import format_hot
from memtui.settings import config_hot

UPDATES_INTRO = (
    "Drafts of memories that memtui extracted from earlier sessions. The user has not reviewed them: they may be wrong."
)
UPDATES_CHANGED = "Changes among the unreviewed drafts since this session last saw them (+ new, - gone or replaced)."
ITEMS_INTRO = "Work that an earlier session left unfinished, as memtui noted it; the user may have finished it since."


def _shown(entry: format_hot.Entry, now: float) -> str:
    """Write a draft without its evidence as one list item, with further lines indented."""
    text = entry.fields.get("adds") or entry.text  # what it adds to a memory that sessions get already
    lines = [line for line in text.split("\n") if line.strip() and not line.startswith(format_hot.EVIDENCE)]
    kind = entry.fields.get("kind", "note")
    seen = entry.count("seen", 1)
    times = f", said {seen} times" if seen > 1 else ""
    return f"- [{kind}{times}, {clock_hot.ago(entry.time(), now)}] " + "\n  ".join(lines)


def _item(entry: format_hot.Entry, kind: str, scope: str, path: str, reason: str) -> "dict[str, object]":
    return blocks_hot.item(kind, entry.id, scope, path, ids_hot.content_hash(entry.text), reason)


def updates(hook: Hook, state: SessionState, scope: str, directory: str) -> "list[blocks_hot.Block]":
    """Return the block of an inbox's pending updates, none if nothing is new, and note in `state` what the session then
    knows (id -> [hash, text as shown]). Its own drafts are left out, and those not `for_sessions`."""
    known_before = fastjson_hot.table(state.updates, scope)
    path = f"{directory}/{format_hot.FILES['updates']}"
    now = clock_hot.now()
    horizon = now - config_hot.number(hook.settings, "drafts_days") * clock_hot.DAY
    entries = [e for e in format_hot.read(path) if e.fields.get("session", "") != hook.session_id]
    entries.reverse()
    entries.sort(key=lambda e: e.time() or now, reverse=True)
    awake = [e for e in entries if not e.snoozed(now) and e.for_sessions()]
    fresh = [e for e in awake if (e.time() or now) >= horizon][: config_hot.number(hook.settings, "drafts_max")]
    present = {entry.id for entry in entries}
    # Entries that newer ones have pushed out of the list stay known, and those that a person has snoozed.
    knows: dict[str, list[str]] = {
        entry_id: [str(piece) for piece in before]
        for entry_id, before in known_before.items()
        if entry_id in present and isinstance(before, list)
    }
    parts: list[blocks_hot.Part] = []
    for entry in fresh:
        digest = ids_hot.content_hash(entry.text)
        before = known_before.get(entry.id)
        if isinstance(before, list) and before and before[0] == digest:
            continue
        text = _shown(entry, now)
        knows[entry.id] = [digest, text]
        if not known_before:
            reason = "unreviewed, newest first"
        elif isinstance(before, list) and len(before) > 1:
            reason, text = "changed", blocks_hot.difference(str(before[1]), text)
        else:
            reason, text = "new", "+ " + text
        item = _item(entry, "pending-update", scope, path, reason)
        parts.append(blocks_hot.Part(text, entry.text.split("\n")[0], item))
    for entry_id, before in known_before.items():
        if entry_id in present or not isinstance(before, list) or len(before) < 2:
            continue
        title = str(before[1]).split("\n")[0]
        item = {"kind": "pending-update", "id": entry_id, "scope": scope, "path": path, "reason": "gone"}
        parts.append(blocks_hot.Part(f"- {title} (approved, rejected or withdrawn since)", title, item))
    state.updates = {**state.updates, scope: knows}
    if not parts:
        return []
    fields = {"scope": scope, "source": path}
    if known_before:
        fields["change"] = "diff"
    intro = UPDATES_CHANGED if known_before else UPDATES_INTRO + _beyond(len(awake) - len(fresh))
    return [blocks_hot.Block(blocks_hot.TAGS["pending-update"], fields, intro, parts)]


def _beyond(number: int) -> str:
    return f" Left out: {number} more, older, or more than are shown at once." if number > 0 else ""


def items(hook: Hook, scope: str, directory: str, only: "set[str] | None" = None) -> "list[blocks_hot.Block]":
    """Return the block of an inbox's pending items from other sessions, `only` those with these ids."""
    path = f"{directory}/{format_hot.FILES['items']}"
    now = clock_hot.now()
    parts = []
    due = [
        entry
        for entry in format_hot.read(path, items=True)
        if entry.fields.get("state") != "done"
        and entry.fields.get("session", "") != hook.session_id
        and (only is None or entry.id in only)
    ]
    entries = due[: config_hot.number(hook.settings, "todos_max")]
    for entry in entries:
        origin = entry.fields.get("session", "")
        source = f"session {origin[:8]}, {clock_hot.ago(entry.time(), now)}" if origin else "hand-written"
        text = "- [ ] " + entry.text.replace("\n", "\n  ") + f" ({source})"
        item = _item(entry, "pending-item", scope, path, "unfinished, first prompt of the session")
        parts.append(blocks_hot.Part(text, entry.text, item))
    if not parts:
        return []
    intro = ITEMS_INTRO + _beyond(len(due) - len(entries))
    fields = {"scope": scope, "source": path}
    return [blocks_hot.Block(blocks_hot.TAGS["pending-item"], fields, intro, parts)]
