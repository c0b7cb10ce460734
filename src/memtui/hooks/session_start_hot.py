"""At the start of a session: deliver the index, guidance that a compaction or resume dropped, a line for the person."""

from memtui.base import clock_hot, fs_hot, ids_hot, paths_hot, session_state_hot, visible_hot
from memtui.base.session_state_hot import SessionState
from memtui.client import locate_hot
from memtui.deliver import blocks_hot, session_memories_hot
from memtui.hooks import deliver_hot, forks_hot, index_block_hot, prompt_hot, runner_hot, worker_start_hot
from memtui.hooks.user_prompt_submit_hot import reconcile_claims, without_missed
from memtui.inbox import format_hot
from memtui.settings import config_hot

TYPE_CHECKING = False
if TYPE_CHECKING:
    from memtui.hooks import recall_block_hot
    from memtui.hooks.index_block_hot import Catalogs

    Blocks = list[blocks_hot.Block]

# Sources of a start that begins with the context of an earlier session: its own, or a copy.
COPIES = {"resume", "fork"}
# A client that sends this key (2.1.330) also restores the context that hooks gave before a tool.
KEEPS = "context_tokens"
# Where a worker lists pinned memories (recall/bindings_hot.py), and the part of the budget that comes first for them.
PINNED, PINNED_SHARE = "/recall/pinned", 0.5


def handle(hook: runner_hot.Hook) -> None:
    """Deliver the index; after `compact` and `resume` only what was dropped. A subagent has its session's context."""
    if hook.payload.get("agent_id"):
        return
    source = hook.text("source")
    if hook.is_silent():
        _leave_to_prompt(hook, source)
        return
    state = _state(hook, source)
    if state is None:
        return
    before: dict[str, object] = {}
    if source in COPIES and not state.is_new:
        index = session_state_hot.load_part(hook.root, hook.session_id, "index")
        before = {"tool": state.tool, "dirs": state.dirs, "index": index}
    state.started = state.started or clock_hot.iso(clock_hot.now())
    state.cwd, state.transcript = hook.text("cwd"), hook.text("transcript_path")
    state.project, state.project_root, state.mode = hook.slug, hook.project_root, hook.mode
    if any(paths_hot.names_in(directory + "/claimed") for _, directory in hook.inboxes()):
        reconcile_claims(hook)
    hook.attempt(None, _forget_given, hook, source)
    blocks: Blocks = []
    catalogs: Catalogs = []
    # Whatever fails, the person still gets the banner, and the guidance still comes with the prompt.
    hook.attempt(None, _add_dropped, hook, source, state, blocks)
    pinned = hook.attempt(None, _add_pinned, hook, blocks) if paths_hot.exists(hook.root + PINNED) else None
    if hook.mode == "full":
        hook.attempt(None, _add_index, hook, source, state, catalogs, blocks)
    if hook.settings and hook.setting("subconscious") == "full":
        from memtui.hooks import model_blocks_hot

        if source not in COPIES:
            state.blocks = {}  # a context that has them already gets what changed since
        elif KEEPS not in hook.payload:
            model_blocks_hot.forget_before_tool(state)
        blocks += hook.attempt([], model_blocks_hot.blocks, hook, state)
    untrusted = 0 if state.told_untrusted else sum(memories.untrusted for _, memories in catalogs)
    state.told_untrusted = state.told_untrusted or untrusted > 0
    message = _message(hook, source, catalogs, untrusted)
    delivery_id = ids_hot.new_id()
    if blocks and before:
        before["delivery"] = delivery_id
    hook.attempt(None, forks_hot.note_session, hook, before if blocks else {})
    left_out = deliver_hot.send(hook, delivery_id, blocks + (pinned[1] if pinned else []), message=message)
    if pinned:
        pinned[0].end(left_out)
    prompt_hot.end(hook, state, left_out)
    _catch_up(hook, catalogs)


def _leave_to_prompt(hook: runner_hot.Hook, source: str) -> None:
    """Have the next prompt bring what this start would, if the context is new; see to the indexes. Raises OSError."""
    state = session_state_hot.load(hook.root, hook.session_id)
    if source not in COPIES and not state.is_new:
        state.started, state.compacting = "", state.compacting or source
        state.save()
    _catch_up(hook, [])


def _forget_given(hook: runner_hot.Hook, source: str) -> None:
    """Forget which memories the session was given that its context does not have any more. Raises OSError."""
    if source not in COPIES:
        for part in (session_memories_hot.PART, "select", "selected"):
            fs_hot.unlink(session_state_hot.path(hook.root, hook.session_id, part))
    elif KEEPS not in hook.payload:
        had = session_memories_hot.SessionMemories(hook.root, hook.session_id)
        had.forget(list(had.tool))


