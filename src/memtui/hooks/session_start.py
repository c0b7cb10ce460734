"""At the start of a session: deliver the index of its memories, guidance that a compaction or a resume dropped, and a
line for the person."""

import posix

from memtui.base import clock, fastjson, fs, ids, paths, session_state, visible
from memtui.client import locate
from memtui.deliver import blocks as delivery_blocks
from memtui.deliver import session_memories
from memtui.hooks import deliver, detach, forks, index_block, prompt, runner
from memtui.hooks.user_prompt_submit import reconcile_claims, without_missed
from memtui.inbox import format as inbox_format
from memtui.settings import config
from memtui.store import catalog

# Sources of a start that begins with the context of an earlier session: its own, or a copy.
COPIES = {"resume", "fork"}
# What the start of a copy says of its parent's last answer.
ANSWER = ("seconds_since_last_response", "context_tokens")
# A client that sends this key (2.1.330) also restores the context that hooks gave before a tool.
KEEPS = "context_tokens"


def handle(hook: runner.Hook) -> None:
    """Deliver the index; after `compact` and `resume` only what was dropped. A subagent has its session's context."""
    if hook.payload.get("agent_id"):
        return
    source = hook.text("source")
    late = {key: hook.payload.get(key) for key in ANSWER} | {"at": clock.now()}
    old, index, copied = _known(hook, source)
    after: dict[str, object] = dict(old) if source in {*COPIES, "compact"} else {}
    if not copied:
        after["uncopied"] = late  # the next prompt copies what there was no time for
    after |= {
        "started": old.get("started") or clock.iso(clock.now()),
        "cwd": hook.text("cwd"),
        "project": hook.slug,
        "project_root": hook.project_root,
        "transcript": hook.text("transcript_path"),
        "mode": hook.mode,
    }
    if any(paths.names_in(directory + "/claimed") for _, directory in hook.inboxes()):
        reconcile_claims(hook)
    hook.attempt(None, _forget_given, hook, source)
    blocks: list[delivery_blocks.Block] = []
    catalogs: list[tuple[str, catalog.Catalog]] = []
    # Whatever fails, the person still gets the banner, and the guidance still comes with the prompt.
    hook.attempt(None, _dropped, hook, source, old, after, blocks)
    if hook.mode == "full":
        hook.attempt(None, _index, hook, source, old, after, catalogs, blocks)
    if hook.settings and hook.setting("subconscious") == "full":
        from memtui.hooks import subconscious_block

        # A context that has them already gets what changed since.
        lines_before = old if source in COPIES else {}
        blocks += hook.attempt([], subconscious_block.blocks, hook, lines_before, after)
    untrusted = 0 if old.get("told_untrusted") else sum(memories.untrusted for _, memories in catalogs)
    message = _message(hook, source, catalogs, untrusted)
    if untrusted:
        after["told_untrusted"] = True
    delivery_id = ids.new_id()
    hook.attempt(None, forks.note_session, hook, delivery_id if blocks else "", old, index)
    left_out = deliver.send(hook, delivery_id, blocks, [], message)
    prompt.forget(after, left_out)
    if "lines" in after:
        index_block.save_known(hook, after)
    session_state.save(hook.root, hook.session_id, after)
    _catch_up(hook, catalogs)


def _forget_given(hook: runner.Hook, source: str) -> None:
    """Forget which memories the session was given that its context does not have any more. Raises OSError."""
    if source not in COPIES:
        fs.unlink(session_state.path(hook.root, hook.session_id, session_memories.PART))
    elif KEEPS not in hook.payload:
        had = session_memories.Given(hook.root, hook.session_id)
        had.forget(list(had.tool))


