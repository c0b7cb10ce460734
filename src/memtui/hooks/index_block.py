"""The index that a session is told: one line for each memory, the most relevant types first; later only changes."""

from memtui.base import fastjson, fs, paths, session_state, visible
from memtui.client import locate
from memtui.deliver import blocks as delivery_blocks
from memtui.hooks import runner
from memtui.store import catalog

TYPE_CHECKING = False
if TYPE_CHECKING:
    from memtui.store import trust

INTRO = "Memories the user keeps in {directory}, one line each; the named file has the full text."
BUILDING = (
    "The index of {count} memories that the user keeps in {directory} is being built: it comes with a later prompt."
)
CHANGED = "Changes among the memories in {directory} since this session last saw them (+ new, - gone or replaced)."


def sources(hook: runner.Hook) -> "list[tuple[str, catalog.Catalog]]":
    """List (scope, catalog) of the memories that this session may be told of; of the project's only trusted ones."""
    quick = hook.event == "UserPromptSubmit"
    return [
        (scope, catalog.look(hook.root, directory, scope == "project", quick))
        for scope, directory in locate.delivered_dirs(hook.env, hook.started_in)
    ]


def shown(line: catalog.CatalogLine) -> str:
    """Write one memory as a list item: type, name, description, and the file if it is not called by the name."""
    text = f"- [{line.type or 'untyped'}] {line.name}"
    if line.file != line.name + ".md":
        text += f" ({line.file})"
    if line.description:
        text += f": {line.description}"
    return visible.one_line(text)


def _part(scope: str, directory: str, line: catalog.CatalogLine, text: str, reason: str) -> delivery_blocks.Part:
    item = delivery_blocks.item("index", line.name, scope, f"{directory}/{line.file}", line.digest[:16], reason)
    return delivery_blocks.Part(text, line.name, item)


def whole(
    hook: runner.Hook, catalogs: "list[tuple[str, catalog.Catalog]]", state: session_state.SessionState
) -> "list[delivery_blocks.Block]":
    """Return the blocks of the whole index, and note in `state` what the session then knows."""
    blocks = [block for scope, memories in catalogs if (block := _whole(scope, memories))]
    note_known(hook, catalogs, state)
    return blocks


def _whole(scope: str, memories: catalog.Catalog) -> "delivery_blocks.Block | None":
    intro = INTRO.format(directory=memories.directory)
    fields = {"scope": scope, "source": memories.directory}
    if memories.building:
        intro = BUILDING.format(count=memories.count, directory=memories.directory)
        item: dict[str, object] = {"kind": "index", "id": "", "scope": scope, "reason": "index is being built"}
        return delivery_blocks.Block(delivery_blocks.TAGS["index"], fields, "", [delivery_blocks.Part(intro, "", item)])
    parts = [
        _part(scope, memories.directory, line, shown(line), f"index, {line.type or 'untyped'}")
        for line in memories.lines
    ]
    unlisted = memories.count - len(parts)
    return delivery_blocks.Block(delivery_blocks.TAGS["index"], fields, intro, parts, unlisted) if parts else None


def note_known(
    hook: runner.Hook, catalogs: "list[tuple[str, catalog.Catalog]]", state: session_state.SessionState
) -> None:
    """Note what the session will know of each directory: the lines it is told, and the stamps of its files."""
    state.dirs = {path: fs.stamp(path) for path in _watched(hook, catalogs)}
    state.building = [scope for scope, memories in catalogs if memories.building]
    lines = {
        scope: {line.file: [line.digest[:16], shown(line)] for line in memories.lines} for scope, memories in catalogs
    }
    tops = {scope: [memories.directory, memories.files[-1]] for scope, memories in catalogs if memories.large}
    state.index = {"lines": lines, "tops": tops}


def _watched(hook: runner.Hook, catalogs: "list[tuple[str, catalog.Catalog]]") -> "list[str]":
    """List the paths that every prompt checks: directories, some files, and the trusted memories if there are any."""
    watched = []
    for scope, memories in catalogs:
        watched += memories.directories[: catalog.WATCHED]
        watched += [f"{memories.directory}/{line.file}" for line in memories.lines[: catalog.WATCHED]]
        watched += memories.files
        if scope == "project":
            watched.append(hook.root + "/trust.json")
    return watched


def changes(
    hook: runner.Hook, catalogs: "list[tuple[str, catalog.Catalog]]", state: session_state.SessionState
) -> "list[delivery_blocks.Block]":
    """Return blocks of the memories that are new, gone, or changed since the session was told; the whole index of a
    directory whose index was still being built then."""
    lines_before = fastjson.table(session_state.load_part(hook.root, hook.session_id, "index"), "lines")
    blocks = []
    for scope, memories in catalogs:
        if scope in state.building:
            block = None if memories.building else _whole(scope, memories)
            blocks += [block] if block is not None else []
            continue
        before = fastjson.table(lines_before, scope)
        parts: list[delivery_blocks.Part] = []
        for line in memories.lines:
            parts += _difference(scope, memories.directory, line, before)
        parts += _gone(scope, memories, before, catalog.trusted(hook.root, memories.directory, scope == "project"))
        if parts:
            blocks.append(_changed(scope, memories.directory, parts))
    note_known(hook, catalogs, state)
    return blocks


