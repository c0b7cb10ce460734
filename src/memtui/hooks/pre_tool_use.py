"""Before a tool runs: the gate before memories; urgent guidance in the middle of a turn, and guidance for the path that
the tool touches."""

import posix

from memtui.hooks.runner import Hook

PATH_KEYS = ("file_path", "notebook_path", "path")


def touched(hook: Hook) -> "list[str]":
    """List the absolute paths that the tool is about to touch."""
    given = hook.payload.get("tool_input")
    if not isinstance(given, dict):
        return []
    from memtui.core.base import paths

    found = [given[key] for key in PATH_KEYS if isinstance(given.get(key), str) and given[key]]
    return [paths.normal(paths.join(hook.text("cwd") or hook.project_root, path)) for path in found]


def _is_refused(hook: Hook) -> bool:
    from memtui.core.settings import config

    if config.value(hook.settings, hook.project_root, "gate") != "ask":
        return False
    from memtui.hooks import gate

    return gate.refuse(hook)


def handle(hook: Hook) -> None:
    """Keep memories as drafts, where the person wants that; deliver what must not wait for the next prompt. A subagent
    gets nothing: no transcript proves what reached it."""
    if hook.settings and _is_refused(hook):
        return
    if hook.payload.get("agent_id"):
        return
    for _, directory in hook.inboxes():
        try:
            if posix.stat(directory + "/guidance.md").st_size:
                break
        except OSError:
            continue
    else:
        return
    from memtui.core.base import ids, session_state
    from memtui.core.inbox import deliverable
    from memtui.core.places import locate
    from memtui.hooks import deliver, prompt

    asker = deliver.asker(hook)
    asker.paths = touched(hook)
    asker.top = locate.worktree_top(hook.started_in)
    asker.urgent_only = True
    delivery_id = ids.new_id()
    claimed, _ = deliver.collect(hook, asker, delivery_id)
    if not claimed:
        return
    deliver.send(hook, delivery_id, deliverable.notes(claimed, asker.now), claimed)
    state = session_state.load(hook.root, hook.session_id)
    state |= {"turn": prompt.of_this_turn(hook, state), "turn_of": hook.text("prompt_id")}
    prompt.remember(state, "turn", claimed)
    prompt.remember(state, "tool", claimed)
    session_state.save(hook.root, hook.session_id, state)
