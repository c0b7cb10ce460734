"""The index that a session is told: one line for each memory, the most relevant types first; later only changes."""

from memtui.base import fastjson_hot, fs_hot, paths_hot, session_state_hot, visible_hot
from memtui.base.session_state_hot import SessionState
from memtui.client import locate_hot
from memtui.deliver import blocks_hot
from memtui.hooks.runner_hot import Hook
from memtui.store import catalog_hot

TYPE_CHECKING = False
if TYPE_CHECKING:
    from memtui.store import trust_hot

    Catalogs = list[tuple[str, catalog_hot.Catalog]]  # by scope

INTRO = "Memories the user keeps in {directory}, one line each; the named file has the full text."
INTRO_TEAM = (
    "Memories the user's team shares and the user accepted, in {directory}, one line each; the named file has the full"
    " text."
)
BUILDING = (
    "The index of {count} memories that the user keeps in {directory} is being built: it comes with a later prompt."
)
FAILING = " (Its own check has failed since {failure}: it may no longer be true.)"
CHANGED = "Changes among the memories in {directory} since this session last saw them (+ new, - gone or replaced)."


def sources(hook: Hook) -> "Catalogs":
    """List (scope, catalog) of the memories that this session may be told of; of the project's only trusted ones."""
    quick = hook.event == "UserPromptSubmit"
    catalogs = []
    directories = locate_hot.delivered_dirs(hook.env, hook.started_in)
    if hook.agent_name and hook.gets_native:  # Claude Code loads its own
        directories.append(("auto", locate_hot.auto_dir(hook.env, hook.started_in)))
    for scope, directory in directories:
        memories = catalog_hot.look(hook.root, directory, locate_hot.needs_trust(scope), quick)
        _mark_failing(hook.root, memories)
        catalogs.append((scope, memories))
    return catalogs


def _mark_failing(root: str, memories: catalog_hot.Catalog) -> None:
    """Say on the line of a memory that its own check fails; leave out one that says what to do."""
    if not paths_hot.exists(paths_hot.checks_path(root, memories.directory)):
        return
    from memtui.store import own_checks_hot

    rows, lines = own_checks_hot.load(root, memories.directory), []
    for line in memories.lines:
        failure = own_checks_hot.failure(rows, line.file, line.digest)
        line.description += FAILING.format(failure=failure) if failure else ""
        if not failure or line.type != own_checks_hot.RULE:
            lines.append(line)
    memories.count -= len(memories.lines) - len(lines)
    memories.lines = lines


def shown(line: catalog_hot.CatalogLine) -> str:
    """Write one memory as a list item: type, name, description, and the file if it is not called by the name."""
    text = f"- [{line.type or 'untyped'}] {line.name}"
    if line.file != line.name + ".md":
        text += f" ({line.file})"
    if line.description:
        text += f": {line.description}"
    return visible_hot.one_line(text)


def _part(scope: str, directory: str, line: catalog_hot.CatalogLine, text: str, reason: str) -> blocks_hot.Part:
    item = blocks_hot.item("index", line.name, scope, f"{directory}/{line.file}", line.digest[:16], reason)
    return blocks_hot.Part(text, line.name, item)


def whole(hook: Hook, catalogs: "Catalogs", state: SessionState) -> "list[blocks_hot.Block]":
    """Return the blocks of the whole index, and note in `state` what the session then knows."""
    blocks = [block for scope, memories in catalogs if (block := _whole(scope, memories))]
    note_known(hook, catalogs, state)
    return blocks


def _whole(scope: str, memories: catalog_hot.Catalog) -> "blocks_hot.Block | None":
    directory = memories.directory
    intro = (INTRO_TEAM if scope.startswith("team") else INTRO).format(directory=directory)
    fields = {"scope": scope, "source": directory}
    if memories.building:
        intro = BUILDING.format(count=memories.count, directory=directory)
        item: dict[str, object] = {"kind": "index", "id": "", "scope": scope, "reason": "index is being built"}
        return blocks_hot.Block(blocks_hot.TAGS["index"], fields, "", [blocks_hot.Part(intro, "", item)])
    parts = [_part(scope, directory, line, shown(line), f"index, {line.type or 'untyped'}") for line in memories.lines]
    unlisted = memories.count - len(parts)
    return blocks_hot.Block(blocks_hot.TAGS["index"], fields, intro, parts, unlisted) if parts else None


def note_known(hook: Hook, catalogs: "Catalogs", state: SessionState) -> None:
    """Note what the session will know of each directory: the lines it is told, and the stamps of its files."""
    state.dirs = {path: fs_hot.stamp(path) for path in _watched(hook, catalogs)}
    state.building = [scope for scope, memories in catalogs if memories.building]
    lines = {scope: {row.file: [row.digest[:16], shown(row)] for row in memories.lines} for scope, memories in catalogs}
    tops = {scope: [memories.directory, memories.files[-1]] for scope, memories in catalogs if memories.large}
    state.index = {"lines": lines, "tops": tops}


def _watched(hook: Hook, catalogs: "Catalogs") -> "list[str]":
    """List the paths that every prompt checks: directories, some files, and the trusted memories if there are any."""
    project, exists = locate_hot.project_dir(hook.env, hook.started_in)
    watched = [] if exists else [project]  # it may be made in the session
    for scope, memories in catalogs:
        watched.append(paths_hot.checks_path(hook.root, memories.directory))
        watched += memories.directories[: catalog_hot.WATCHED]
        watched += [f"{memories.directory}/{line.file}" for line in memories.lines[: catalog_hot.WATCHED]]
        watched += memories.files
        if locate_hot.needs_trust(scope):
            watched.append(hook.root + "/trust.json")
    return watched