def _catch_up(hook: runner_hot.Hook, catalogs: "Catalogs") -> None:
    """Start a worker for what there was no time for, and for the indexes of memories. Must be called last."""
    tasks = ["catalog"] if any(memories.unready for _, memories in catalogs) else []
    own = paths_hot.names_in(locate_hot.auto_dir(hook.env, hook.started_in))
    has_memories = any(memories.count for _, memories in catalogs) or any(map(locate_hot.is_memory_name, own))
    if hook.mode == "full" and has_memories:
        tasks.append("recall")
    is_shown = not hook.settings or config_hot.value(hook.settings, hook.project_root, "gate") != "off"
    if is_shown and not fs_hot.stamp(f"{hook.root}/run/looked-{hook.slug}"):
        # What is there counts as seen; what changes from now on does not.
        tasks.append("versions")
    if tasks:
        worker_start_hot.detach(hook, *tasks)


def _state(hook: runner_hot.Hook, source: str) -> "SessionState | None":
    """Return the session's state at this start, or its parent's; None if that can't be copied."""
    state = session_state_hot.load(hook.root, hook.session_id)
    if state.is_new and source in COPIES:
        copied = hook.attempt(None, forks_hot.state_at_start, hook)
        if copied is None:
            return None
        state = copied
    elif source == "resume" and hook.agent_name:
        from memtui.inbox import redelivery_hot

        path = hook.text("transcript_path")
        hook.attempt(None, redelivery_hot.note_cut, hook.agent, hook.root, hook.session_id, path)
    state = without_missed(hook, state)
    if source in {*COPIES, "compact"}:
        return state
    empty = {"started": state.started, "told_untrusted": state.told_untrusted}
    return SessionState(hook.root, hook.session_id, empty)


def _add_dropped(hook: runner_hot.Hook, source: str, state: SessionState, blocks: "Blocks") -> None:
    """Add the guidance and the lists that a compaction or a resume dropped from the context."""
    if source == "compact":
        if hook.event == "SessionStart":  # else the prompt that brings it begins a turn
            prompt_hot.begin_turn(hook, state)
        # A long turn may be compacted again.
        state.turn = state.turn if state.compacting != "manual" else []
        blocks += _again(hook, state.turn, "the compaction")
        state.tool = []
        state.updates, state.stamps, state.telling = {}, {}, ""
        if hook.mode == "full" and state.prompted:
            _add_lists(hook, state, blocks)
    elif source in COPIES and KEEPS not in hook.payload:
        blocks += _again(hook, state.tool, "the resume")
        state.tool = []


def _add_pinned(hook: runner_hot.Hook, blocks: "Blocks") -> "tuple[recall_block_hot.Giving, Blocks] | None":
    """Add the texts of pinned memories that the session lacks; return what notes that, and those with no room."""
    if hook.mode != "full":
        return None
    from memtui.hooks import recall_block_hot
    from memtui.recall import bindings_hot, judge_hot, places_hot

    rows = bindings_hot.pinned(hook.root, places_hot.of_session(hook.env, hook.started_in, hook.gets_native))
    giving = recall_block_hot.Giving(hook)
    chosen = judge_hot.bound(hook.root, rows, giving.had(), len(rows))
    budget = deliver_hot.budget(hook)
    first = giving.blocks(chosen, int(budget * PINNED_SHARE))
    last = giving.blocks(chosen, budget * len(chosen)) if len(first) < len(chosen) else []
    for part in [part for block in first + last for part in block.parts]:
        part.item["kind"] = "memory"  # no prompt recalled it
        del part.item["probability"]
    blocks += first
    return giving, last


def _add_lists(hook: runner_hot.Hook, state: SessionState, blocks: "Blocks") -> None:
    """Add the blocks of all pending updates and items, as for a new session; none if no state can be saved."""
    stamps: dict[str, object] = {scope: fs_hot.stamp(path + "/pending-updates.md") for scope, path in hook.inboxes()}
    state.prompted, state.telling = False, "a compaction"
    if any([*stamps.values(), *[fs_hot.stamp(path + "/pending-items.md") for _, path in hook.inboxes()]]):
        state.save()
    prompt_hot.add_inbox_lists(hook, state, stamps, blocks)
    state.prompted = True


