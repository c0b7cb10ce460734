"""Tools that are refused. A write into a memory directory becomes a draft for the person instead, with `gate = "ask"`.
A command that a memory forbids is refused once a session, with the memory as the reason; the same command again goes
through: the person may want just that."""

from memtui.base import fastjson, fs, session_state
from memtui.client import locate
from memtui.deliver import session_memories
from memtui.hooks import bundle, runner
from memtui.recall import bindings, places

INDEX = "/MEMORY.md"
NOT_WRITTEN = (
    'Not written: memtui keeps this memory as a draft until the user approves it (gate = "ask" in its settings).'
    " The work can go on without it."
)
NO_LINE_WRITTEN = (
    'Not written: memtui adds a memory\'s line to MEMORY.md when the user approves the memory (gate = "ask" in its'
    " settings). The work can go on without it."
)
PART = "refused"
# Refused commands that a session's state holds, at most.
MOST = 200
REASON = (
    "Not run: the user's memory “{name}” forbids `{command}`: {about} If the user asked for exactly this command, run"
    " it again: memtui refuses it once a session."
)
LOCK_SECONDS = 0.5

TYPE_CHECKING = False
if TYPE_CHECKING:
    from memtui.recall import judge


def refuse_write(hook: runner.Hook, path: str) -> bool:
    """Refuse the tool if it would write a memory at `path`, once the memory is kept as a draft; tell whether it was
    refused. An edit that the client will refuse itself is left to it."""
    is_index = path.endswith(INDEX)
    memory = path.removesuffix(INDEX) + "/x.md" if is_index else path
    if locate.scope_of(hook.env, hook.started_in, memory) is None:
        return False
    if not is_index:
        # Finding secrets takes modules that a hook does without; this is rare, and what is refused must not get lost.
        from memtui.worker import gate_drafts

        tool = hook.text("tool_name")
        if not gate_drafts.keep(hook.env, hook.started_in, hook.session_id, path, tool, hook.payload):
            return False
    runner.reply(hook, "", refusal=NO_LINE_WRITTEN if is_index else NOT_WRITTEN)
    return True


def refuse_command(hook: runner.Hook) -> bool:
    """Refuse the tool if a memory forbids its command, once a session; tell whether it was. Errors let it run."""
    verdict = hook.attempt(None, _found, hook)
    if verdict is None:
        return False
    bundle.load("delivery")
    bundle.load("memories")
    from memtui.base import clock, ids
    from memtui.hooks import deliver, recall_block
    from memtui.recall import memory_block

    command, verdict.reason = verdict.reason, f"it forbids `{verdict.reason}`: refused"
    about = memory_block.sentence(verdict.hit.description or verdict.hit.name)
    reason = REASON.format(name=verdict.hit.name, command=command, about=about)
    if hook.payload.get("agent_id"):  # what a subagent got the session does not have
        blocks = memory_block.blocks([verdict], deliver.budget(hook), clock.now())
        deliver.send(hook, ids.new_id(), blocks, refusal=reason)
        return True
    giving = recall_block.Giving(hook)
    hook.attempt(None, lambda: giving.had().forget([verdict.hit.path]))  # it had it, and needs it once more
    blocks = giving.blocks([verdict], deliver.budget(hook))
    giving.end(deliver.send(hook, ids.new_id(), blocks, refusal=reason))
    return True


def _found(hook: runner.Hook) -> "judge.Verdict | None":
    """Return the memory that forbids the command, with that as its reason; None for none. Raises OSError."""
    tool_input = hook.payload.get("tool_input")
    line = tool_input.get("command") if isinstance(tool_input, dict) else None
    if not isinstance(line, str):
        return None
    matching = bindings.of_command(hook.root, places.of_session(hook.env, hook.started_in), line)
    if not matching:
        return None
    bundle.load("recall")
    from memtui.base import ids
    from memtui.recall import judge

    due = judge.bound(hook.root, matching, session_memories.SessionMemories(), 1)
    return due[0] if due and _is_first(hook, ids.digest(line, 8)) else None


def _is_first(hook: runner.Hook, mark: str) -> bool:
    """Note a command by its hash, and return whether it was not noted for this session before. Raises OSError."""
    path = f"{hook.root}/run/worker-refused-{session_state.safe(hook.session_id)}.lock"
    with fs.Lock(path, LOCK_SECONDS, by_process=True):
        before = fastjson.rows(session_state.load_part(hook.root, hook.session_id, PART), "commands")
        if mark not in before:
            commands = [*before, mark][-MOST:]
            session_state.save_part(hook.root, hook.session_id, PART, {"commands": commands})
        return mark not in before
