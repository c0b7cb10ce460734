"""The index of the memories that a session may know of: one line each, the most relevant types first."""

from memtui.core import catalog, locate, render, session, trust
from memtui.hooks import runner
from memtui.hooks.user_prompt_submit import stamp

# A look costs a prompt some microseconds; an index has room for about as many lines.
WATCHED = 64
INTRO = "Memories the user keeps in {directory}, one line each; the file named holds the whole of it."
CHANGED = "Changes among the memories in {directory} since this session last saw them (+ new, - gone or replaced)."


def sources(hook: runner.Hook) -> "list[tuple[str, catalog.Catalog]]":
    """(scope, catalog) of the project's memories, as far as they are trusted, and of the global ones. The client loads
    its native ones itself, also where the person has put them into the project."""
    found = []
    project, exists = locate.project_dir(hook.env, hook.started_in)
    native = locate.auto_dir(hook.env, hook.started_in)
    if exists and project != native and not locate.leaves_repository(project):
        found.append(("project", catalog.read(hook.root, project, trust.load(hook.root, project))))
    found.append(("global", catalog.read(hook.root, locate.global_dir(hook.env))))
    return found


def shown(line: catalog.Line) -> str:
    """One memory as a list item: type, name, description, and the file where it is not the name."""
    text = f"- [{line.type or 'untyped'}] {line.name}"
    if line.file != line.name + ".md":
        text += f" ({line.file})"
    if line.description:
        text += f": {line.description}"
    return render.one_line(text)


def _part(scope: str, directory: str, line: catalog.Line, text: str, reason: str) -> render.Part:
    item: dict[str, object] = {
        "kind": "index",
        "id": line.name,
        "scope": scope,
        "path": f"{directory}/{line.file}",
        "hash": line.digest[:16],
        "reason": reason,
    }
    return render.Part(text, line.name, item)


def whole(
    hook: runner.Hook, found: "list[tuple[str, catalog.Catalog]]", after: "dict[str, object]"
) -> "list[render.Block]":
    """The blocks of the whole index; `after` is told which directories, as of when, the session knows."""
    blocks = []
    for scope, memories in found:
        parts = [
            _part(scope, memories.directory, line, shown(line), f"index, {line.type or 'untyped'}")
            for line in memories.lines
        ]
        if parts:
            intro = INTRO.format(directory=memories.directory)
            fields = {"scope": scope, "source": memories.directory}
            unlisted = memories.count - len(parts)
            blocks.append(render.Block(render.TAGS["index"], fields, intro, parts, unlisted))
    note(hook, found, after)
    return blocks


def note(hook: runner.Hook, found: "list[tuple[str, catalog.Catalog]]", after: "dict[str, object]") -> None:
    """Tell `after` what the session will know of each directory: the lines that it is told, for `keep`, and when it and
    their files changed."""
    after["dirs"] = {path: stamp(path) for path in _watched(hook, found)}
    lines = {
        scope: {line.file: [line.digest[:16], shown(line)] for line in memories.lines} for scope, memories in found
    }
    after["lines"] = lines


def keep(hook: runner.Hook, after: "dict[str, object]") -> None:
    """Write down the lines that the session was told by now; `after` is rid of them. What can't be kept is logged."""
    lines = after.pop("lines")
    try:
        session.save(hook.root, hook.session_id, {"lines": lines}, "index")
    except OSError as error:
        runner.fail(hook.env, hook.event, error)


def _watched(hook: runner.Hook, found: "list[tuple[str, catalog.Catalog]]") -> "list[str]":
    """What every prompt looks at: directories (files come and go), files (some are written in place), and what says
    which of the project's are trusted."""
    watched = []
    for scope, memories in found:
        watched += memories.directories[:WATCHED]
        watched += [f"{memories.directory}/{line.file}" for line in memories.lines[:WATCHED]]
        if scope == "project":
            watched.append(trust.path(hook.root))
    return watched


def changes(hook: runner.Hook, after: "dict[str, object]") -> "list[render.Block]":
    """Blocks with the memories that are new, gone, or have another line than the session was told."""
    found = sources(hook)
    known = session.table(session.load(hook.root, hook.session_id, "index"), "lines")
    blocks = []
    for scope, memories in found:
        before = session.table(known, scope)
        parts = []
        for line in memories.lines:
            old = before.get(line.file)
            text = shown(line)
            if not isinstance(old, list) or len(old) != 2:
                told, reason = "+ " + text, "new in this session"
            elif old[0] != line.digest[:16]:
                told = f"- {old[1]}\n+ {text}" if old[1] != text else f"~ {text} (its body changed)"
                reason = "changed in this session"
            else:
                continue
            parts.append(_part(scope, memories.directory, line, told, reason))
        parts += _gone(scope, memories, before)
        if parts:
            fields = {"scope": scope, "source": memories.directory, "change": "diff"}
            intro = CHANGED.format(directory=memories.directory)
            blocks.append(render.Block(render.TAGS["index"], fields, intro, parts))
    note(hook, found, after)
    return blocks


def _gone(scope: str, memories: catalog.Catalog, before: "dict[str, object]") -> "list[render.Part]":
    """Memories that the session was told of and that are not there, or not trusted, any more."""
    present = {line.file for line in memories.lines}
    parts = []
    for file, old in before.items():
        if file in present or not isinstance(old, list) or len(old) != 2:
            continue
        if len(present) < memories.count and locate.is_file(f"{memories.directory}/{file}"):
            continue  # only pushed out of the head by others
        gone = catalog.Line([file, file.removesuffix(".md"), "", "", str(old[0]), None])
        parts.append(_part(scope, memories.directory, gone, f"- {old[1]}", "gone in this session"))
    return parts
