"""Tools that are refused. A write into a memory directory becomes a draft for the person instead, with `gate = "ask"`.
A call that breaks an enforced rule of a memory is refused, with the memory as the reason, or the client asks about it.
After two refusals in a turn the same call goes through: no turn is stuck, and the person may want just that."""

from memtui.base import fastjson_hot, fs_hot
from memtui.client import locate_hot
from memtui.hooks import bundle, runner_hot
from memtui.recall import bindings_hot, places_hot
from memtui.rules import enforced_hot

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
# Refused calls in a session's state, characters shown of what breaks a rule, bytes of a file to be edited, at most.
MOST, MOST_SHOWN, MOST_BYTES = 200, 200, 1 << 20
BREAKS = "`{line}` breaks a rule of the user's memory “{name}”: {about}"
INSTEAD, WITH = " Use {other} instead.", " What has {other} needs {subject}, too."
AGAIN = " Only if the user asked for exactly this, repeat the call: after two refusals it goes through."
# How often the same call is refused in a turn.
REFUSALS = 2
LOCK_SECONDS = 0.5
TYPE_CHECKING = False
if TYPE_CHECKING:
    from memtui.recall import judge_hot


def refuse_write(hook: runner_hot.Hook, path: str) -> bool:
    """Refuse the tool if it would write a memory at `path`, which is kept as a draft; tell whether it was refused."""
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


def refuse_breach(hook: runner_hot.Hook) -> bool:
    """Refuse the tool, or have the client ask the person, if its call breaks a rule that a memory enforces; tell
    whether. After two refusals in a turn the same call goes through, and the log says so. Errors let it run."""
    broken = hook.attempt(None, _first_breach, hook)
    if broken is None:
        return False
    bundle.load("delivery")
    bundle.load("memories")
    from memtui.base import clock_hot, ids_hot
    from memtui.hooks import deliver_hot, recall_block_hot

    breach, verdict = broken
    if breach.rule.enforce == "ask" and not hook.agent.can_ask:
        return False
    if hook.attempt(True, _comes_again, hook):
        _log(hook, breach, verdict, "broke")
        return False
    action = "asked" if breach.rule.enforce == "ask" else "refused"
    verdict.reason = f"{breach.rule}: {action}"
    giving = None
    if hook.payload.get("agent_id"):  # what a subagent got the session does not have
        from memtui.recall import memory_block_hot

        blocks = memory_block_hot.blocks([verdict], deliver_hot.budget(hook), clock_hot.now())
    else:
        giving = recall_block_hot.Giving(hook)
        hook.attempt(None, lambda: giving.had().forget([verdict.hit.path]))  # it had it, and needs it once more
        blocks = giving.blocks([verdict], deliver_hot.budget(hook))
    words, decision = _words(hook, breach, verdict), "ask" if action == "asked" else "deny"
    left_out = deliver_hot.send(hook, ids_hot.new_id(), blocks, refusal=words, decision=decision)
    if giving is not None:
        giving.end(left_out)
    if not blocks:
        _log(hook, breach, verdict, action)
    return True


def _first_breach(hook: runner_hot.Hook) -> "tuple[enforced_hot.Breach, judge_hot.Verdict] | None":
    """Return what the call breaks first, and the memory that says so now; None for nothing. Raises OSError."""
    tool, tool_input = hook.text("tool_name"), hook.payload.get("tool_input")
    where = places_hot.of_session(hook.env, hook.started_in, hook.gets_native)
    listed = bindings_hot.listed(hook.root, enforced_hot.FILE)
    rows = enforced_hot.candidates(listed, where, tool, tool_input) if isinstance(tool_input, dict) else []
    if not rows or not isinstance(tool_input, dict):
        return None
    bundle.load("matching")
    from memtui.rules import match_hot

    call = match_hot.call_of(tool, tool_input, None if tool in enforced_hot.SHELLS else _text_before(tool_input))
    broken = enforced_hot.breaches(rows, call, hook.project_root)
    if not broken or hook.setting("rules") != "on":
        return None
    bundle.load("recall")
    from memtui.deliver import session_memories_hot
    from memtui.recall import content_hot, judge_hot
    from memtui.store import mutes_hot
    from memtui.store.frontmatter import subset_hot

    for breach in broken:
        due = judge_hot.bound(hook.root, [(*breach.place, "")], session_memories_hot.SessionMemories(), 1)
        if not due or due[0].failure or mutes_hot.is_muted(hook.root, *breach.place[1:]):
            continue
        try:
            stands = enforced_hot.stands(breach.rule, subset_hot.load(content_hot.head(due[0].data)[0]))
        except subset_hot.NotInSubsetError:
            stands = True  # the worker read it with another reader
        if stands:
            return breach, due[0]
    return None


