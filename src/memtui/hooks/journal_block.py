"""The journal of today, `journal/YYYY-MM-DD.md` in a directory of memories: given at the start of a session."""

import posix
import time

from memtui.core.base import clock, fs, ids
from memtui.core.deliveries import blocks as delivery_blocks
from memtui.core.places import catalog, locate
from memtui.hooks import recall_block, runner
from memtui.recall import content, places

# Bytes of a journal that are given: of a longer one its end, which is the newest.
MOST_BYTES = 4096
INTRO = "The journal that the user keeps, as it is today."
CUT = "(What stands before is in {path}.)\n"


def add(hook: runner.Hook, giving: recall_block.Giving, blocks: "list[delivery_blocks.Block]") -> None:
    """Add to `blocks` today's journals that the session does not have yet, which are given then. Raises OSError."""
    name = "journal/%04d-%02d-%02d.md" % time.localtime(clock.now())[:3]
    for scope, directory in places.of_session(hook.env, hook.started_in) if hook.setting("journal") else []:
        path = f"{directory}/{name}"
        if not locate.is_memory(directory, path):
            continue
        try:
            at = posix.stat(path)
            data = fs.read_bytes(path, content.READ_BYTES)
        except OSError:
            continue
        allowed = catalog.trusted(hook.root, directory, places.needs_trust(scope))
        digest, seen = ids.digest(data), content.seen(data)
        known = giving.had().sent.get(path)
        if (allowed is not None and not allowed.knows(digest)) or (known and known[0] == seen):
            continue
        text = "" if content.in_conflict(data) else _end(content.body(data).strip(), path)
        if not text:
            continue
        item: dict[str, object] = {"kind": "memory", "id": name[8:-3], "scope": scope, "path": path}
        item |= {"hash": digest[:16], "reason": "journal of today"}
        fields = {"scope": scope, "source": path, "time": clock.iso_seconds(at.st_mtime)}
        part = delivery_blocks.Part(text, name, item)
        giving.begin({path: [seen, at.st_mtime_ns, at.st_size]}, delivery_blocks.units(text))
        blocks.append(delivery_blocks.Block(delivery_blocks.TAGS["recall"], fields, INTRO, [part]))


def _end(text: str, path: str) -> str:
    """Return the last MOST_BYTES of a text, from the beginning of a line."""
    data = text.encode("utf-8", "replace")
    if len(data) <= MOST_BYTES:
        return text
    end = data[-MOST_BYTES:].decode("utf-8", "ignore")
    return CUT.format(path=path) + (end.partition("\n")[2] or end)
