"""Print a delivery, then log it: the one place where text leaves for the model."""

import time

from memtui.core import claims, clock, config, delivery, fs, ids, inbox, render
from memtui.hooks import runner

# A block around one note of guidance takes up to this much of the budget.
FRAME_UNITS = 400


def budget(hook: runner.Hook) -> int:
    """UTF-16 units that this hook may print."""
    return config.number(hook.settings, "budget")


def asker(hook: runner.Hook) -> claims.Asker:
    """Who this hook asks guidance for."""
    return claims.Asker(hook.session_id, hook.env.get("MEMTUI_AGENT", ""), hook.project_root, clock.now())


def ago(seconds: "float | None", now: float) -> str:
    """`just now`, `4m ago`, `3h ago`, `12d ago`; `undated` for no time."""
    if seconds is None:
        return "undated"
    past = max(0, int(now - seconds))
    for size, letter in ((86400, "d"), (3600, "h"), (60, "m")):
        if past >= size:
            return f"{past // size}{letter} ago"
    return "just now"


def guidance_blocks(taken: "list[tuple[str, claims.Claim]]", now: float) -> "list[render.Block]":
    """A block for each note of guidance: urgent ones first, then oldest first."""
    found = []
    for scope, claim in taken:
        for entry, reason in claim.entries:
            source = entry.fields.get("from") or "a hand-written note"
            fields = {"id": entry.id, "scope": scope, "from": source}
            if entry.fields.get("time"):
                fields["time"] = entry.fields["time"]
            intro = f"Note left by the user of this machine through memtui ({source}, {ago(entry.time(), now)})."
            if entry.flag("repeat"):
                fields["repeat"] = "yes"
                intro += " It may have been delivered before."
            item: dict[str, object] = {
                "kind": "guidance",
                "id": entry.id,
                "scope": scope,
                "path": f"{claim.directory}/{inbox.FILES['guidance']}",
                "hash": ids.content_hash(entry.text),
                "reason": reason,
            }
            part = render.Part(entry.text, entry.text[:40], item)
            rank = (not entry.flag("urgent"), entry.time() or now)
            found.append((rank, render.Block(render.TAGS["guidance"], fields, intro, [part])))
    found.sort(key=lambda pair: pair[0])
    return [block for _, block in found]


def send(
    hook: runner.Hook,
    delivery_id: str,
    blocks: "list[render.Block]",
    taken: "list[tuple[str, claims.Claim]]",
    message: str = "",
) -> "list[render.Part]":
    """Compose, print, log. Returns what found no room.

    Guidance that found no room is back in its inbox, and all of it is if printing fails.
    """
    try:
        text, items, left_out = render.compose(blocks, budget(hook), delivery_id)
        _return_left_out(taken, {str(part.item["id"]) for part in left_out if part.item.get("kind") == "guidance"})
        if text or message:
            runner.reply(hook.event, text, message)
    except BaseException:
        for _, claim in taken:
            claims.put_back(claim.directory, [entry for entry, _ in claim.entries])
            fs.unlink(claim.path)
        raise
    if items:
        delivery.append(hook.root, record(hook, delivery_id, text, items, taken), clock.now())
    for _, claim in taken:
        if not claim.entries:
            fs.unlink(claim.path)
    return left_out


def _return_left_out(taken: "list[tuple[str, claims.Claim]]", left_out: "set[str]") -> None:
    for _, claim in taken:
        back = [entry for entry, _ in claim.entries if entry.id in left_out]
        if back:
            claims.put_back(claim.directory, back)
            claim.entries = [pair for pair in claim.entries if pair[0].id not in left_out]


def record(
    hook: runner.Hook,
    delivery_id: str,
    text: str,
    items: "list[dict[str, object]]",
    taken: "list[tuple[str, claims.Claim]]",
) -> "dict[str, object]":
    """The delivery log's record of this run; keys as in docs/file-formats.md."""
    found: dict[str, object] = {
        "v": delivery.VERSION,
        "id": delivery_id,
        "time": clock.iso(clock.now()),
        "event": hook.event,
        "session_id": hook.session_id,
        "prompt_id": hook.text("prompt_id"),
        "transcript": hook.text("transcript_path"),
        "cwd": hook.text("cwd"),
        "project": hook.slug,
        "project_root": hook.project_root,
        "mode": hook.mode,
        "chars": render.units(text),
        "text": text,
        "items": items,
    }
    further = {
        "agent": hook.env.get("MEMTUI_AGENT", ""),
        "agent_id": hook.text("agent_id"),
        "tool": hook.text("tool_name"),
        "tool_use_id": hook.text("tool_use_id"),
    }
    found |= {key: name for key, name in further.items() if name}
    if taken:
        found["claims"] = [[claim.directory[len(hook.root) + 1 :], claim.name, claim.size] for _, claim in taken]
    found["ms"] = int((time.monotonic() - hook.started) * 10000) / 10
    return found