def _add_index(hook: runner_hot.Hook, source: str, state: SessionState, catalogs: "Catalogs", blocks: "Blocks") -> None:
    """Add to `blocks` the index of the memories, or only what changed since the last, and to `catalogs` these."""
    memories = index_block_hot.sources(hook)
    catalogs += memories
    if source in COPIES and (state.dirs or forks_hot.has_index(hook.text("transcript_path"))):
        blocks += index_block_hot.changes(hook, memories, state) if state.dirs else []
        index_block_hot.note_known(hook, memories, state)
    else:
        blocks += index_block_hot.whole(hook, memories, state)


def _message(hook: runner_hot.Hook, source: str, catalogs: "Catalogs", untrusted: int) -> str:
    """Return the line for the person. `untrusted`: how many of the project's memories are therefore not delivered."""
    counts = [(scope, memories.count) for scope, memories in catalogs]
    words: list[str] = []
    if source != "compact":
        words = hook.attempt(words, banner, hook, counts)
    if untrusted:
        places = " and ".join([visible_hot.clean(memories.directory) for _, memories in catalogs if memories.untrusted])
        words.append(f"{untrusted} in {places} not trusted, not delivered: run `memtui trust`")
    return visible_hot.clean(visible_hot.one_line(" · ".join(words)))


def _again(hook: runner_hot.Hook, notes: "list[object]", lost: str) -> "list[blocks_hot.Block]":
    """Return blocks that repeat guidance that the session was given before; `lost` says what dropped it."""
    blocks: list[blocks_hot.Block] = []
    none: list[tuple[format_hot.Entry, str]] = []
    directories = dict(hook.inboxes())
    for note in notes:
        if isinstance(note, list) and len(note) == 2 and note[0] in directories:
            from memtui.inbox import claims_hot, note_block_hot

            directory, entries = directories[note[0]], format_hot.parse(str(note[1]))
            # What did not arrive is back in its inbox, and comes from there.
            due = hook.attempt(none, claims_hot.peek, directory, deliver_hot.recipient(hook))
            waiting = {entry.id for entry, _ in due}
            blocks += [note_block_hot.again(directory, entry, lost) for entry in entries if entry.id not in waiting]
    return blocks


def banner(hook: runner_hot.Hook, counts: "list[tuple[str, int]]") -> "list[str]":
    """Return the line for the person in parts: the mode unless full, memories, what waits. Empty if it is off."""
    if not config_hot.value(hook.settings, hook.project_root, "banner"):
        return []
    words = []
    total = sum(number for _, number in counts)
    # Without any, nothing is said of memories: there may be some that the client loads itself, and a look takes time.
    if total:
        counted = ", ".join([f"{number} {scope}" for scope, number in counts])
        words.append(f"{counted} {'memory' if total == 1 else 'memories'}")
    if hook.settings and hook.setting("subconscious") != "off":
        words.append(_subconscious_words(hook))
    waiting, now = [], clock_hot.now()
    for kind, word in (("guidance", "note"), ("updates", "draft"), ("items", "todo")):
        number = 0
        for _, directory in hook.inboxes():
            try:
                entries = format_hot.read(f"{directory}/{format_hot.FILES[kind]}", items=kind == "items")
            except OSError:
                continue
            if kind == "guidance" and entries:
                from memtui.inbox import claims_hot

                entries = [entry for entry in entries if claims_hot.may_get(entry, deliver_hot.recipient(hook))]
            number += len([e for e in entries if kind != "updates" or not (e.snoozed(now) or e.one_off())])
        if number:
            waiting.append(f"{number} {word}{'' if number == 1 else 's'}")
    words.append((", ".join(waiting) or "nothing") + " waiting")
    for _, directory in hook.inboxes():
        too_long = [path for file in format_hot.FILES.values() if format_hot.is_too_long(path := f"{directory}/{file}")]
        words += [f"{path} is larger than 1 MB, so nothing in it is read" for path in too_long]
    if "error" in hook.settings:
        words.append(f"config.toml can't be read, the last good settings are in use: {hook.settings['error']}")
    mode = "" if hook.mode == "full" else f" ({hook.mode})"
    return [f"memtui{mode}: {words[0]}", *words[1:]]


def _subconscious_words(hook: runner_hot.Hook) -> str:
    mode = str(hook.setting("subconscious"))
    if paths_hot.exists(hook.root + "/subconscious/stopped"):
        return f"subconscious {mode}, stopped by you"
    return f"subconscious {mode}" + (", but llm_backend is off" if hook.setting("llm_backend") == "off" else "")
