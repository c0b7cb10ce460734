"""The gate before memories: with `gate = "ask"` a write of the agent into a memory directory is refused, and becomes a
draft for the person instead."""

from memtui.hooks import runner, tool_file

WRITES = ("Write", "Edit", "MultiEdit", "memory_write")
INDEX = "/MEMORY.md"
REASON = (
    'Not written: memtui keeps this memory as a draft until the user approves it (gate = "ask" in its settings).'
    " The work can go on without it."
)
REASON_INDEX = (
    'Not written: memtui adds a memory\'s line to MEMORY.md when the user approves the memory (gate = "ask" in its'
    " settings). The work can go on without it."
)


def refuse(hook: runner.Hook) -> bool:
    """Refuse the tool if it would write a memory, once the memory is kept as a draft; tell whether it was refused. An
    edit that the client will refuse itself is left to it."""
    path = tool_file.path_of(hook) if hook.text("tool_name") in WRITES else ""
    if not path.endswith(".md"):
        return False
    from memtui.client import locate

    if path.endswith(INDEX):
        if locate.scope_of(hook.env, hook.started_in, path.removesuffix(INDEX) + "/x.md") is None:
            return False
        runner.reply(hook, "", refusal=REASON_INDEX)
        return True
    if locate.scope_of(hook.env, hook.started_in, path) is None:
        return False
    # Finding secrets takes modules that a hook does without; this is rare, and what is refused must not get lost.
    from memtui.worker import gate_drafts

    if not gate_drafts.keep(hook.env, hook.started_in, hook.session_id, path, hook.text("tool_name"), hook.payload):
        return False
    runner.reply(hook, "", refusal=REASON)
    return True
