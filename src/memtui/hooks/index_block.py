"""The index of the memories that a session may know of: one line each, the most relevant types first."""

from memtui.core.base import fs, paths, session_state, visible
from memtui.core.deliveries import blocks as delivery_blocks
from memtui.core.places import catalog
from memtui.hooks import runner

TYPE_CHECKING = False
if TYPE_CHECKING:
    from memtui.core.places import trust

INTRO = "Memories the user keeps in {directory}, one line each; the file named holds the whole of it."
BUILDING = (
    "The index of {count} memories that the user keeps in {directory} is being built: it comes with a later prompt."
)
CHANGED = "Changes among the memories in {directory} since this session last saw them (+ new, - gone or replaced)."


def sources(hook: runner.Hook) -> "list[tuple[str, catalog.Catalog]]":
    """(scope, catalog) of what memories a session may know of; those of the project as far as they are trusted."""
    quick = hook.event == "UserPromptSubmit"
    return [
        (scope, catalog.look(hook.root, directory, scope == "project", quick))
        for scope, directory in catalog.served(hook.env, hook.started_in)
    ]


def catch_up(hook: runner.Hook, found: "list[tuple[str, catalog.Catalog]]") -> None:
    """Leave to a worker what there was no time for, if there is any: to be called last."""
    if any(memories.unready for _, memories in found):
        from memtui.hooks import detach

        detach.detach(hook, "catalog")


def shown(line: catalog.Line) -> str:
    """One memory as a list item: type, name, description, and the file where it is not the name."""
    text = f"- [{line.type or 'untyped'}] {line.name}"
    if line.file != line.name + ".md":
        text += f" ({line.file})"
    if line.description:
        text += f": {line.description}"
    return visible.one_line(text)


def _part(scope: str, directory: str, line: catalog.Line, text: str, reason: str) -> delivery_blocks.Part:
    item: dict[str, object] = {
        "kind": "index",
        "id": line.name,
        "scope": scope,
        "path": f"{directory}/{line.file}",
        "hash": line.digest[:16],
        "reason": reason,
    }
    return delivery_blocks.Part(text, line.name, item)


def whole(
    hook: runner.Hook, found: "list[tuple[str, catalog.Catalog]]", after: "dict[str, object]"
) -> "list[delivery_blocks.Block]":
    """The blocks of the whole index; `after` is told which directories, as of when, the session knows."""
    blocks = [block for scope, memories in found if (block := _whole(scope, memories))]
    note(hook, found, after)
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


def note(hook: runner.Hook, found: "list[tuple[str, catalog.Catalog]]", after: "dict[str, object]") -> None:
    """Tell `after` what the session will know of each directory: the lines that it is told, for `keep`, and when it and
    their files changed."""
    after["dirs"] = {path: fs.stamp(path) for path in _watched(hook, found)}
    after["building"] = [scope for scope, memories in found if memories.building]
    lines = {
        scope: {line.file: [line.digest[:16], shown(line)] for line in memories.lines} for scope, memories in found
    }
    after["lines"] = lines
    after["tops"] = {scope: [memories.directory, memories.files[-1]] for scope, memories in found if memories.large}


def keep(hook: runner.Hook, after: "dict[str, object]") -> None:
    """Write down the lines that the session was told by now; `after` is rid of them. What can't be kept is logged."""
    known = {"lines": after.pop("lines"), "tops": after.pop("tops", {})}
    try:
        session_state.save(hook.root, hook.session_id, known, "index")
    except OSError as error:
        runner.fail(hook.env, hook.event, error)


def _watched(hook: runner.Hook, found: "list[tuple[str, catalog.Catalog]]") -> "list[str]":
    """The paths that every prompt looks at: directories (files come and go), files (some are written in place), and
    what says which of the project's are trusted."""
    watched = []
    for scope, memories in found:
        watched += memories.directories[: catalog.WATCHED]
        watched += [f"{memories.directory}/{line.file}" for line in memories.lines[: catalog.WATCHED]]
        watched += memories.files
        if scope == "project":
            watched.append(hook.root + "/trust.json")
    return watched


