"""At the start of a session: the index of its memories, what compaction or resume lost, and a line for the person."""

import posix

from memtui.core.base import clock, fs, ids, session_state, visible
from memtui.core.deliveries import blocks as delivery_blocks
from memtui.core.inbox import format as inbox_format
from memtui.core.places import catalog, locate
from memtui.core.settings import config
from memtui.hooks import deliver, forks, index_block, prompt, runner
from memtui.hooks.user_prompt_submit import reconcile_claims, taken_back

# A transcript is read from its end, in blocks, and no further back than this: an index told twice does no harm.
TOLD_BLOCK = 1 << 20
TOLD_BYTES = 1 << 26
# Starts with the context of an earlier session: its own, or a copy.
COPIES = {"resume", "fork"}
# A client that counts the context which it restored (2.1.330) restores what hooks gave before a tool, too.
KEEPS = "context_tokens"
AGAIN = "Note of the user that this session was given before and {lost} dropped from the context."


def handle(hook: runner.Hook) -> None:
    """Deliver the index; after `compact` and `resume` only what was lost. A subagent has its session's already."""
    if hook.payload.get("agent_id"):
        return
    source = hook.text("source")
    old, index = _known(hook, source)
    after: dict[str, object] = dict(old) if source in {*COPIES, "compact"} else {}
    after |= {
        "started": old.get("started") or clock.iso(clock.now()),
        "cwd": hook.text("cwd"),
        "project": hook.slug,
        "project_root": hook.project_root,
        "transcript": hook.text("transcript_path"),
        "mode": hook.mode,
    }
    _reconcile(hook)
    blocks: list[delivery_blocks.Block] = []
    found: list[tuple[str, catalog.Catalog]] = []
    counts: list[tuple[str, int]] = []
    try:
        _lost(hook, source, old, after, blocks)
        if hook.mode == "full":
            found += index_block.sources(hook)
            _index(hook, source, old, after, found, blocks)
            counts += [(scope, memories.count) for scope, memories in found]
    except Exception as error:
        # The person still hears what is on, and the guidance still comes with the prompt.
        runner.fail(hook.env, hook.event, error)
    untrusted = 0 if old.get("told_untrusted") else sum(memories.untrusted for _, memories in found)
    message = _message(hook, source, counts, untrusted)
    if untrusted:
        after["told_untrusted"] = True
    delivery_id = ids.new_id()
    try:
        forks.mark(hook, delivery_id if blocks else "", old, index)
    except OSError as error:
        runner.fail(hook.env, hook.event, error)
    left_out = deliver.send(hook, delivery_id, blocks, [], message)
    prompt.forget(after, left_out)
    if "lines" in after:
        index_block.keep(hook, after)
    session_state.save(hook.root, hook.session_id, after)
    index_block.catch_up(hook, found)


def _known(hook: runner.Hook, source: str) -> "tuple[dict[str, object], dict[str, object]]":
    """The session's state, or that of the one it is a copy of, and its index as it is before this start changes it."""
    old = session_state.load(hook.root, hook.session_id)
    index: dict[str, object] = {}
    try:
        if not old and source in COPIES:
            old = forks.started(hook)
        if source in COPIES:
            index = session_state.load(hook.root, hook.session_id, "index")
    except Exception as error:
        runner.fail(hook.env, hook.event, error)
    if fs.stamp(session_state.path(hook.root, hook.session_id, "missed")):
        old = taken_back(hook, old)
    return old, index


def _lost(
    hook: runner.Hook,
    source: str,
    old: "dict[str, object]",
    after: "dict[str, object]",
    blocks: "list[delivery_blocks.Block]",
) -> None:
    """Add the guidance that a compaction or a resume took out of the context."""
    if source == "compact":
        turn = prompt.of_this_turn(hook, old) if old.get("compacting") != "manual" else []
        blocks += _again(turn, "the compaction")
        # A long turn may be compacted again.
        after |= {"turn": turn, "tool": [], "updates": {}, "stamps": {}}
        after.pop("telling", None)
    elif source in COPIES and KEEPS not in hook.payload:
        blocks += _again(old.get("tool"), "the resume")
        after["tool"] = []


def _index(
    hook: runner.Hook,
    source: str,
    old: "dict[str, object]",
    after: "dict[str, object]",
    found: "list[tuple[str, catalog.Catalog]]",
    blocks: "list[delivery_blocks.Block]",
) -> None:
    """Add the index of the memories; in a context that has it already only what changed since."""
    if source == "compact" and old.get("prompted"):
        blocks += _lists(hook, after)
    if source in COPIES and (old.get("dirs") or _told(hook.text("transcript_path"))):
        blocks += index_block.changes(hook, found, after) if old.get("dirs") else []
        index_block.note(hook, found, after)
    else:
        blocks += index_block.whole(hook, found, after)


