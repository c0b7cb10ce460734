"""After Read, Write and Edit: log that the agent read or wrote a memory, so that use is known and not only delivery."""

from memtui.hooks.runner import Hook

ACTIONS = {"Read": "read", "Write": "wrote", "Edit": "wrote", "MultiEdit": "wrote"}


def handle(hook: Hook) -> None:
    """Log the use of a memory file; prints nothing."""
    given = hook.payload.get("tool_input")
    path = given.get("file_path") if isinstance(given, dict) else None
    action = ACTIONS.get(hook.text("tool_name"))
    if not action or not isinstance(path, str) or not path.endswith(".md"):
        return
    from memtui.core.base import paths
    from memtui.core.places import locate

    path = paths.normal(paths.join(hook.text("cwd") or hook.project_root, path))
    scope = locate.scope_of(hook.env, hook.started_in, path)
    if scope is None:
        return
    from memtui.core.base import clock, ids
    from memtui.core.deliveries import log as delivery_log
    from memtui.hooks import deliver

    name = path[path.rfind("/") + 1 :].removesuffix(".md")
    item: dict[str, object] = {"kind": "use", "action": action, "id": name, "scope": scope, "path": path}
    if action == "wrote":
        from memtui.core.places import catalog

        catalog.touch(hook.root, path)
    delivery_log.append(hook.root, deliver.record(hook, ids.new_id(), "", [item], []), clock.now())