def _catch_up(hook: runner.Hook, catalogs: "list[tuple[str, catalog.Catalog]]") -> None:
    """Start a worker for what there was no time for, and for the indexes of memories. Must be called last."""
    tasks = ["catalog"] if any(memories.unready for _, memories in catalogs) else []
    auto = locate.auto_dir(hook.env, hook.started_in)
    has_memories = any(memories.count for _, memories in catalogs) or any(
        map(locate.is_memory_name, paths.names_in(auto))
    )
    if hook.mode == "full" and has_memories:
        tasks.append("recall")
    is_shown = not hook.settings or config.value(hook.settings, hook.project_root, "gate") != "off"
    if is_shown and not fs.stamp(f"{hook.root}/run/looked-{hook.slug}"):
        # What is there counts as seen; what changes from now on does not.
        tasks.append("versions")
    if tasks:
        detach.detach(hook, *tasks)


def _known(hook: runner.Hook, source: str) -> "tuple[dict[str, object], dict[str, object], bool]":
    """Return the session's state, or that of its parent if it is a copy; its index as it was before this start; and
    whether all that could be looked for."""
    old = session_state.load(hook.root, hook.session_id)
    copied = not old.get("uncopied")
    if not old and source in COPIES:
        parent = hook.attempt(None, forks.state_at_start, hook)
        old, copied = parent or {}, parent is not None
    index = session_state.load(hook.root, hook.session_id, "index") if source in COPIES else {}
    return without_missed(hook, old), index, copied


def _dropped(
    hook: runner.Hook,
    source: str,
    old: "dict[str, object]",
    after: "dict[str, object]",
    blocks: "list[delivery_blocks.Block]",
) -> None:
    """Add to `blocks` the guidance that a compaction or a resume dropped from the context."""
    if source == "compact":
        turn = prompt.of_this_turn(hook, old) if old.get("compacting") != "manual" else []
        blocks += _again(hook, turn, "the compaction")
        # A long turn may be compacted again.
        after |= {"turn": turn, "tool": [], "updates": {}, "stamps": {}}
        after.pop("telling", None)
    elif source in COPIES and KEEPS not in hook.payload:
        blocks += _again(hook, fastjson.rows(old, "tool"), "the resume")
        after["tool"] = []


def _index(
    hook: runner.Hook,
    source: str,
    old: "dict[str, object]",
    after: "dict[str, object]",
    catalogs: "list[tuple[str, catalog.Catalog]]",
    blocks: "list[delivery_blocks.Block]",
) -> None:
    """Add to `blocks` the index of the memories, or only what changed since the last, and to `catalogs` these."""
    memories = index_block.sources(hook)
    catalogs += memories
    if source == "compact" and old.get("prompted"):
        blocks += _lists(hook, old, after)
    if source in COPIES and (old.get("dirs") or forks.has_index(hook.text("transcript_path"))):
        blocks += index_block.changes(hook, memories, after) if old.get("dirs") else []
        index_block.note_known(hook, memories, after)
    else:
        blocks += index_block.whole(hook, memories, after)


def _message(hook: runner.Hook, source: str, catalogs: "list[tuple[str, catalog.Catalog]]", untrusted: int) -> str:
    """Return the line for the person. `untrusted`: how many of the project's memories are therefore not delivered."""
    counts = [(scope, memories.count) for scope, memories in catalogs]
    words: list[str] = []
    if source != "compact":
        words = hook.attempt(words, banner, hook, counts)
    if untrusted:
        directory, _ = locate.project_dir(hook.env, hook.started_in)
        words.append(f"{untrusted} in {visible.clean(directory)} not trusted, not delivered: run `memtui trust`")
    return visible.clean(visible.one_line(" · ".join(words)))


def _again(hook: runner.Hook, notes: "list[object]", lost: str) -> "list[delivery_blocks.Block]":
    """Return blocks that repeat guidance that the session was given before; `lost` says what dropped it."""
    blocks: list[delivery_blocks.Block] = []
    directories = dict(hook.inboxes())
    for note in notes:
        if isinstance(note, list) and len(note) == 2 and note[0] in directories:
            from memtui.inbox import note_block

            entries = inbox_format.parse(str(note[1]))
            blocks += [note_block.again(directories[note[0]], entry, lost) for entry in entries]
    return blocks


