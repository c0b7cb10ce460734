"""Lines of the delivery log, for tests."""

from memtui.base import clock_hot, ids_hot
from memtui.deliver import log_hot

SESSION = "5e55101f-recalls"
# The id of the last delivery.
LAST = ids_hot.new_id(0.0)


def deliver(root, seconds, *items, **more):
    """Log a delivery of that time with some items; its record."""
    record = {"v": 1, "id": ids_hot.new_id(seconds), "time": clock_hot.iso(seconds), "items": list(items), **more}
    log_hot.append(root, record, seconds)
    return record


def log(world, path, chars=400):
    """Log that a session recalled a memory twice in the last hour, opened it once, and was corrected once."""
    item = {"id": path.rpartition("/")[2].removesuffix(".md"), "scope": "project", "path": path}
    recall = {**item, "kind": "recall", "reason": "fits the prompt", "probability": 0.82, "chars": chars}
    for ago, delivery, event, found in (
        (600.0, ids_hot.new_id(1.0), "UserPromptSubmit", recall),
        (500.0, ids_hot.new_id(2.0), "PostToolUse", {**item, "kind": "use", "action": "read"}),
        (400.0, ids_hot.new_id(3.0), "Stop", {**item, "kind": "corrected", "reason": "Use pnpm"}),
        (300.0, LAST, "UserPromptSubmit", recall),
    ):
        size = chars if found is recall else 0
        more = {"id": delivery, "event": event, "session_id": SESSION, "chars": size, "text": "x" * size}
        place = {"project": "shop", "project_root": world.shop}
        deliver(world.env["MEMTUI_HOME"], world.now - ago, found, **more, **place)
