"""Before and after a tool runs.

Before: the gate before memories; calls that break a rule of a memory; urgent guidance in the middle of a turn, and
guidance for the path that the tool touches. After: the use of a memory is logged, so that it is known and not only its
delivery, and a worker brings the index up to date with what the agent wrote."""

import posix

from memtui.base import fastjson_hot, paths_hot
from memtui.hooks import bundle
from memtui.hooks.runner_hot import Hook

TYPE_CHECKING = False
if TYPE_CHECKING:
    from memtui.recall import bindings_hot, judge_hot

# What lists memories that are bound to paths.
BOUND = "/recall/paths"
# What lists enforced rules, and the tools that can break one.
ENFORCED = "/rules/enforced"
CHECKED = {"Bash", "Monitor", "PowerShell", "Write", "Edit", "MultiEdit", "NotebookEdit", "apply_patch"}
# How tools of the client name the file that they are about; those in MEMORY_TOOLS name it by a store and a path in it.
PATH_KEYS = ("file_path", "notebook_path", "path")
MEMORY_TOOLS = {"memory_read", "memory_write"}
# What the tools do with a memory, and what says that only a part of a file was read or written.
WRITING = ("Write", "Edit", "MultiEdit", "memory_write")
ACTIONS = {"Read": "read", "memory_read": "read", **dict.fromkeys(WRITING, "wrote")}
PARTS = {"offset", "limit", "old_string", "edits"}


def path_of(hook: Hook) -> str:
    """Return the absolute path of the file that the tool is about; empty if it names none on this machine."""
    tool_input = hook.payload.get("tool_input")
    if not isinstance(tool_input, dict):
        return ""
    if hook.text("tool_name") in MEMORY_TOOLS:
        from memtui.client import locate_hot

        return locate_hot.stored(hook.env, hook.started_in, tool_input.get("store"), tool_input.get("path"))
    for key in PATH_KEYS:
        path = tool_input.get(key)
        if isinstance(path, str) and path:
            path = hook.env.get("HOME", "") + path[1:] if path.startswith("~/") else path
            return _by_our_names(hook, paths_hot.normal(paths_hot.join(hook.text("cwd") or hook.project_root, path)))
    return ""


def _by_our_names(hook: Hook, path: str) -> str:
    """Return a path by memtui's names for the client's and the session's directories, if a symlink leads into one."""
    names = [name.rstrip("/") for name in (paths_hot.config_dir(hook.env), hook.started_in, hook.project_root)]
    if not path.endswith(".md") or any(path.startswith(name + "/") for name in names):
        return path
    target = paths_hot.real(path)
    tops = ((name, paths_hot.real(name) + "/") for name in names)
    return next((f"{name}/{target[len(top) :]}" for name, top in tops if target.startswith(top)), path)


def _is_refused(hook: Hook) -> bool:
    from memtui.settings import config_hot

    if config_hot.value(hook.settings, hook.project_root, "gate") != "ask":
        return False
    path = path_of(hook) if ACTIONS.get(hook.text("tool_name")) == "wrote" else ""
    if not path.endswith(".md"):
        return False
    from memtui.hooks import refusals_hot

    return refusals_hot.refuse_write(hook, path)


def _is_urgent(hook: Hook) -> bool:
    """Tell whether any guidance waits, which may be for this tool."""
    for _, directory in hook.inboxes():
        try:
            if posix.stat(directory + "/guidance.md").st_size:
                return True
        except OSError:
            continue
    return False


def _recalled(hook: Hook) -> "list[judge_hot.Verdict]":
    """Return memories whose rules were just broken, that a model selected, or that are bound to the touched path."""
    broken: list[judge_hot.Verdict] = []
    if paths_hot.exists(f"{hook.root}/sessions/{hook.session_id}.tell.json"):
        bundle.load("recall")
        from memtui.hooks import recall_block_hot

        broken = hook.attempt([], recall_block_hot.of_breaks, hook)
    selection: list[bindings_hot.Bound] = []
    if hook.settings and hook.setting("recall_select"):
        from memtui.hooks import model_blocks_hot

        selection = hook.attempt([], model_blocks_hot.take, hook)
    on = hook.mode == "full" and (not hook.settings or hook.setting("recall") != "off")
    touched = ""
    if on and paths_hot.exists(hook.root + BOUND):
        touched = path_of(hook)
    if not selection and not touched:
        return broken
    from memtui.hooks import recall_block_hot

    paths = [verdict.hit.path for verdict in broken]
    verdicts: list[judge_hot.Verdict] = hook.attempt([], recall_block_hot.of_rows, hook, selection, touched)
    return broken + [verdict for verdict in verdicts if verdict.hit.path not in paths]


