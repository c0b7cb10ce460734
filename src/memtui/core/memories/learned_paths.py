"""The paths that memories were learned to be about: files that a session changed after the agent had opened a memory.
Read by the hook before a tool runs.

They are rows of `learned-paths/<hash of the directory>.jsonl`, kept beside the memory (`beside`). A path is relative to
the project, or absolute where the memory is not of one project, and counts as `globs` has it."""

from memtui.core.base import clock, fastjson, fs, globs, ids

KIND = "learned-paths"
# What is learned counts half in this time (`triggers.HALF_LIFE`), and is used from the second use on.
HALF_LIFE, LEAST = 60 * clock.DAY, 1.5

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence


def touching(root: str, directory: str, top: str, touched: "Sequence[str]", now: float = 0.0) -> "list[str]":
    """List the files of the memories of a directory that are about one of the absolute paths `touched`, in a project
    whose root is `top`. `now`: seconds since the epoch, by default the clock's. Never raises."""
    patterns_by_file = of_directory(root, directory, now)
    return [
        file
        for file, patterns in patterns_by_file.items()
        if any(globs.matches(pattern, path, top) for pattern in patterns for path in touched)
    ]


def of_directory(root: str, directory: str, now: float = 0.0) -> "dict[str, list[str]]":
    """Return the paths that were learned and are used, by the memory's file. Never raises."""
    by_file: dict[str, list[str]] = {}
    try:
        data = fs.read_bytes(f"{root}/{KIND}/{ids.content_hash(directory)}.jsonl")
    except OSError:
        return by_file
    now = now or clock.now()
    for line in data.split(b"\n"):
        row = fastjson.loads_dict(line) if line else {}
        file, text, uses = row.get("file"), row.get("text"), row.get("uses")
        if row.get("origin") != "use" or not isinstance(file, str) or not isinstance(text, str):
            continue
        age = max(0.0, now - (clock.parse(row.get("time")) or 0.0))
        if isinstance(uses, (int, float)) and uses * 0.5 ** (age / HALF_LIFE) >= LEAST:
            by_file.setdefault(file, []).append(text)
    return by_file
