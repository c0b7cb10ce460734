"""Print a delivery, then log it: the one place where text leaves for the model."""

import posix
import time

from memtui.core.base import clock
from memtui.core.client import process
from memtui.core.deliveries import blocks as delivery_blocks
from memtui.core.deliveries import log as delivery_log
from memtui.core.settings import config
from memtui.hooks import runner

ENTRYPOINT_LENGTH = 40

TYPE_CHECKING = False
if TYPE_CHECKING:
    from memtui.core.inbox import claims
    from memtui.core.inbox import format as inbox_format
    from memtui.core.inbox.deliverable import Oversize


def budget(hook: runner.Hook) -> int:
    """UTF-16 units that this hook may print."""
    return config.number(hook.settings, "budget")


def asker(hook: runner.Hook) -> "claims.Asker":
    """The session that guidance is asked for, with its agent and project."""
    from memtui.core.inbox import claims
    from memtui.hooks import environment

    found = claims.Asker(hook.session_id, hook.env.get("MEMTUI_AGENT", ""), hook.project_root, clock.now())
    found.personal = environment.personal(hook.env, hook.started_in)
    return found


def collect(hook: runner.Hook, who: "claims.Asker", delivery_id: str) -> "tuple[list[claims.Claim], Oversize]":
    """Take the guidance that is due, and what is due but too long for any delivery, by id.

    An inbox that can't be read keeps nothing from the other.
    """
    from memtui.core.inbox import claims

    taken: list[claims.Claim] = []
    oversize: Oversize = {}
    for _, directory in hook.inboxes():

        def fits(entry: "inbox_format.Entry", directory: str = directory) -> bool:
            from memtui.core.inbox import deliverable

            if deliverable.fits(budget(hook), who.now, entry, directory):
                return True
            oversize[entry.id] = (directory, entry)
            return False

        try:
            claim = claims.take(directory, who, delivery_id, fits)
        except Exception as error:
            runner.fail(hook.env, hook.event, error)
            continue
        if claim is not None:
            taken.append(claim)
    return taken, oversize


def send(
    hook: runner.Hook,
    delivery_id: str,
    blocks: "list[delivery_blocks.Block]",
    taken: "list[claims.Claim]",
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
    for claim in taken:
        if not claim.entries:
            from memtui.core.inbox import claims

            claims.drop(claim)
    return left_out


def give_back(hook: runner.Hook, taken: "list[claims.Claim]") -> None:
    """Put all that was taken back into its inboxes. What that fails for is settled later."""
    from memtui.core.inbox import claims

    for claim in taken:
        try:
            claims.put_back(claim.directory, [entry for entry, _ in claim.entries])
            claims.drop(claim)
        except Exception as error:
            runner.fail(hook.env, hook.event, error)


def _return_left_out(taken: "list[claims.Claim]", left_out: "list[dict[str, object]]") -> None:
    for claim in taken:
        names = {item["id"] for item in left_out if item["scope"] == claim.scope}
        back = [entry for entry, _ in claim.entries if entry.id in names]
        if back:
            from memtui.core.inbox import claims

            claims.put_back(claim.directory, back)
            claim.entries = [pair for pair in claim.entries if pair[0].id not in names]


def _size(path: str) -> int:
    """The size of a transcript in bytes: by its places it will be told what came before the delivery and what after
    it."""
    try:
        return posix.stat(path).st_size
    except OSError:
        return 0


def record(
    hook: runner.Hook,
    delivery_id: str,
    text: str,
    items: "list[dict[str, object]]",
    taken: "list[claims.Claim]",
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
        "entrypoint": hook.env.get(process.ENTRYPOINT, "")[:ENTRYPOINT_LENGTH],
        "agent_id": hook.text("agent_id"),
        "tool": hook.text("tool_name"),
        "tool_use_id": hook.text("tool_use_id"),
    }
    found |= {key: name for key, name in further.items() if name}
    if taken:
        found["claims"] = [[claim.directory[len(hook.root) + 1 :], claim.name, claim.size] for claim in taken]
    found["ms"] = int((time.monotonic() - hook.started) * 10000) / 10
    return found
