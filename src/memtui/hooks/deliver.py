"""Deliveries: print one, then log it. Text leaves for the model only here."""

import posix
import time

from memtui.base import clock
from memtui.client import process
from memtui.deliver import blocks as delivery_blocks
from memtui.deliver import log_file
from memtui.hooks import runner

ENTRYPOINT_LENGTH = 40

TYPE_CHECKING = False
if TYPE_CHECKING:
    from memtui.inbox import claims
    from memtui.inbox import format as inbox_format
    from memtui.inbox.note_block import Oversize


def budget(hook: runner.Hook) -> int:
    """Return how many UTF-16 units this hook may print."""
    return int(hook.number("budget"))


def asker(hook: runner.Hook) -> "claims.Asker":
    """Describe this session to `claims`, which decides what guidance is for it."""
    from memtui.hooks import environment
    from memtui.inbox import claims

    other = claims.Asker(hook.session_id, hook.env.get("MEMTUI_AGENT", ""), hook.project_root, clock.now())
    other.root = hook.root
    other.personal = environment.personal(hook.env, hook.started_in)
    return other


def collect(hook: runner.Hook, who: "claims.Asker", delivery_id: str) -> "tuple[list[claims.Claim], Oversize]":
    """Claim the guidance that is due for this session. Returns the claims, and the notes that are due but too long for
    any delivery, by id. If one inbox can't be read, the other one still is."""
    from memtui.inbox import claims

    claimed: list[claims.Claim] = []
    oversize: Oversize = {}
    for _, directory in hook.inboxes():

        def fits(entry: "inbox_format.Entry", directory: str = directory) -> bool:
            from memtui.inbox import note_block

            if note_block.fits(budget(hook), who.now, entry, directory):
                return True
            oversize[entry.id] = (directory, entry)
            return False

        claim = hook.attempt(None, claims.take, directory, who, delivery_id, fits)
        if claim is not None:
            claimed.append(claim)
    return claimed, oversize


def send(
    hook: runner.Hook,
    delivery_id: str,
    blocks: "list[delivery_blocks.Block]",
    claimed: "list[claims.Claim]",
    message: str = "",
    refusal: str = "",
) -> "list[delivery_blocks.Part]":
    """Compose, print and log a delivery; `message` and `refusal` as for `runner.reply`. Returns the parts for which
    there was no room. Guidance for which there was no room is put back into its inbox; if printing fails, all guidance
    is. Whether a delivery that can't be logged has arrived is read from the transcript."""
    try:
        text, items, left_out = delivery_blocks.compose(blocks, budget(hook), delivery_id)
        _return_left_out(claimed, [part.item for part in left_out if part.item.get("kind") == "guidance"])
        if text or message or refusal:
            runner.reply(hook, text, message, refusal)
    except BaseException:
        give_back(hook, claimed)
        raise
    if items:
        hook.attempt(None, log_file.append, hook.root, record(hook, delivery_id, text, items, claimed), clock.now())
    for claim in claimed:
        if not claim.entries:
            from memtui.inbox import claims

            claims.drop(claim)
    return left_out


def give_back(hook: runner.Hook, claimed: "list[claims.Claim]") -> None:
    """Put all claimed guidance back into its inboxes. Where that fails, a later hook or worker reconciles the claim."""
    from memtui.inbox import claims

    def put_back(claim: "claims.Claim") -> None:
        claims.put_back(claim.directory, [entry for entry, _ in claim.entries])
        claims.drop(claim)

    for claim in claimed:
        hook.attempt(None, put_back, claim)


def _return_left_out(claimed: "list[claims.Claim]", left_out: "list[dict[str, object]]") -> None:
    for claim in claimed:
        names = {item["id"] for item in left_out if item["scope"] == claim.scope}
        back = [entry for entry, _ in claim.entries if entry.id in names]
        if back:
            from memtui.inbox import claims

            claims.put_back(claim.directory, back)
            claim.entries = [pair for pair in claim.entries if pair[0].id not in names]


def _size(path: str) -> int:
    """Return the size of a transcript in bytes: it separates what came before the delivery from what came after."""
    try:
        return posix.stat(path).st_size
    except OSError:
        return 0


def record(
    hook: runner.Hook,
    delivery_id: str,
    text: str,
    items: "list[dict[str, object]]",
    claimed: "list[claims.Claim]",
) -> "dict[str, object]":
    """Return the delivery log's record of this run; keys as in docs/file-formats.md."""
    row: dict[str, object] = {
        "v": log_file.VERSION,
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
        row |= {"transcript_size": _size(hook.text("transcript_path")), "client": process.client()}
    further = {
        "agent": hook.env.get("MEMTUI_AGENT", ""),
        "entrypoint": hook.env.get(process.ENTRYPOINT, "")[:ENTRYPOINT_LENGTH],
        "agent_id": hook.text("agent_id"),
        "tool": hook.text("tool_name"),
        "tool_use_id": hook.text("tool_use_id"),
    }
    row |= {key: name for key, name in further.items() if name}
    if claimed:
        row["claims"] = [[claim.directory[len(hook.root) + 1 :], claim.name, claim.size] for claim in claimed]
    row["ms"] = int((time.monotonic() - hook.started) * 10000) / 10
    return row