def _deliver(hook: Hook, recalled: "list[judge_hot.Verdict]", with_blocks: bool = False) -> bool:
    """Deliver urgent guidance, `with_blocks` what changed in these, and what is recalled; False if only that is due."""
    bundle.load("notes")
    from memtui.base import ids_hot, session_state_hot
    from memtui.client import locate_hot
    from memtui.deliver import blocks_hot
    from memtui.hooks import deliver_hot, prompt_hot, recall_block_hot

    session = deliver_hot.recipient(hook)
    session.paths = list(filter(None, [path_of(hook)]))
    session.top = locate_hot.worktree_top(hook.started_in)
    session.urgent_only = True
    delivery_id = ids_hot.new_id()
    giving = recall_block_hot.Giving(hook)
    state = session_state_hot.load(hook.root, hook.session_id)
    with deliver_hot.Notes(hook, delivery_id) as notes:
        blocks = notes.claim(session)
        if with_blocks:
            from memtui.hooks import model_blocks_hot

            blocks += hook.attempt([], model_blocks_hot.blocks_before_tool, hook, state, blocks_hot.least(blocks))
        if not blocks:
            if with_blocks:
                state.save()  # files that were only touched are not read again
            return False
        if recalled:
            blocks += giving.blocks(recalled, deliver_hot.budget(hook) - blocks_hot.least(blocks))
        left_out = deliver_hot.send(hook, delivery_id, blocks, notes)
    giving.end(left_out)
    prompt_hot.begin_turn(hook, state)
    prompt_hot.note_guidance(state.turn, notes.claims)
    prompt_hot.note_guidance(state.tool, notes.claims)
    state.save()
    return True


def _has_new_blocks(hook: Hook) -> bool:
    """Tell, by three `stat`, whether a block may be another than when the session's state was saved."""
    try:
        saved = posix.stat(f"{hook.root}/sessions/{hook.session_id}.json").st_mtime_ns
    except OSError:
        return True
    for place in ("projects/" + hook.slug, "blocks"):
        try:
            if posix.stat(f"{hook.root}/subconscious/{place}").st_mtime_ns >= saved:
                return True
        except OSError:
            continue
    return False


def _deliver_with_blocks(hook: Hook, recalled: "list[judge_hot.Verdict]") -> bool:
    """As `_deliver`, if a block of the subconscious changed; of tools that begin at one moment a single one does."""
    from memtui.base import fs_hot, session_state_hot
    from memtui.hooks import model_blocks_hot

    if model_blocks_hot.changed(hook, session_state_hot.load(hook.root, hook.session_id)) is None:
        return False
    try:
        with fs_hot.Lock(f"{hook.root}/run/worker-blocks-{session_state_hot.safe(hook.session_id)}.lock", 0.0):
            return _deliver(hook, recalled, with_blocks=True)
    except fs_hot.LockTimeoutError:
        return False


def before_tool(hook: Hook) -> None:
    """Keep memories as drafts, where the person wants that; deliver what must not wait for the next prompt."""
    if hook.settings and _is_refused(hook):
        return
    if hook.text("tool_name") in CHECKED and hook.mode == "full" and paths_hot.exists(hook.root + ENFORCED):
        bundle.load("rules")
        from memtui.hooks import refusals_hot

        if refusals_hot.refuse_breach(hook):
            return
    if not hook.is_silent():
        _deliver_due(hook)


def _deliver_due(hook: Hook) -> None:
    """Deliver what must not wait. A subagent gets nothing: no transcript proves what reached it."""
    if hook.payload.get("agent_id"):
        return
    recalled = _recalled(hook)
    is_full = hook.settings and hook.setting("subconscious") == "full"
    if is_full and _has_new_blocks(hook) and _deliver_with_blocks(hook, recalled):
        return
    if not (_is_urgent(hook) and _deliver(hook, recalled)) and recalled:
        from memtui.hooks import recall_block_hot

        recall_block_hot.deliver(hook, recalled)


def after_tool(hook: Hook) -> None:
    """Log the use of a memory file; deliver what an agent drops before a tool."""
    _log_use(hook)
    if hook.agent_name and "PreToolUse" in hook.agent.silent:
        _deliver_due(hook)


def _log_use(hook: Hook) -> None:
    action = ACTIONS.get(hook.text("tool_name"))
    # A memory tool of the client says if it did nothing; its other tools have no such answer.
    if not action or fastjson_hot.table(hook.payload, "tool_response").get("outcome", "ok") != "ok":
        return
    path = path_of(hook)
    if not path.endswith(".md"):
        return
    from memtui.client import locate_hot

    scope = locate_hot.scope_of(hook.env, hook.started_in, path)
    if scope is None:
        return
    from memtui.base import clock_hot, ids_hot
    from memtui.deliver import log_hot
    from memtui.hooks import deliver_hot

    name = path[path.rfind("/") + 1 :].removesuffix(".md")
    item: dict[str, object] = {"kind": "use", "action": action, "id": name, "scope": scope, "path": path}
    if action == "wrote":
        from memtui.store import catalog_hot

        catalog_hot.touch(hook.root, path)
    log_hot.append(hook.root, deliver_hot.record(hook, ids_hot.new_id(), "", [item], []), clock_hot.now())
    tool_input = hook.payload.get("tool_input")
    if not hook.payload.get("agent_id") and not (isinstance(tool_input, dict) and tool_input.keys() & PARTS):
        from memtui.recall import content_hot

        hook.attempt(None, content_hot.note_given, hook.root, hook.session_id, [path])
    if action == "wrote":
        from memtui.hooks import worker_start_hot

        worker_start_hot.detach(hook, "recall")