def changes(hook: Hook, catalogs: "Catalogs", state: SessionState) -> "list[blocks_hot.Block]":
    """Return blocks of the memories that are new, gone, or changed since the session was told."""
    lines_before = fastjson_hot.table(session_state_hot.load_part(hook.root, hook.session_id, "index"), "lines")
    blocks = []
    for scope, memories in catalogs:
        if scope in state.building:
            block = None if memories.building else _whole(scope, memories)
            blocks += [block] if block is not None else []
            continue
        before = fastjson_hot.table(lines_before, scope)
        parts: list[blocks_hot.Part] = []
        for line in memories.lines:
            parts += _difference(scope, memories.directory, line, before.get(line.file))
        allowed = catalog_hot.trusted(hook.root, memories.directory, locate_hot.needs_trust(scope))
        parts += _gone(scope, memories, before, allowed)
        if parts:
            blocks.append(_changed(scope, memories.directory, parts))
    note_known(hook, catalogs, state)
    return blocks


def _changed(scope: str, directory: str, parts: "list[blocks_hot.Part]") -> blocks_hot.Block:
    fields = {"scope": scope, "source": directory, "change": "diff"}
    return blocks_hot.Block(blocks_hot.TAGS["index"], fields, CHANGED.format(directory=directory), parts)


def _difference(scope: str, directory: str, line: catalog_hot.CatalogLine, old: "object") -> "list[blocks_hot.Part]":
    """Return the part that says how a memory differs from what the session was told, or no part."""
    text = shown(line)
    if not isinstance(old, list) or len(old) != 2:
        news, reason = "+ " + text, "new in this session"
    elif old != [line.digest[:16], text]:
        news = f"- {old[1]}\n+ {text}" if old[1] != text else f"~ {text} (its body changed)"
        reason = "changed in this session"
    else:
        return []
    return [_part(scope, directory, line, news, reason)]


def news(hook: Hook, changed: "list[str]", state: SessionState) -> "list[blocks_hot.Block]":
    """Return what `changes` does, given the paths that `changed`."""
    quick = _quick_changes(hook, changed, state)
    return changes(hook, sources(hook), state) if quick is None else quick


def _quick_changes(hook: Hook, changed: "list[str]", state: SessionState) -> "list[blocks_hot.Block] | None":
    """Do as `changes` does, reading only the files `changed`, if these are memories that the session knows."""
    index = session_state_hot.load_part(hook.root, hook.session_id, "index")
    lines, changed_files = fastjson_hot.table(index, "lines"), []
    for path in changed:
        files = _files(path, fastjson_hot.table(index, "tops"), lines)
        if files is None:
            return None
        changed_files += files
    places = {paths_hot.parent(f"{directory}/{file}") for _, directory, file in changed_files}
    # A directory's stamp changes when a file in it is replaced.
    if not changed_files or any(path not in places for path in changed if not path.endswith((".md", ".touched"))):
        return None
    parts: dict[tuple[str, str], list[blocks_hot.Part]] = {}
    try:
        for scope, directory, file in dict.fromkeys(changed_files):
            memories = catalog_hot.Catalog(directory)
            memories.lines = [line := catalog_hot.line_of(directory, file)]
            _mark_failing(hook.root, memories)
            allowed = catalog_hot.trusted(hook.root, directory, locate_hot.needs_trust(scope))
            if not memories.lines or (allowed is not None and not allowed.knows(line.digest)):
                return None
            before = fastjson_hot.table(lines, scope)
            parts.setdefault((scope, directory), []).extend(_difference(scope, directory, line, before.get(file)))
            before[file] = [line.digest[:16], shown(line)]
    except OSError:
        return None
    state.dirs = {**state.dirs, **{path: fs_hot.stamp(path) for path in changed}}
    state.index = {"lines": lines, "tops": fastjson_hot.table(index, "tops")}
    return [_changed(*key, part) for key, part in parts.items() if part]


def _files(path: str, tops: "dict[str, object]", lines: "dict[str, object]") -> "list[tuple[str, str, str]] | None":
    """List the memories written, by a changed path, as (scope, directory, file); None if others may have changed."""
    for scope, top in tops.items():
        directory, touched = top if isinstance(top, list) and len(top) == 2 else ("", "")
        if path == touched:
            return [(scope, directory, file) for file in catalog_hot.touched(path)]
        if path == directory or path.startswith(f"{directory}/"):
            file = path[len(directory) + 1 :]
            if file in fastjson_hot.table(lines, scope):
                return [(scope, directory, file)]
            return None if file.endswith(".md") else []
    return None


def _gone(
    scope: str, memories: catalog_hot.Catalog, before: "dict[str, object]", allowed: "trust_hot.Trust | None"
) -> "list[blocks_hot.Part]":
    """Return the parts of memories that the session was told of and that no longer exist, or are no longer trusted."""
    present = {line.file for line in memories.lines}
    parts = []
    for file, old in before.items():
        if file in present or not isinstance(old, list) or len(old) != 2:
            continue
        try:
            line = catalog_hot.line_of(memories.directory, file)
            if len(present) < memories.count and (allowed is None or allowed.knows(line.digest)):
                continue  # still there, but others now fill the lines that are delivered
        except OSError:
            pass
        catalog_line = catalog_hot.CatalogLine([file, file.removesuffix(".md"), "", "", str(old[0]), None])
        parts.append(_part(scope, memories.directory, catalog_line, f"- {old[1]}", "gone in this session"))
    return parts
