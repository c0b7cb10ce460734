"""Words for the subconscious: its state, its runs, who wrote a block."""

from collections.abc import Mapping, Sequence

from memtui.core.base.phrasing import ago, many
from memtui.present import models
from memtui.subconscious import block_versions, control, conversations, runs, whispers
from memtui.subconscious.block_versions import BlockVersion
from memtui.subconscious.conversations import Remark
from memtui.subconscious.overview import Overview
from memtui.subconscious.undoing import UndoneChange

WHO = {
    block_versions.SUBCONSCIOUS: "the subconscious",
    block_versions.PERSON: "you",
    block_versions.OTHER: "an editor or a program",
}
EMPTY = "It has read no session yet."
WHAT = (
    "After each turn a model of yours reads the session in the background: it keeps notes in blocks, and may leave a"
    " whisper for the session. Write “@memtui …” in a prompt to ask it something."
)
NO_WHISPERS = "It has whispered nothing yet."
# What the entries of a conversation about a session are called, where that is not their kind.
KINDS = {conversations.NOTED: "summed up", conversations.ASKED: "was asked"}


def state(found: Overview, now: float) -> str:
    """Say whether it reads sessions, in which mode and by which model, or why it does not."""
    powers = found.powers
    if found.stopped is not None:
        return "off, and " * (powers.mode == "off") + f"stopped by you {ago(found.stopped, now)}"
    if powers.why:
        why = powers.why.removesuffix(".")
        return "off" if powers.mode == "off" else why[:1].lower() + why[1:]
    return f"{powers.mode}, {powers.model} by {models.BACKENDS[powers.backend]}"


def kind(entry: Remark) -> str:
    """Say what an entry of a conversation is."""
    return KINDS.get(entry.kind, entry.kind)


def talked(entries: Sequence[Remark]) -> str:
    """Say how much a conversation has: `4 entries, 1 whisper`."""
    said = sum(each.kind in {conversations.WHISPERED, conversations.REPLIED} for each in entries)
    return f"{many(len(entries), 'entry', 'entries')}, {many(said, 'whisper') if said else 'no whisper'}"


def tools(powers: control.Powers) -> str:
    """Say which tools it has."""
    return powers.allowed + (f" ({powers.fewer})" if powers.fewer else "")


def outcome(run: runs.Run, now: float) -> tuple[str, str]:
    """Say what became of a run, and in which style."""
    if run.outcome == runs.DONE:
        return "done", "green"
    if run.outcome == runs.BEGUN:
        return ("was killed", "yellow") if run.killed(now) else ("reading now", "dim")
    return models.outcome(run.outcome), "yellow"


def did(run: runs.Run) -> str:
    """Say what a run changed and said: `2 blocks, 1 whisper`."""
    words = [many(len(run.blocks), "block")] if run.blocks else []
    words += [many(len(run.whispers), "whisper")] if run.whispers else []
    words += [f"{len(run.refused)} refused"] if run.refused else []
    if run.outcome not in {runs.DONE, runs.BEGUN}:
        words.append(run.why)
    return ", ".join(words) or ("nothing to change" if run.outcome == runs.DONE else "")


def cost(run: runs.Run) -> str:
    """Say what a run cost."""
    return models.dollars(run.cost)


def ended(whisper: whispers.Whisper, now: float) -> str:
    """Say why a whisper that was not delivered does not wait any more."""
    return "expired" if now - whisper.time > whispers.EXPIRES else "withdrawn"


def writers(versions: Sequence[BlockVersion]) -> list[str]:
    """Say of each version of a block who wrote it: after which session, or to undo what. `versions`: newest first."""
    numbers = {each.id: len(versions) - at for at, each in enumerate(versions)}
    return [_writer(each, numbers) for each in versions]


def _writer(version: BlockVersion, numbers: Mapping[str, int]) -> str:
    who = WHO.get(version.by, version.by)
    if version.undid:
        return f"{who}, undoing {numbers.get(version.undid, 'an older one')}"
    return f"{who}, session {version.session[:8]}" if version.session else who


def undone(found: Sequence[UndoneChange]) -> str:
    """Say which changes of blocks were undone."""
    names = dict.fromkeys(each.version.block for each in found if each.done)
    count = sum(each.done for each in found)
    if count:
        return f"Undid {'a change' if count == 1 else f'{count} changes'} of {', '.join(names)}."
    if any(each.error for each in found):
        return "Nothing was undone."
    return "Nothing is left of these changes." if len(found) > 1 else "Nothing is left of that change."
