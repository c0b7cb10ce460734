"""Before a prompt: deliver guidance, new pending updates and items, and changes among the memories.

With most prompts nothing is due. A few `stat` calls find that out, before anything else is imported."""

import posix

from memtui.base import fastjson, fs, paths, session_state
from memtui.hooks import bundle
from memtui.hooks.runner import Hook

TYPE_CHECKING = False
if TYPE_CHECKING:
    from memtui.recall import judge

# A prompt of fewer characters has too few words to recall anything (recall/own_words.py).
SHORTEST = 5
# How long a hook waits for the lock of an inbox, to reconcile the claims of earlier hooks.
RECONCILE_SECONDS = 0.05


def without_missed(hook: Hook, state: "dict[str, object]") -> "dict[str, object]":
    """Return the state without the deliveries that the worker noted as not arrived; unchanged if that fails."""
    if not fs.stamp(session_state.path(hook.root, hook.session_id, "missed")):
        return state
    from memtui.inbox import redelivery

    return hook.attempt(state, redelivery.take_back, hook.root, hook.session_id, state)


def handle(hook: Hook) -> None:
    """Deliver what is due with this prompt. A subagent's prompt gets nothing: its session has it already."""
    if hook.payload.get("agent_id"):
        return
    state = session_state.load(hook.root, hook.session_id) or _forked(hook)
    if state.get("uncopied"):
        from memtui.hooks import forks

        state = forks.state_at_late_prompt(hook, state)
    state = without_missed(hook, state)
    first = not state.get("prompted")
    stamps = fastjson.table(state, "stamps")
    now: dict[str, object] = {}
    due = unsettled = False
    for scope, directory in hook.inboxes():
        if fs.stamp(directory + "/guidance.md"):
            due = True
        if hook.mode == "full":
            now[scope] = fs.stamp(directory + "/pending-updates.md")
            if now[scope] != stamps.get(scope, 0):
                due = True
        if (first or state.get("waiting")) and fs.stamp(directory + "/pending-items.md"):
            due = True
        for name in paths.names_in(directory + "/claimed"):
            unsettled = unsettled or hook.session_id in name
    if unsettled:
        reconcile_claims(hook, hook.session_id)
        due = due or any(fs.stamp(directory + "/guidance.md") for _, directory in hook.inboxes())
    changed = [d for d, stamp in fastjson.table(state, "dirs").items() if fs.stamp(d) != stamp]
    recalled: judge.Recalled | None = None
    if _may_recall(hook):
        bundle.load("recall")
        from memtui.hooks import recall_block

        if hook.settings and hook.setting("recall_select"):
            from memtui.hooks import selection_block

            hook.attempt(None, selection_block.start, hook)
        recalled = hook.attempt(None, recall_block.find, hook)
    if hook.settings and not due and hook.setting("subconscious") == "full":
        from memtui.hooks import subconscious_block

        due = subconscious_block.changed(hook, state) is not None
    if due or changed:
        from memtui.hooks import prompt

        prompt.deliver_prompt(hook, state, now, changed, recalled)
        return
    if recalled is not None:
        recall_block.deliver(hook, recalled.injected())
    if first or (state.get("turn") and not hook.text("prompt_id")):
        # With a client that sends no prompt id, each prompt begins a turn.
        ended: dict[str, object] = {} if hook.text("prompt_id") else {"turn": []}
        session_state.save(hook.root, hook.session_id, {**state, "prompted": True, "stamps": now, **ended})


def _may_recall(hook: Hook) -> bool:
    """Tell whether this prompt may recall memories: the person wants it, and there is an index. Costs one `stat`."""
    if hook.mode != "full" or (hook.settings and not hook.setting("recall")):
        return False
    return len(hook.text("prompt")) >= SHORTEST and paths.exists(hook.root + "/recall")


def reconcile_claims(hook: Hook, session_id: str = "") -> None:
    """Put back guidance that earlier hooks claimed, for one session or for all, and that did not arrive."""
    bundle.load("settling")
    from memtui.inbox import reconciliation

    how = {"wait": RECONCILE_SECONDS, "limit": reconciliation.HOOK_BYTES}
    directories = [directory for _, directory in hook.inboxes()]
    hook.attempt(None, reconciliation.reconcile, hook.env, hook.root, session_id, directories, **how)


def _forked(hook: Hook) -> "dict[str, object]":
    """Return the state of a copy whose start told of its parent, or was killed; `{}` if this is none."""
    for path in (f"{hook.root}/run/client-{posix.getppid()}", hook.text("transcript_path")):
        if paths.exists(path):
            from memtui.hooks import forks

            return forks.state_at_prompt(hook)
    return {}
