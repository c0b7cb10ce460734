"""Print a delivery, then log it: the one place where text leaves for the model."""

import posix
import time

from memtui.core.base import clock, ids
from memtui.core.client import process
from memtui.core.deliveries import blocks as delivery_blocks
from memtui.core.deliveries import log as delivery_log
from memtui.core.settings import config
from memtui.hooks import runner

ID_UNITS = 26
ENTRYPOINT_LENGTH = 40

TYPE_CHECKING = False
if TYPE_CHECKING:
    from memtui.core.inbox import claims
    from memtui.core.inbox import format as inbox_format

    Oversize = dict[str, tuple[str, str, inbox_format.Entry]]  # id -> (scope, directory of the inbox, entry)


def budget(hook: runner.Hook) -> int:
    """UTF-16 units that this hook may print."""
    return config.number(hook.settings, "budget")


def asker(hook: runner.Hook) -> "claims.Asker":
    """Who this hook asks guidance for."""
    from memtui.core.inbox import claims
    from memtui.hooks import environment

    found = claims.Asker(hook.session_id, hook.env.get("MEMTUI_AGENT", ""), hook.project_root, clock.now())
    found.personal = environment.personal(hook.env, hook.started_in)
    return found


def collect(
    hook: runner.Hook, who: "claims.Asker", delivery_id: str
) -> "tuple[list[tuple[str, claims.Claim]], Oversize]":
    """Take the guidance that is due, as (scope, claim), and what is due but too long for any delivery, by id.

    An inbox that can't be read keeps nothing from the other.
    """
    from memtui.core.inbox import claims

    taken: list[tuple[str, claims.Claim]] = []
    oversize: Oversize = {}
    for scope, directory in hook.inboxes():

        def fits(entry: "inbox_format.Entry", scope: str = scope, directory: str = directory) -> bool:
            block = _note(scope, directory, entry, "", who.now)
            if delivery_blocks.compose([block], budget(hook), "0" * ID_UNITS)[0]:
                return True
            oversize[entry.id] = (scope, directory, entry)
            return False

        try:
            claim = claims.take(directory, who, delivery_id, fits)
        except Exception as error:
            runner.fail(hook.env, hook.event, error)
            continue
        if claim is not None:
            taken.append((scope, claim))
    return taken, oversize


def ago(seconds: "float | None", now: float) -> str:
    """`just now`, `4m ago`, `3h ago`, `12d ago`; `undated` for no time."""
    if seconds is None:
        return "undated"
    past = max(0, int(now - seconds))
    for size, letter in ((86400, "d"), (3600, "h"), (60, "m")):
        if past >= size:
            return f"{past // size}{letter} ago"
    return "just now"


def _item(scope: str, directory: str, entry: "inbox_format.Entry", reason: str) -> "dict[str, object]":
    return {
        "kind": "guidance",
        "id": entry.id,
        "scope": scope,
        "path": f"{directory}/guidance.md",
        "hash": ids.content_hash(entry.text),
        "reason": reason,
    }


def _note(scope: str, directory: str, entry: "inbox_format.Entry", reason: str, now: float) -> delivery_blocks.Block:
    source = entry.fields.get("from") or "a hand-written note"
    fields = {"id": entry.id, "scope": scope, "from": source}
    if entry.fields.get("time"):
        fields["time"] = entry.fields["time"]
    intro = f"Note left by the user of this machine through memtui ({source}, {ago(entry.time(), now)})."
    if entry.flag("repeat"):
        fields["repeat"] = "yes"
        intro += " It may have been delivered before."
    part = delivery_blocks.Part(entry.text, entry.text[:40], _item(scope, directory, entry, reason))
    return delivery_blocks.Block(delivery_blocks.TAGS["guidance"], fields, intro, [part])


def guidance_blocks(taken: "list[tuple[str, claims.Claim]]", now: float) -> "list[delivery_blocks.Block]":
    """A block for each note of guidance: urgent ones first, then oldest first."""
    found = []
    for scope, claim in taken:
        for entry, reason in claim.entries:
            rank = (not entry.flag("urgent"), entry.time() or now)
            found.append((rank, _note(scope, claim.directory, entry, reason, now)))
    found.sort(key=lambda pair: pair[0])
    return [block for _, block in found]


