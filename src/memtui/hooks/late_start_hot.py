"""Before a prompt of an agent that drops what is said at a session's start: the first prompt's answer brings it."""

from memtui.base import fastjson_hot, session_state_hot
from memtui.hooks import runner_hot, user_prompt_submit_hot

# Has the agent note what the person typed, where it does so only beside a hook's text.
NOTHING = " "


def handle(hook: runner_hot.Hook) -> None:
    """Do what a start and a prompt do, if the session's context has nothing of memtui's; else what a prompt does."""
    is_rewritten = bool(hook.payload.get("rewritten"))
    hook.answers = [] if is_rewritten else None
    try:
        if not hook.payload.get("agent_id"):
            _begin(hook)
        user_prompt_submit_hot.handle(hook)
    finally:
        answers, hook.answers = hook.answers, None
        if answers is not None:
            contexts = [context for context, _ in answers if context] or [NOTHING] * is_rewritten
            messages = [message for _, message in answers if message]
            runner_hot.reply(hook, "\n".join(contexts), " · ".join(messages))


def _begin(hook: runner_hot.Hook) -> None:
    state = session_state_hot.load(hook.root, hook.session_id)
    if state.started and not _lost_index(hook):
        return
    copy = hook.attempt(None, user_prompt_submit_hot.forked, hook) if state.is_new else None
    if copy:
        hook.attempt(None, copy.save)
        return
    from memtui.hooks import session_start_hot

    hook.answers = []
    # A start that no disk took is none that a compaction dropped.
    hook.payload = {**hook.payload, "source": "compact" if state.compacting or state.started else "startup"}
    hook.attempt(None, session_start_hot.handle, hook)


def _lost_index(hook: runner_hot.Hook) -> bool:
    if not hook.payload.get("lost_index"):
        return False
    lines = fastjson_hot.table(session_state_hot.load_part(hook.root, hook.session_id, "index"), "lines")
    return any(lines.values())
