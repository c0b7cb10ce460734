"""Tools that are refused. A write into a memory directory becomes a draft for the person instead, with `gate = "ask"`.
A command that a memory forbids is refused once a session, with the memory as the reason; the same command again goes
through: the person may want just that."""

from memtui.base import fastjson_hot, fs_hot, session_state_hot
from memtui.client import locate_hot
from memtui.deliver import session_memories_hot
from memtui.hooks import bundle, runner_hot
from memtui.recall import bindings_hot, places_hot

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
    from memtui.recall import judge_hot


def refuse_write(hook: runner_hot.Hook, path: str) -> bool:
    """Refuse the tool if it would write a memory at `path`, once the memory is kept as a draft; tell whether it was
    refused. An edit that the client will refuse itself is left to it."""
    is_index = path.endswith(INDEX)
    memory = path.removesuffix(INDEX) + "/x.md" if is_index else path
    if locate_hot.scope_of(hook.env, hook.started_in, memory) is None:
        return False
    if not is_index:
        # Finding secrets takes modules that a hook does without; this is rare, and what is refused must not get lost.
        from memtui.worker import gate_drafts

        tool = hook.text("tool_name")
        if not gate_drafts.keep(hook.env, hook.started_in, hook.session_id, path, tool, hook.payload):
            return False
    runner_hot.reply(hook, "", refusal=NO_LINE_WRITTEN if is_index else NOT_WRITTEN)
    return True


def refuse_command(hook: runner_hot.Hook) -> bool:
    """Refuse the tool if a memory forbids its command, once a session; tell whether it was. Errors let it run."""
    verdict = hook.attempt(None, _found, hook)
    if verdict is None:
        return False
    bundle.load("delivery")
    bundle.load("memories")
    from memtui.base import clock_hot, ids_hot
    from memtui.hooks import deliver_hot, recall_block_hot
    from memtui.recall import memory_block_hot

    command, verdict.reason = verdict.reason, f"it forbids `{verdict.reason}`: refused"
    about = memory_block_hot.sentence(verdict.hit.description or verdict.hit.name)
    reason = REASON.format(name=verdict.hit.name, command=command, about=about)
    if hook.payload.get("agent_id"):  # what a subagent got the session does not have
        blocks = memory_block_hot.blocks([verdict], deliver_hot.budget(hook), clock_hot.now())
        deliver_hot.send(hook, ids_hot.new_id(), blocks, refusal=reason)
        return True
    giving = recall_block_hot.Giving(hook)
    hook.attempt(None, lambda: giving.had().forget([verdict.hit.path]))  # it had it, and needs it once more
    blocks = giving.blocks([verdict], deliver_hot.budget(hook))
    giving.end(deliver_hot.send(hook, ids_hot.new_id(), blocks, refusal=reason))
    return True


def _found(hook: runner_hot.Hook) -> "judge_hot.Verdict | None":
    """Return the memory that forbids the command, with that as its reason; None for none. Raises OSError."""
    tool_input = hook.payload.get("tool_input")
    line = tool_input.get("command") if isinstance(tool_input, dict) else None
    if not isinstance(line, str):
        return None
    matching = bindings_hot.of_command(hook.root, places_hot.of_session(hook.env, hook.started_in), line)
    if not matching:
        return None
    bundle.load("recall")
    from memtui.base import ids_hot
    from memtui.recall import judge_hot

    due = judge_hot.bound(hook.root, matching, session_memories_hot.SessionMemories(), 1)
    is_due = bool(due) and not due[0].failure and _says(due[0])
    return due[0] if is_due and _is_first(hook, ids_hot.digest(line, 8)) else None


def _says(verdict: "judge_hot.Verdict") -> bool:
    """Tell whether a memory still forbids the command: what a worker listed may be older than the file."""
    from memtui.recall import content_hot
    from memtui.rules import rule_hot
    from memtui.store.frontmatter import subset_hot

    try:
        fields = subset_hot.load(content_hot.head(verdict.data)[0])
    except subset_hot.NotInSubsetError:
        return True
    command = " * ".join(verdict.reason.split()) + " *"
    return any(rule.subject.command == command for rule in rule_hot.parse_all(fields)[0])


def _is_first(hook: runner_hot.Hook, mark: str) -> bool:
    """Note a command by its hash, and return whether it was not noted for this session before. Raises OSError."""
    path = f"{hook.root}/run/worker-refused-{session_state_hot.safe(hook.session_id)}.lock"
    with fs_hot.Lock(path, LOCK_SECONDS, by_process=True):
        before = fastjson_hot.rows(session_state_hot.load_part(hook.root, hook.session_id, PART), "commands")
        if mark not in before:
            commands = [*before, mark][-MOST:]
            session_state_hot.save_part(hook.root, hook.session_id, PART, {"commands": commands})
        return mark not in before
