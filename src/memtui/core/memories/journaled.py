"""What memtui itself wrote, by the journal: the texts of files before and after each change, for their versions."""

from typing import Any, NamedTuple

from memtui.core.base import backwards, clock, fastjson
from memtui.core.journal.records import VERSION, readable, takes_back
from memtui.core.places import locate

TAKE_BACK, LINKS = "take-back", "links"


class Written(NamedTuple):
    """A file that a change wrote: the hash of its text before and after (empty: no file), and when each was written
    (nanoseconds since the epoch, 0: not known); `whole`: not only some lines of it, as where links follow a rename."""

    path: str
    before: str
    after: str
    stamps: tuple[int, int]
    whole: bool


class OwnChange(NamedTuple):
    """A change that was made: its id in the journal, when (seconds since the epoch), whether the person saw the whole
    text, the memories that it wrote, and its operation in the journal, TAKE_BACK for what others wrote."""

    id: str
    time: float
    seen: bool
    files: list[Written]
    op: str

    def op_of(self, written: Written) -> str:
        """Return what it was for one of its files: LINKS where only links followed a rename."""
        return LINKS if self.op == "rename" and not written.whole else self.op


class Since(NamedTuple):
    """The changes since the one that was read last, oldest first, the files of a change that is not finished, and the
    id of the newest change that is."""

    steps: list[OwnChange]
    unfinished: set[str]
    newest: str


def since(root: str, last: str, oldest: float = 0.0) -> Since:
    """Read the changes after the one with the id `last`, or those later than `oldest` (seconds since the epoch). Raises
    OSError."""
    ended: dict[str, bool] = {}
    dropped: set[str] = set()  # the texts of memories that were deleted for good later
    steps: list[OwnChange] = []
    unfinished: set[str] = set()
    newest = ""
    try:
        for _, line in backwards.lines(root + "/journal.jsonl", longest=-1):
            record = fastjson.loads_dict(line)
            found = record.get("id")
            if record.get("v") != VERSION or not isinstance(found, str):
                continue
            time = clock.parse(str(record.get("time"))) or 0.0
            if found == last or time <= oldest:
                break
            if record.get("state") in {"done", "back"}:
                ended[found] = record["state"] == "done"
                newest = newest or found
            elif record.get("state") == "intent" and readable(record):
                if ended.get(found):
                    dropped |= _strings(record.get("drop"))
                files = [each for row in _rows(record) for each in _written(row)]
                files = [each for each in files if not dropped & {each.before, each.after}]
                if found not in ended:
                    unfinished |= {each.path for each in files}
                elif ended[found] and files:
                    op = TAKE_BACK if takes_back(record) else str(record.get("op"))
                    steps.append(OwnChange(found, time, record.get("seen") is True, files, op))
    except FileNotFoundError:
        pass
    return Since(steps[::-1], unfinished, newest or last)


def _written(row: dict[str, Any]) -> list[Written]:
    """Return the memory that a row wrote, if any."""
    path = str(row["path"])
    if not locate.is_memory_name(path[path.rfind("/") + 1 :]):
        return []
    if "before" in row:
        before, after = row.get("times", (0, 0))
        return [Written(path, row["before"] or "", row["after"] or "", (before or 0, after or 0), whole=True)]
    if "anchor" in row and row.get("was") and row.get("now"):
        return [Written(path, row["was"], row["now"], (0, 0), whole=False)]
    return []


def _strings(found: object) -> set[str]:
    return {each for each in found if isinstance(each, str)} if isinstance(found, list) else set()


def _rows(record: dict[str, object]) -> list[dict[str, Any]]:
    found = record["changes"]
    return found if isinstance(found, list) else []
