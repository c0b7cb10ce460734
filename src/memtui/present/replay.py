"""How replayed prompts are said: which memories each would get, now or with a change, and which it got then."""

from collections.abc import Collection, Sequence

from memtui.core.base.phrasing import share
from memtui.present import recall

TYPE_CHECKING = False
if TYPE_CHECKING:
    from memtui.recall.replaying import ReplayedMemory, ReplayedPrompt

# The mark of a memory and its style: it stays, comes or goes; the session had it before.
SAME, NEW, GONE, HAD = ("✓", "green"), ("+", "green"), ("-", "red"), ("=", "cyan")


def rows(each: "ReplayedPrompt", *, changed: bool) -> list[tuple[str, str, str]]:
    """Return the memories of a prompt as (mark, style, words): with a change those that come, go and stay; without one
    beside what it got then."""
    if changed:
        after, before = each.changed, each.now
        notes = {NEW: "", GONE: "no more", SAME: ""}
    else:
        after, before = each.now, each.then
        notes = {NEW: "not delivered then", GONE: "delivered then, not now", SAME: "delivered then, too"}
    found = []
    for path, memory in after.items():
        sign = SAME if path in before else HAD if not changed and path in each.had else NEW
        note = "the session had it already" if sign == HAD else notes[sign]
        found.append((*sign, _words(memory, note)))
    found += [(*GONE, _words(memory, notes[GONE])) for path, memory in before.items() if path not in after]
    return found


def about(each: "ReplayedPrompt", paths: "Collection[str]") -> tuple[str, str] | None:
    """Return the mark of a prompt, and its style, for a memory that has one of these paths, before or after a change:
    whether it gets it, too, or only with the change, or no more; None if it gets it in neither case."""
    before, after = (any(path in each_side for path in paths) for each_side in (each.now, each.changed))
    return SAME if before and after else NEW if after else GONE if before else None


def sums_of(found: "Sequence[ReplayedPrompt]", paths: "Collection[str]") -> str:
    """Say how many prompts would get a memory: `12 of 50 would: 2 more, 1 no more`."""
    marks = [about(each, paths) for each in found]
    more, less = marks.count(NEW), marks.count(GONE)
    words = [f"{more:,} that don’t now"] * bool(more) + [f"{less:,} no more"] * bool(less)
    would = sum(mark in {SAME, NEW} for mark in marks)
    return f"{would:,} of {len(found):,} would" + (": " + ", ".join(words) if words else "")


def _words(memory: "ReplayedMemory", note: str) -> str:
    likely = "" if memory.probability is None else share(memory.probability)
    return "  ".join(filter(None, (memory.name, memory.scope, likely, note)))


def nothing(each: "ReplayedPrompt") -> str:
    """Say why a prompt gets nothing."""
    return recall.SILENT.get(each.silent or "nothing", each.silent)
