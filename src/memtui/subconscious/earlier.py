"""What the subconscious is told again of its conversation about a session: the newest remarks, those before them in a
line each, and for how many there was no room."""

from collections.abc import Iterable, Iterator, Sequence

from memtui.core.base.phrasing import many
from memtui.llm.fence import fenced
from memtui.subconscious import wording
from memtui.subconscious.conversations import ASKED, CHANGED, LOOKED, NOTED, REPLIED, WHISPERED, Remark

# Characters of one of the newest remarks, and of all of them; of one of the older ones, and of all of those: together
# some 3,000 tokens a run.
NEWEST, NEWEST_ALL = 600, 8000
OLDER, OLDER_ALL = 120, 4000
# What of the older ones counts: not what it was refused.
KINDS = {NOTED, CHANGED, WHISPERED, ASKED, REPLIED}


def told(remarks: Sequence[Remark]) -> list[str]:
    """Return the parts of a prompt that tell of a conversation, given oldest first, without what was looked at."""
    spoken = [each for each in reversed(remarks) if each.kind != LOOKED]
    newest = list(_lines(spoken, NEWEST, NEWEST_ALL))
    before = [each for each in spoken[len(newest) :] if each.kind in KINDS]
    older = list(_lines(before, OLDER, OLDER_ALL))
    parts = []
    if older:
        left = len(before) - len(older)
        more = f" {many(left, 'earlier remark is', 'earlier remarks are')} left out." if left else ""
        parts.append(
            f"What came before `earlier`, newest first, each cut to a line.{more}\n{fenced('older', _all(older))}"
        )
    if newest:
        parts.append(fenced("earlier", _all(reversed(newest))))
    return parts


def _lines(remarks: Iterable[Remark], most: int, room: int) -> Iterator[str]:
    """Yield remarks in a line of `most` characters each, as long as there is room."""
    for each in remarks:
        line = f"- {each.kind}: {wording.cut(each.text, most)}"
        room -= len(line)
        if room < 0:
            return
        yield line


def _all(lines: Iterable[str]) -> str:
    return "\n".join(lines)