def changes(
    hook: runner.Hook, found: "list[tuple[str, catalog.Catalog]]", after: "dict[str, object]"
) -> "list[delivery_blocks.Block]":
    """Blocks with the memories that are new, gone, or have another line than the session was told; the whole index
    where that could not be told at its start."""
    building = after.get("building")
    known = session_state.table(session_state.load(hook.root, hook.session_id, "index"), "lines")
    blocks = []
    for scope, memories in found:
        if isinstance(building, list) and scope in building:
            block = None if memories.building else _whole(scope, memories)
            blocks += [block] if block is not None else []
            continue
        before = session_state.table(known, scope)
        parts: list[delivery_blocks.Part] = []
        for line in memories.lines:
            parts += _difference(scope, memories.directory, line, before)
        parts += _gone(scope, memories, before, catalog.trusted(hook.root, memories.directory, scope == "project"))
        if parts:
            blocks.append(_changed(scope, memories.directory, parts))
    note(hook, found, after)
    return blocks


def _changed(scope: str, directory: str, parts: "list[delivery_blocks.Part]") -> delivery_blocks.Block:
    fields = {"scope": scope, "source": directory, "change": "diff"}
    return delivery_blocks.Block(delivery_blocks.TAGS["index"], fields, CHANGED.format(directory=directory), parts)


def _difference(
    scope: str, directory: str, line: catalog.Line, before: "dict[str, object]"
) -> "list[delivery_blocks.Part]":
    """The part, if any, that tells how a memory differs from what the session was told."""
    old = before.get(line.file)
    text = shown(line)
    if not isinstance(old, list) or len(old) != 2:
        told, reason = "+ " + text, "new in this session"
    elif old[0] != line.digest[:16]:
        told = f"- {old[1]}\n+ {text}" if old[1] != text else f"~ {text} (its body changed)"
        reason = "changed in this session"
    else:
        return []
    return [_part(scope, directory, line, told, reason)]


def glance(hook: runner.Hook, changed: "list[str]", after: "dict[str, object]") -> "list[delivery_blocks.Block] | None":
    """As `changes`, where all that changed of large directories are memories known by name: only they are looked at.
    None where more may have. What else came with them the worker finds when the turn ends."""
    known = session_state.load(hook.root, hook.session_id, "index")
    lines, written = session_state.table(known, "lines"), []
    for path in changed:
        files = _files(path, session_state.table(known, "tops"), lines)
        if files is None:
            return None
        written += files
    places = {paths.parent(f"{directory}/{file}") for _, directory, file in written}
    # A directory has another time when a file in it was replaced.
    if not written or any(path not in places for path in changed if not path.endswith((".md", ".touched"))):
        return None
    parts: dict[tuple[str, str], list[delivery_blocks.Part]] = {}
    try:
        for scope, directory, file in dict.fromkeys(written):
            line = catalog.line_of(directory, file)
            allowed = catalog.trusted(hook.root, directory, scope == "project")
            if allowed is not None and not allowed.knows(line.digest):
                return None
            before = session_state.table(lines, scope)
            parts.setdefault((scope, directory), []).extend(_difference(scope, directory, line, before))
            before[file] = [line.digest[:16], shown(line)]
    except OSError:
        return None
    after["dirs"] = {**session_state.table(after, "dirs"), **{path: fs.stamp(path) for path in changed}}
    after |= {"lines": lines, "tops": session_state.table(known, "tops")}
    return [_changed(*key, each) for key, each in parts.items() if each]


def _files(path: str, tops: "dict[str, object]", lines: "dict[str, object]") -> "list[tuple[str, str, str]] | None":
    """The memory that was written, by a path that changed, as (scope, directory, file); None if that tells of more."""
    for scope, top in tops.items():
        directory, touched = top if isinstance(top, list) and len(top) == 2 else ("", "")
        if path == touched:
            return [(scope, directory, file) for file in catalog.touched(path)]
        if path == directory or path.startswith(f"{directory}/"):
            file = path[len(directory) + 1 :]
            if file in session_state.table(lines, scope):
                return [(scope, directory, file)]
            return None if file.endswith(".md") else []
    return None


def _gone(
    scope: str, memories: catalog.Catalog, before: "dict[str, object]", allowed: "trust.Trust | None"
) -> "list[delivery_blocks.Part]":
    """Memories that the session was told of and that are not there, or not trusted, any more."""
    present = {line.file for line in memories.lines}
    parts = []
    for file, old in before.items():
        if file in present or not isinstance(old, list) or len(old) != 2:
            continue
        try:
            line = catalog.line_of(memories.directory, file)
            if len(present) < memories.count and (allowed is None or allowed.knows(line.digest)):
                continue  # only pushed out of the head by others
        except OSError:
            pass
        gone = catalog.Line([file, file.removesuffix(".md"), "", "", str(old[0]), None])
        parts.append(_part(scope, memories.directory, gone, f"- {old[1]}", "gone in this session"))
    return parts