def _lists(hook: runner.Hook, old: "dict[str, object]", after: "dict[str, object]") -> "list[delivery_blocks.Block]":
    """Return the blocks of all pending updates and items, as for a new session; none if no state can be saved: the next
    prompt brings them then. If this hook dies before it notes what it told, that prompt marks them as repeats."""
    stamps: dict[str, object] = {scope: fs.stamp(path + "/pending-updates.md") for scope, path in hook.inboxes()}
    lists = prompt.due_lists(hook, {}, after, stamps)
    try:
        if lists:
            forgotten = {"updates": {}, "stamps": {}, "prompted": False, "telling": "a compaction"}
            session_state.save(hook.root, hook.session_id, {**old, **forgotten})
    except OSError as error:
        runner.fail(hook.env, hook.event, error)
        after |= {"updates": {}, "stamps": {}, "prompted": False}
        return []
    return lists


def banner(hook: runner.Hook, counts: "list[tuple[str, int]]") -> "list[str]":
    """Return the banner, the line for the person, in parts: the mode unless it is full, the memories that memtui
    delivers, what is waiting. Empty if it is off."""
    if not config.value(hook.settings, hook.project_root, "banner"):
        return []
    words = []
    total = sum(number for _, number in counts)
    # Without any, nothing is said of memories: there may be some that the client loads itself, and a look takes time.
    if total:
        counted = ", ".join([f"{number} {scope}" for scope, number in counts])
        words.append(f"{counted} {'memory' if total == 1 else 'memories'}")
    if hook.settings and hook.setting("subconscious") != "off":
        words.append(_subconscious_words(hook))
    waiting, now = [], clock.now()
    for kind, word in (
        ("guidance", "note"),
        ("updates", "draft"),
        ("items", "todo"),
    ):
        number = 0
        for _, directory in hook.inboxes():
            try:
                entries = inbox_format.read(f"{directory}/{inbox_format.FILES[kind]}", items=kind == "items")
            except OSError:
                continue
            if kind == "guidance" and entries:
                from memtui.inbox import claims

                entries = [entry for entry in entries if claims.may_get(entry, deliver.asker(hook))]
            number += len([e for e in entries if kind != "updates" or not (e.snoozed(now) or e.one_off())])
        if number:
            waiting.append(f"{number} {word}{'' if number == 1 else 's'}")
    words.append((", ".join(waiting) or "nothing") + " waiting")
    for _, directory in hook.inboxes():
        too_long = [
            path for file in inbox_format.FILES.values() if inbox_format.is_too_long(path := f"{directory}/{file}")
        ]
        words += [f"{path} is larger than 1 MB, so nothing in it is read" for path in too_long]
    if "error" in hook.settings:
        words.append(f"config.toml can't be read, the last good settings are in use: {hook.settings['error']}")
    mode = "" if hook.mode == "full" else f" ({hook.mode})"
    return [f"memtui{mode}: {words[0]}", *words[1:]]


def _subconscious_words(hook: runner.Hook) -> str:
    """Say which model reads the session, and its tools: `subconscious full (haiku by the API, tools read-only)`."""
    from memtui.models.subconscious import block_files

    mode, backend = str(hook.setting("subconscious")), str(hook.setting("llm_backend"))
    try:
        posix.lstat(hook.root + "/subconscious/stopped")
        return f"subconscious {mode}, stopped by you"
    except OSError:
        pass
    if backend == "off":
        return f"subconscious {mode}, but llm_backend is off"
    if backend == "auto":
        backend = "api" if hook.env.get("ANTHROPIC_API_KEY") or hook.env.get("ANTHROPIC_AUTH_TOKEN") else "claude"
    own = str(hook.setting("subconscious_model"))
    model = str(hook.setting("llm_model")) if own == "auto" else own
    is_chosen = own != "auto" or "llm_model" in hook.settings
    if backend == "api" and hook.env.get("ANTHROPIC_BASE_URL") and not is_chosen:
        model = "the best model of your service"
    tools = str(hook.setting("subconscious_tools"))
    if tools == "full" and backend != "claude":
        tools = "read-only"
    if tools == "read-only" and not block_files.may_read(hook.env, hook.root, locate.worktree_top(hook.started_in)):
        tools = "off"
    return f"subconscious {mode} ({model} by {'the API' if backend == 'api' else backend}, tools {tools})"