def oversize_blocks(oversize: "Oversize", told: "set[str]") -> "list[delivery_blocks.Block]":
    """What is too long for any delivery is never cut: the session is told once where it stands."""
    found = []
    for entry_id, (scope, directory, entry) in oversize.items():
        if entry_id in told:
            continue
        item = {**_item(scope, directory, entry, "too long for a delivery"), "left_out": "too long"}
        path = str(item["path"])
        text = f"A note of {len(entry.text)} characters, too long to be given here, stands in {path}."
        part = delivery_blocks.Part(text, text, item)
        found.append(
            delivery_blocks.Block(delivery_blocks.TAGS["guidance"], {"scope": scope, "source": path}, "", [part])
        )
    return found


def send(
    hook: runner.Hook,
    delivery_id: str,
    blocks: "list[delivery_blocks.Block]",
    taken: "list[tuple[str, claims.Claim]]",
    message: str = "",
) -> "list[delivery_blocks.Part]":
    """Compose, print, log. Returns what found no room.

    Guidance that found no room is back in its inbox, and all of it is if printing fails. What became of a delivery that
    can't be logged, the transcript tells.
    """
    try:
        text, items, left_out = delivery_blocks.compose(blocks, budget(hook), delivery_id)
        _return_left_out(taken, [part.item for part in left_out if part.item.get("kind") == "guidance"])
        if text or message:
            runner.reply(hook, text, message)
    except BaseException:
        give_back(hook, taken)
        raise
    if items:
        try:
            delivery_log.append(hook.root, record(hook, delivery_id, text, items, taken), clock.now())
        except OSError as error:
            runner.fail(hook.env, hook.event, error)
    for _, claim in taken:
        if not claim.entries:
            from memtui.core.inbox import claims

            claims.drop(claim)
    return left_out


def give_back(hook: runner.Hook, taken: "list[tuple[str, claims.Claim]]") -> None:
    """Put all that was taken back into its inboxes. What that fails for is settled later."""
    from memtui.core.inbox import claims

    for _, claim in taken:
        try:
            claims.put_back(claim.directory, [entry for entry, _ in claim.entries])
            claims.drop(claim)
        except Exception as error:
            runner.fail(hook.env, hook.event, error)


def _return_left_out(taken: "list[tuple[str, claims.Claim]]", left_out: "list[dict[str, object]]") -> None:
    for scope, claim in taken:
        names = {item["id"] for item in left_out if item["scope"] == scope}
        back = [entry for entry, _ in claim.entries if entry.id in names]
        if back:
            from memtui.core.inbox import claims

            claims.put_back(claim.directory, back)
            claim.entries = [pair for pair in claim.entries if pair[0].id not in names]


def _size(path: str) -> int:
    """How long a transcript is: by its places it will be told what came before the delivery and what after it."""
    try:
        return posix.stat(path).st_size
    except OSError:
        return 0


def record(
    hook: runner.Hook,
    delivery_id: str,
    text: str,
    items: "list[dict[str, object]]",
    taken: "list[tuple[str, claims.Claim]]",
) -> "dict[str, object]":
    """The delivery log's record of this run; keys as in docs/file-formats.md."""
    found: dict[str, object] = {
        "v": delivery_log.VERSION,
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
        "chars": delivery_blocks.units(text),
        "text": text,
        "items": items,
    }
    if text:
        found |= {"transcript_size": _size(hook.text("transcript_path")), "client": process.client()}
    further = {
        "agent": hook.env.get("MEMTUI_AGENT", ""),
        "entrypoint": hook.env.get(runner.ENTRYPOINT, "")[:ENTRYPOINT_LENGTH],
        "agent_id": hook.text("agent_id"),
        "tool": hook.text("tool_name"),
        "tool_use_id": hook.text("tool_use_id"),
    }
    found |= {key: name for key, name in further.items() if name}
    if taken:
        found["claims"] = [[claim.directory[len(hook.root) + 1 :], claim.name, claim.size] for _, claim in taken]
    found["ms"] = int((time.monotonic() - hook.started) * 10000) / 10
    return found
