"""Before a prompt: deliver guidance, new pending updates and items, and changes among the memories.

With most prompts nothing is due. A few `stat` calls find that out, before anything else is imported."""

import posix

from memtui.base import fs_hot, paths_hot, session_state_hot
from memtui.base.session_state_hot import SessionState
from memtui.hooks import bundle
from memtui.hooks.runner_hot import Hook

TYPE_CHECKING = False
if TYPE_CHECKING:
    from memtui.recall import bindings_hot, judge_hot

# A prompt of fewer characters has too few words to recall anything (recall/own_words_hot.py).
SHORTEST = 5
# What addresses the subconscious.
MENTION = "@memtui"
# How long a hook waits for the lock of an inbox, to reconcile the claims of earlier hooks.
RECONCILE_SECONDS = 0.05


def without_missed(hook: Hook, state: SessionState) -> SessionState:
    """Return the state without the deliveries that the worker noted as not arrived; unchanged if that fails."""
    if fs_hot.stamp(session_state_hot.path(hook.root, hook.session_id, "missed")):
        from memtui.inbox import redelivery_hot

        hook.attempt(None, redelivery_hot.take_back, hook.root, state)
    return state


def handle(hook: Hook) -> None:
    """Deliver what is due with this prompt, and have a question in it answered. A subagent's prompt gets nothing."""
    if hook.payload.get("agent_id"):
        return
    _deliver(hook)
    if hook.settings and hook.setting("subconscious") != "off" and MENTION in hook.text("prompt").lower():
        from memtui.hooks import worker_start_hot

        worker_start_hot.detach(hook, "subconscious")


def _deliver(hook: Hook) -> None:
    state = session_state_hot.load(hook.root, hook.session_id)
    if state.is_new and (copy := forked(hook)):
        state = copy
        hook.attempt(None, state.save)  # its parent goes on, and is told what this session is not
    state = without_missed(hook, state)
    notes, stamps, changed = _look(hook, state)
    recalled: judge_hot.Recalled | None = None
    selected: list[bindings_hot.Bound] = []
    may_recall = _may_recall(hook)
    if may_recall:
        bundle.load("recall")
    if hook.settings and hook.setting("recall_select"):
        from memtui.hooks import model_blocks_hot

        selected = hook.attempt([], model_blocks_hot.begin_prompt, hook)
    if selected or may_recall:
        from memtui.hooks import recall_block_hot

        recalled = hook.attempt(None, recall_block_hot.find, hook, selected)
    if fs_hot.stamp(session_state_hot.path(hook.root, hook.session_id, "tell")):
        recalled = _with_breaks(hook, recalled)
    if notes or stamps is not None or changed:
        bundle.load("notes")
        from memtui.hooks import prompt_hot

        prompt_hot.deliver_prompt(hook, state, notes, stamps, changed, recalled)
        return
    if recalled is not None:
        from memtui.hooks import recall_block_hot

        recall_block_hot.deliver(hook, recalled.injected())
    if not state.prompted or (state.turn and not hook.text("prompt_id")):
        if not hook.text("prompt_id"):
            state.turn = []  # with a client that sends no prompt id, each prompt begins a turn
        state.prompted = True
        state.save()


def _with_breaks(hook: Hook, recalled: "judge_hot.Recalled | None") -> "judge_hot.Recalled | None":
    """Return what is recalled behind the memories whose rules the session just broke."""
    bundle.load("recall")
    from memtui.hooks import recall_block_hot
    from memtui.recall import judge_hot

    verdicts: list[judge_hot.Verdict] = hook.attempt([], recall_block_hot.of_breaks, hook)
    paths = [verdict.hit.path for verdict in verdicts]
    verdicts += [verdict for verdict in recalled.verdicts if verdict.hit.path not in paths] if recalled else []
    return judge_hot.Recalled("", "", verdicts) if verdicts else None


def _look(hook: Hook, state: SessionState) -> "tuple[bool, dict[str, object] | None, list[str]]":
    """Reconcile the session's claims; find out whether there are notes, stamps of updates, changed memories."""
    notes = lists = unsettled = False
    stamps: dict[str, object] = {}
    for scope, directory in hook.inboxes():
        if fs_hot.stamp(directory + "/guidance.md"):
            notes = True
        if hook.mode == "full":
            stamps[scope] = fs_hot.stamp(directory + "/pending-updates.md")
            if stamps[scope] != state.stamps.get(scope, 0):
                lists = True
        if (state.waiting or not state.prompted) and fs_hot.stamp(directory + "/pending-items.md"):
            lists = True
        for name in paths_hot.names_in(directory + "/claimed"):
            unsettled = unsettled or hook.session_id in name
    if unsettled:
        reconcile_claims(hook, hook.session_id)
        notes = notes or any(fs_hot.stamp(directory + "/guidance.md") for _, directory in hook.inboxes())
    changed = [path for path, stamp in state.dirs.items() if fs_hot.stamp(path) != stamp]
    if hook.settings and not lists and hook.setting("subconscious") == "full":
        from memtui.hooks import model_blocks_hot

        lists = model_blocks_hot.changed(hook, state) is not None
    return notes, stamps if lists else None, changed


def _may_recall(hook: Hook) -> bool:
    """Tell whether this prompt may recall memories: the person wants it, and there is an index. Costs one `stat`."""
    if hook.mode != "full" or (hook.settings and hook.setting("recall") == "off"):
        return False
    return len(hook.text("prompt")) >= SHORTEST and paths_hot.exists(hook.root + "/recall")


def reconcile_claims(hook: Hook, session_id: str = "") -> None:
    """Put back guidance that earlier hooks claimed, for one session or for all, and that did not arrive."""
    bundle.load("settling")
    from memtui.inbox import reconciliation_hot

    how = {"wait": RECONCILE_SECONDS, "limit": reconciliation_hot.HOOK_BYTES}
    directories = [directory for _, directory in hook.inboxes()]
    hook.attempt(None, reconciliation_hot.reconcile, hook.env, hook.root, session_id, directories, **how)


def forked(hook: Hook) -> "SessionState | None":
    """Return the state of a copy whose start told of its parent, or was killed; None if this is none."""
    for path in (f"{hook.root}/run/client-{posix.getppid()}", hook.text("transcript_path")):
        if paths_hot.exists(path):
            from memtui.hooks import forks_hot

            return forks_hot.state_at_prompt(hook)
    return None
