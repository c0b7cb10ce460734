"""Before a tool runs: the gate before memories; commands that a memory forbids; urgent guidance in the middle of a
turn, and guidance for the path that the tool touches."""

import posix

from memtui.base import paths
from memtui.hooks import bundle
from memtui.hooks.runner import Hook

TYPE_CHECKING = False
if TYPE_CHECKING:
    from memtui.recall import bindings, judge

# What lists memories that are bound to paths.
BOUND = "/recall/paths"
# The tools that can write a memory.
WRITES = ("Write", "Edit", "MultiEdit", "memory_write")
# What lists memories that forbid commands, and the tools that run them.
FORBIDDEN, SHELLS = "/recall/forbidden", {"Bash", "Monitor", "PowerShell"}


def _is_refused(hook: Hook) -> bool:
    from memtui.settings import config

    if config.value(hook.settings, hook.project_root, "gate") != "ask":
        return False
    from memtui.hooks import tool_file

    path = tool_file.path_of(hook) if hook.text("tool_name") in WRITES else ""
    if not path.endswith(".md"):
        return False
    from memtui.hooks import refusals

    return refusals.refuse_write(hook, path)


def _is_urgent(hook: Hook) -> bool:
    """Tell whether any guidance waits, which may be for this tool."""
    for _, directory in hook.inboxes():
        try:
            if posix.stat(directory + "/guidance.md").st_size:
                return True
        except OSError:
            continue
    return False


def _recalled(hook: Hook) -> "list[judge.Verdict]":
    """Return what a model selected for the prompt, and what is bound to the touched path; one `stat` for none."""
    chosen: list[bindings.Bound] = []
    if hook.settings and hook.setting("recall_select"):
        from memtui.hooks import selection_block

        chosen = selection_block.take(hook) if selection_block.wanted(hook) else []
    on = hook.mode == "full" and (not hook.settings or hook.setting("recall"))
    touched = ""
    if on and paths.exists(hook.root + BOUND):
        from memtui.hooks import tool_file

        touched = tool_file.path_of(hook)
    if not chosen and not touched:
        return []
    from memtui.hooks import recall_block

    return hook.attempt([], recall_block.before_tool, hook, chosen, touched)


def _deliver(hook: Hook, recalled: "list[judge.Verdict]") -> "set[str] | None":
    """Deliver urgent guidance, then what is recalled; return the paths of its memories, None without guidance."""
    bundle.load("delivery")
    bundle.load("notes")
    from memtui.base import ids, session_state
    from memtui.client import locate
    from memtui.deliver import blocks as delivery_blocks
    from memtui.hooks import deliver, prompt, recall_block, tool_file

    session = deliver.recipient(hook)
    session.paths = list(filter(None, [tool_file.path_of(hook)]))
    session.top = locate.worktree_top(hook.started_in)
    session.urgent_only = True
    delivery_id = ids.new_id()
    giving = recall_block.Giving(hook)
    with deliver.Notes(hook, delivery_id) as notes:
        blocks = notes.claim(session)
        if not blocks:
            return None
        if recalled:
            blocks += giving.blocks(recalled, deliver.budget(hook) - delivery_blocks.least(blocks))
        left_out = deliver.send(hook, delivery_id, blocks, notes)
    giving.end(left_out)
    state = session_state.load(hook.root, hook.session_id)
    prompt.begin_turn(hook, state)
    prompt.note_guidance(state.turn, notes.claims)
    prompt.note_guidance(state.tool, notes.claims)
    state.save()
    return giving.paths


def handle(hook: Hook) -> None:
    """Keep memories as drafts, where the person wants that; deliver what must not wait for the next prompt. A subagent
    gets nothing: no transcript proves what reached it."""
    if hook.settings and _is_refused(hook):
        return
    if hook.text("tool_name") in SHELLS and hook.mode == "full" and paths.exists(hook.root + FORBIDDEN):
        from memtui.hooks import refusals

        if refusals.refuse_command(hook):
            return
    if hook.payload.get("agent_id"):
        return
    recalled = _recalled(hook)
    delivered = _deliver(hook, recalled) if _is_urgent(hook) else None
    if not recalled:
        return
    if delivered is None:
        from memtui.hooks import recall_block

        delivered = recall_block.deliver(hook, recalled)
    verdicts = [verdict for verdict in recalled if verdict.hit.path not in delivered]
    if verdicts:
        from memtui.hooks import selection_block

        hook.attempt(None, selection_block.put_back, hook, verdicts)