def _changed(scope: str, directory: str, parts: "list[delivery_blocks.Part]") -> delivery_blocks.Block:
    fields = {"scope": scope, "source": directory, "change": "diff"}
    return delivery_blocks.Block(delivery_blocks.TAGS["index"], fields, CHANGED.format(directory=directory), parts)


def _difference(
    scope: str, directory: str, line: catalog.CatalogLine, before: "dict[str, object]"
) -> "list[delivery_blocks.Part]":
    """Return the part that says how a memory differs from what the session was told, or no part."""
    old = before.get(line.file)
    text = shown(line)
    if not isinstance(old, list) or len(old) != 2:
        news, reason = "+ " + text, "new in this session"
    elif old[0] != line.digest[:16]:
        news = f"- {old[1]}\n+ {text}" if old[1] != text else f"~ {text} (its body changed)"
        reason = "changed in this session"
    else:
        return []
    return [_part(scope, directory, line, news, reason)]


def news(hook: runner.Hook, changed: "list[str]", state: session_state.SessionState) -> "list[delivery_blocks.Block]":
    """Return what `changes` does, given the paths that `changed`."""
    quick = _quick_changes(hook, changed, state)
    return changes(hook, sources(hook), state) if quick is None else quick


def _quick_changes(
    hook: runner.Hook, changed: "list[str]", state: session_state.SessionState
) -> "list[delivery_blocks.Block] | None":
    """Do as `changes` does, reading only the files `changed`, if these are memories in large directories that the
    session knows; else None. The worker finds other changes there when the turn ends."""
    index = session_state.load_part(hook.root, hook.session_id, "index")
    lines, changed_files = fastjson.table(index, "lines"), []
    for path in changed:
        files = _files(path, fastjson.table(index, "tops"), lines)
        if files is None:
            return None
        changed_files += files
    places = {paths.parent(f"{directory}/{file}") for _, directory, file in changed_files}
    # A directory's stamp changes when a file in it is replaced.
    if not changed_files or any(path not in places for path in changed if not path.endswith((".md", ".touched"))):
        return None
    parts: dict[tuple[str, str], list[delivery_blocks.Part]] = {}
    try:
        for scope, directory, file in dict.fromkeys(changed_files):
            line = catalog.line_of(directory, file)
            allowed = catalog.trusted(hook.root, directory, scope == "project")
            if allowed is not None and not allowed.knows(line.digest):
                return None
            before = fastjson.table(lines, scope)
            parts.setdefault((scope, directory), []).extend(_difference(scope, directory, line, before))
            before[file] = [line.digest[:16], shown(line)]
    except OSError:
        return None
    state.dirs = {**state.dirs, **{path: fs.stamp(path) for path in changed}}
    state.index = {"lines": lines, "tops": fastjson.table(index, "tops")}
    return [_changed(*key, part) for key, part in parts.items() if part]


def _files(path: str, tops: "dict[str, object]", lines: "dict[str, object]") -> "list[tuple[str, str, str]] | None":
    """List the memories written, by a changed path, as (scope, directory, file); None if others may have changed."""
    for scope, top in tops.items():
        directory, touched = top if isinstance(top, list) and len(top) == 2 else ("", "")
        if path == touched:
            return [(scope, directory, file) for file in catalog.touched(path)]
        if path == directory or path.startswith(f"{directory}/"):
            file = path[len(directory) + 1 :]
            if file in fastjson.table(lines, scope):
                return [(scope, directory, file)]
            return None if file.endswith(".md") else []
    return None


def _gone(
    scope: str, memories: catalog.Catalog, before: "dict[str, object]", allowed: "trust.Trust | None"
) -> "list[delivery_blocks.Part]":
    """Return the parts of memories that the session was told of and that no longer exist, or are no longer trusted."""
    present = {line.file for line in memories.lines}
    parts = []
    for file, old in before.items():
        if file in present or not isinstance(old, list) or len(old) != 2:
            continue
        try:
            line = catalog.line_of(memories.directory, file)
            if len(present) < memories.count and (allowed is None or allowed.knows(line.digest)):
                continue  # still there, but others now fill the lines that are delivered
        except OSError:
            pass
        catalog_line = catalog.CatalogLine([file, file.removesuffix(".md"), "", "", str(old[0]), None])
        parts.append(_part(scope, memories.directory, catalog_line, f"- {old[1]}", "gone in this session"))
    return parts
