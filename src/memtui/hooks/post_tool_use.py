"""After a tool that reads or writes a file: log that the agent read or wrote a memory, so that use is known and not
only delivery; start a worker that brings the index up to date with what it wrote."""

from memtui.hooks.runner import Hook

ACTIONS = {
    "Read": "read",
    "Write": "wrote",
    "Edit": "wrote",
    "MultiEdit": "wrote",
    "memory_read": "read",
    "memory_write": "wrote",
}
# What says that only a part of a file was read or written.
PARTS = {"offset", "limit", "old_string", "edits"}


def handle(hook: Hook) -> None:
    """Log the use of a memory file; prints nothing."""
    action = ACTIONS.get(hook.text("tool_name"))
    if not action or _failed(hook):
        return
    from memtui.hooks import tool_file

    path = tool_file.path_of(hook)
    if not path.endswith(".md"):
        return
    from memtui.client import locate

    scope = locate.scope_of(hook.env, hook.started_in, path)
    if scope is None:
        return
    from memtui.base import clock, ids
    from memtui.deliver import log as delivery_log
    from memtui.hooks import deliver

    name = path[path.rfind("/") + 1 :].removesuffix(".md")
    item: dict[str, object] = {"kind": "use", "action": action, "id": name, "scope": scope, "path": path}
    if action == "wrote":
        from memtui.store import catalog

        catalog.touch(hook.root, path)
    delivery_log.append(hook.root, deliver.record(hook, ids.new_id(), "", [item], []), clock.now())
    tool_input = hook.payload.get("tool_input")
    if not hook.payload.get("agent_id") and not (isinstance(tool_input, dict) and tool_input.keys() & PARTS):
        from memtui.recall import content

        hook.attempt(None, content.note_given, hook.root, hook.session_id, [path])
    if action == "wrote":
        from memtui.hooks import worker_start

        worker_start.detach(hook, "recall")


def _failed(hook: Hook) -> bool:
    """Tell whether the client says that a memory tool did nothing; its other tools have no such answer."""
    answer = hook.payload.get("tool_response")
    return isinstance(answer, dict) and answer.get("outcome", "ok") != "ok"
