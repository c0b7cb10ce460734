"""Before a tool runs: the gate before memories; urgent guidance in the middle of a turn, and guidance for the path that
the tool touches."""

import posix

from memtui.hooks.runner import Hook

# What lists memories that are bound to paths: by their own fields, and as their use has shown.
BOUND = ("/recall/paths", "/learned-paths")
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


def _is_urgent(hook: Hook) -> bool:
    """Tell whether any guidance waits, which may be for this tool."""
    for _, directory in hook.inboxes():
        try:
            if posix.stat(directory + "/guidance.md").st_size:
                return True
        except OSError:
            continue
    return False


def _exists(path: str) -> bool:
    try:
        posix.stat(path)
    except OSError:
        return False
    return True


def _recall(hook: Hook) -> None:
    """Give what a model selected for the prompt, else the memories that are bound to what the tool touches. Where none
    is bound, it costs two `stat`."""
    if hook.settings and hook.setting("recall_select"):
        from memtui.hooks import selected

        if selected.wanted(hook) and selected.deliver(hook):
            return
    if hook.mode != "full" or not any(_exists(hook.root + each) for each in BOUND):
        return
    if hook.settings and not hook.setting("recall"):
        return
    paths = touched(hook)
    if paths:
        from memtui.hooks import recall_block

        recall_block.bound(hook, paths)


def handle(hook: Hook) -> None:
    """Keep memories as drafts, where the person wants that; deliver what must not wait for the next prompt. A subagent
    gets nothing: no transcript proves what reached it."""
    if hook.settings and _is_refused(hook):
        return
    if hook.payload.get("agent_id"):
        return
    if not _is_urgent(hook):
        _recall(hook)
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
        _recall(hook)
        return
    deliver.send(hook, delivery_id, deliverable.notes(claimed, asker.now), claimed)
    state = session_state.load(hook.root, hook.session_id)
    state |= {"turn": prompt.of_this_turn(hook, state), "turn_of": hook.text("prompt_id")}
    prompt.remember(state, "turn", claimed)
    prompt.remember(state, "tool", claimed)
    session_state.save(hook.root, hook.session_id, state)