def _message(hook: runner.Hook, source: str, counts: "list[tuple[str, int]]", untrusted: int) -> str:
    """The line for the person; `untrusted`: how many memories of the project are not delivered for that."""
    words: list[str] = []
    try:
        words = [] if source == "compact" else banner(hook, counts)
    except Exception as error:
        runner.fail(hook.env, hook.event, error)
    if untrusted:
        directory, _ = locate.project_dir(hook.env, hook.started_in)
        words.append(f"{untrusted} in {visible.clean(directory)} not trusted, not delivered: run `memtui trust`")
    return visible.clean(visible.one_line(" · ".join(words)))


def _reconcile(hook: runner.Hook) -> None:
    """Bring back guidance that earlier hooks took and that did not arrive, if any was taken at all."""
    directories = [directory for _, directory in hook.inboxes()]
    for directory in directories:
        try:
            if not posix.listdir(directory + "/claimed"):
                continue
        except OSError:
            continue
        reconcile_claims(hook)
        return


def _again(notes: "object", lost: str) -> "list[delivery_blocks.Block]":
    """Guidance of this session that left its context."""
    blocks = []
    for note in notes if isinstance(notes, list) else []:
        if not isinstance(note, list) or len(note) != 2:
            continue
        scope, source = str(note[0]), str(note[1])
        for entry in inbox_format.parse(source):
            fields = {"id": entry.id, "scope": scope, "from": entry.fields.get("from", "a hand-written note")}
            item: dict[str, object] = {"kind": "guidance", "id": entry.id, "scope": scope, "reason": f"lost by {lost}"}
            item["hash"] = ids.content_hash(entry.text)
            part = delivery_blocks.Part(entry.text, entry.text[:40], item)
            intro = AGAIN.format(lost=lost)
            blocks.append(
                delivery_blocks.Block(delivery_blocks.TAGS["guidance"], {**fields, "repeat": "yes"}, intro, [part])
            )
    return blocks


def _lists(hook: runner.Hook, after: "dict[str, object]") -> "list[delivery_blocks.Block]":
    """Pending updates and items anew."""
    stamps: dict[str, object] = {scope: fs.stamp(path + "/pending-updates.md") for scope, path in hook.inboxes()}
    return prompt.due_lists(hook, {}, after, stamps)


def _told(transcript: str) -> bool:
    """Whether a transcript holds an index of ours that no later compaction has taken away."""
    index, summary = b"<" + delivery_blocks.TAGS["index"].encode(), b'"isCompactSummary":true'
    behind = b""
    try:
        fd = fs.open_regular(transcript, ours=True)
    except OSError:
        return False
    try:
        end = posix.fstat(fd).st_size
        for at in range(end - TOLD_BLOCK, max(-TOLD_BLOCK, end - TOLD_BYTES), -TOLD_BLOCK):
            seen = posix.pread(fd, TOLD_BLOCK + min(0, at), max(0, at)) + behind
            if index in seen or summary in seen:
                return seen.rfind(index) > seen.rfind(summary)
            behind = seen[: max(len(index), len(summary)) - 1]
    except OSError:
        pass
    finally:
        posix.close(fd)
    return False


def banner(hook: runner.Hook, counts: "list[tuple[str, int]]") -> "list[str]":
    """The line for the person, in parts: mode, memories, what waits. Nothing if the person wants none."""
    if not config.value(hook.settings, hook.project_root, "banner"):
        return []
    words = [f"memtui {hook.mode}"]
    if counts:
        total = sum(number for _, number in counts)
        listed = ", ".join([f"{number} {scope}" for scope, number in counts])
        words.append(f"{listed} {'memory' if total == 1 else 'memories'}" if total else "no memories yet")
    waiting = []
    for kind, one in (("guidance", "guidance"), ("updates", "updates to review"), ("items", "unfinished items")):
        number = 0
        for _, directory in hook.inboxes():
            try:
                number += len(inbox_format.read(f"{directory}/{inbox_format.FILES[kind]}", items=kind == "items"))
            except OSError:
                continue
        if number:
            waiting.append(f"{number} {one}")
    words.append("waiting: " + ", ".join(waiting) if waiting else "nothing waiting")
    for _, directory in hook.inboxes():
        too_long = [
            f"{directory}/{file}" for file in inbox_format.FILES.values() if inbox_format.unread(f"{directory}/{file}")
        ]
        words += [f"{path} is larger than 1 MB: only its beginning and its end are read" for path in too_long]
    if "error" in hook.settings:
        words.append(f"config.toml can't be read, the last good settings hold: {hook.settings['error']}")
    return words
