"""Deliveries: print one, then log it. Text leaves for the model only here."""

import time

from memtui.base import clock_hot
from memtui.client import process_hot
from memtui.deliver import blocks_hot, log_file_hot
from memtui.hooks import runner_hot

ENTRYPOINT_LENGTH = 40
TYPE_CHECKING = False
if TYPE_CHECKING:
    from memtui.inbox import claims_hot, format_hot
    from memtui.inbox.note_block_hot import Oversize

    Row = dict[str, object]


def budget(hook: runner_hot.Hook) -> int:
    """Return how many UTF-16 units this hook may print."""
    units = int(hook.number("budget"))
    return min(units, hook.agent.cap or units)


def recipient(hook: runner_hot.Hook) -> "claims_hot.Recipient":
    """Describe this session to `claims`, which decides what guidance is for it."""
    from memtui.hooks import environment_hot
    from memtui.inbox import claims_hot

    name = hook.env.get("MEMTUI_AGENT") or hook.agent_name
    session = claims_hot.Recipient(hook.session_id, name, hook.project_root, clock_hot.now())
    session.root = hook.root
    if hook.agent_name:
        session.personal = hook.agent.is_personal(hook.payload, hook.env)
    else:
        session.personal = environment_hot.personal(hook.env, hook.started_in)
    return session


class Notes:
    """The notes of a delivery, claimed from the inboxes of its session. Within `with`, an error puts them back."""

    __slots__ = ("_blocks", "_hook", "_id", "claims", "oversize")

    def __init__(self, hook: runner_hot.Hook, delivery_id: str) -> None:
        self._hook = hook
        self._id = delivery_id
        self._blocks: dict[tuple[str, str, str], blocks_hot.Block] = {}
        self.claims: list[claims_hot.Claim] = []
        # Those that are due and too long for any delivery.
        self.oversize: Oversize = {}

    def __enter__(self) -> "Notes":  # noqa: PYI034  typing costs a hook its budget
        return self

    def __exit__(self, kind: "type[BaseException] | None", *_: "object") -> None:
        if kind is not None:
            self.put_back()

    def claim(self, session: "claims_hot.Recipient") -> "list[blocks_hot.Block]":
        """Claim the guidance that is due for this session; return its blocks: urgent ones first, then oldest first."""
        from memtui.inbox import claims_hot

        for _, directory in self._hook.inboxes():

            def fits(entry: "format_hot.Entry", directory: str = directory) -> bool:
                return self._fits(directory, entry, session.now)

            claim = self._hook.attempt(None, claims_hot.take, directory, session, self._id, fits)
            if claim is not None:
                self.claims.append(claim)
        ranked = []
        for claim in self.claims:
            for entry, reason in claim.entries:
                block = self._blocks[claim.directory, entry.id, entry.raw]
                block.parts[0].item["reason"] = reason
                ranked.append(((not entry.flag("urgent"), entry.time() or session.now), block))
        ranked.sort(key=lambda pair: pair[0])
        return [block for _, block in ranked]

    def _fits(self, directory: str, entry: "format_hot.Entry", now: float) -> bool:
        """Render an entry, and return whether a delivery has room for it."""
        key = directory, entry.id, entry.raw
        if key not in self._blocks:
            from memtui.inbox import note_block_hot

            block = note_block_hot.note(directory, entry, now)
            if block.size(self._id) > budget(self._hook):
                self.oversize[entry.id] = (directory, entry)
                return False
            self._blocks[key] = block
        return True

    def put_back(self, left_out: "set[tuple[str, str]] | None" = None) -> None:
        """Put notes back into their inboxes: those `left_out`, by scope and id, else all; or a later hook does."""
        for claim in self.claims:
            self._hook.attempt(None, _put_back, claim, left_out)


def _put_back(claim: "claims_hot.Claim", left_out: "set[tuple[str, str]] | None") -> None:
    from memtui.inbox import claims_hot

    rejected = [pair for pair in claim.entries if left_out is None or (claim.scope, pair[0].id) in left_out]
    claims_hot.put_back(claim.directory, [entry for entry, _ in rejected])
    claim.entries = [pair for pair in claim.entries if pair not in rejected]
    if not claim.entries:
        claims_hot.drop(claim)


def send(
    hook: runner_hot.Hook,
    delivery_id: str,
    blocks: "list[blocks_hot.Block]",
    notes: "Notes | None" = None,
    message: str = "",
    refusal: str = "",
    decision: str = "deny",
) -> "list[blocks_hot.Part]":
    """Compose, print and log a delivery; `message`, `refusal`, `decision` as for `runner_hot.reply`. Returns the
    parts for which there was no room; notes among them go back into their inbox."""
    text, items, left_out = blocks_hot.compose(blocks, budget(hook), delivery_id)
    names = {(str(part.item["scope"]), str(part.item["id"])) for part in left_out if part.item["kind"] == "guidance"}
    if notes is not None and names:
        notes.put_back(names)
    if text or message or refusal:
        runner_hot.reply(hook, text, message, refusal, decision)
    if items:
        row = record(hook, delivery_id, text, items, notes.claims if notes is not None else [])
        hook.attempt(None, log_file_hot.append, hook.root, row, clock_hot.now())
    return left_out


def _size(hook: runner_hot.Hook) -> int:
    size = hook.payload.get("transcript_size")  # from an agent that knows it
    if isinstance(size, int):
        return size
    try:
        return hook.agent.status(hook.text("transcript_path"))[0]
    except OSError:
        return 0


def record(hook: runner_hot.Hook, name: str, text: str, items: "list[Row]", claimed: "list[claims_hot.Claim]") -> "Row":
    """Return the delivery log's record of this run; keys as in docs/file-formats.md."""
    row: Row = {
        "v": log_file_hot.VERSION,
        "id": name,
        "time": clock_hot.iso(clock_hot.now()),
        "event": hook.event,
        "session_id": hook.session_id,
        "prompt_id": hook.text("prompt_id"),
        "transcript": hook.text("transcript_path"),
        "cwd": hook.text("cwd"),
        "project": hook.slug,
        "project_root": hook.project_root,
        "mode": hook.mode,
        "chars": blocks_hot.units(text),
        "text": text,
        "items": items,
    }
    if text:
        row |= {"transcript_size": _size(hook), "client": process_hot.client()}
    further = {
        "agent": hook.env.get("MEMTUI_AGENT") or hook.agent_name,
        "entrypoint": hook.env.get(process_hot.ENTRYPOINT, "")[:ENTRYPOINT_LENGTH],
        "agent_id": hook.text("agent_id"),
        "tool": hook.text("tool_name"),
        "tool_use_id": hook.text("tool_use_id"),
    }
    row |= {key: value for key, value in further.items() if value}
    if claimed:
        row["claims"] = [[claim.directory[len(hook.root) + 1 :], claim.name, claim.size] for claim in claimed]
    row["ms"] = int((time.monotonic() - hook.started) * 10000) / 10
    return row