def _text_before(tool_input: "dict[str, object]") -> "dict[str, object] | None":
    """Return the text of the file that is to be edited, as the client says it afterwards; None if it can't be read."""
    try:
        return {"originalFile": fs_hot.read_bytes(str(tool_input.get("file_path")), MOST_BYTES).decode()}
    except (OSError, ValueError):
        return None


def _words(hook: runner_hot.Hook, breach: "enforced_hot.Breach", verdict: "judge_hot.Verdict") -> str:
    """Say why a call is refused, for the model, or asked about, for the person; and what to do instead."""
    from memtui.recall import memory_block_hot

    rule, hit = breach.rule, verdict.hit
    about = memory_block_hot.sentence(hit.description or hit.name)
    reason = BREAKS.format(line=breach.line[:MOST_SHOWN], name=hit.name, about=about)
    if rule.other is not None:
        advice = INSTEAD if rule.relation == "instead" else WITH
        reason += advice.format(subject=rule.subject, other=str(rule.other).removesuffix(" *"))
    if rule.enforce == "ask":
        return reason
    return f"Not {'run' if hook.text('tool_name') in enforced_hot.SHELLS else 'written'}: {reason}{AGAIN}"


def _log(hook: runner_hot.Hook, breach: "enforced_hot.Breach", verdict: "judge_hot.Verdict", action: str) -> None:
    """Log what became of a call without a delivery of the memory. An error is logged instead."""
    from memtui.base import clock_hot, ids_hot
    from memtui.deliver import log_file_hot
    from memtui.hooks import deliver_hot

    hit = verdict.hit
    reason = f"{breach.rule}: {action}{', as the call came again' if action == 'broke' else ''}"
    item: dict[str, object] = {"kind": "use", "action": action, "id": hit.name, "scope": hit.scope, "path": hit.path}
    record = deliver_hot.record(hook, ids_hot.new_id(), "", [{**item, "reason": reason}], [])
    hook.attempt(None, log_file_hot.append, hook.root, record, clock_hot.now())


def _comes_again(hook: runner_hot.Hook) -> bool:
    """Note a refused call, and return whether the same one was refused REFUSALS times in this turn. Raises OSError."""
    from memtui.base import ids_hot, session_state_hot

    words = [hook.text("tool_name"), hook.payload.get("tool_input"), hook.text("agent_id")]
    mark, prompt = ids_hot.digest(fastjson_hot.dumps(words), 8), hook.text("prompt_id")
    path = f"{hook.root}/run/worker-refused-{session_state_hot.safe(hook.session_id)}.lock"
    with fs_hot.Lock(path, LOCK_SECONDS, by_process=True):
        state = session_state_hot.load_part(hook.root, hook.session_id, PART)
        calls = fastjson_hot.rows(state, "calls") if fastjson_hot.text(state, "prompt") == prompt else []
        comes_again = calls.count(mark) >= REFUSALS
        calls = [call for call in calls if call != mark] if comes_again else [*calls, mark][-MOST:]
        session_state_hot.save_part(hook.root, hook.session_id, PART, {"prompt": prompt, "calls": calls})
        return comes_again
