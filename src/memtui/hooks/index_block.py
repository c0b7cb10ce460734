"""The index of the memories that a session may know of: one line each, the most relevant types first."""

from memtui.core import catalog, locate, render, session, trust
from memtui.hooks import runner
from memtui.hooks.user_prompt_submit import stamp

TYPE_ORDER = ("feedback", "user", "tool", "project", "reference")
MAX_LINE = 240

INTRO = "Memories the user keeps in {directory}, one line each; the file named holds the whole of it."
CHANGED = "Changes among the memories in {directory} since this session last saw them (+ new, - gone or replaced)."


class Source:
    """A memory directory of the session: its scope, its deliverable memories, and how many are not trusted."""

    __slots__ = ("directory", "lines", "scope", "untrusted")

    def __init__(self, scope: str, directory: str, lines: "list[catalog.Line]", untrusted: int) -> None:
        self.scope = scope
        self.directory = directory
        self.lines = lines
        self.untrusted = untrusted


def sources(hook: runner.Hook) -> "list[Source]":
    """The project's memories, as far as they are trusted, and the global ones. The client loads its own."""
    found = []
    project, exists = locate.project_dir(hook.env, hook.started_in)
    if exists:
        every = catalog.read(hook.root, project)
        trusted = trust.load(hook.root, project)
        allowed = [line for line in every if trusted.knows(line.digest)]
        found.append(Source("project", project, allowed, len(every) - len(allowed)))
    directory = locate.global_dir(hook.env)
    found.append(Source("global", directory, catalog.read(hook.root, directory), 0))
    return found


def shown(line: catalog.Line) -> str:
    """One memory as a list item: type, name, description, and the file where it is not the name."""
    text = f"- [{line.type or 'untyped'}] {line.name}"
    if line.file != line.name + ".md":
        text += f" ({line.file})"
    if line.description:
        text += f": {line.description}"
    text = render.one_line(text)
    return text if len(text) <= MAX_LINE else text[: MAX_LINE - 1] + "…"


def rank(line: catalog.Line) -> "tuple[int, int, str]":
    """Rules of behaviour first, then what is known of the person, and the newest of each."""
    place = TYPE_ORDER.index(line.type) if line.type in TYPE_ORDER else len(TYPE_ORDER)
    return place, -line.mtime_ns, line.file


def _part(source: Source, line: catalog.Line, text: str, reason: str) -> render.Part:
    item: dict[str, object] = {
        "kind": "index",
        "id": line.name,
        "scope": source.scope,
        "path": f"{source.directory}/{line.file}",
        "hash": line.digest[:16],
        "reason": reason,
    }
    return render.Part(text, line.name, item)


def whole(hook: runner.Hook, found: "list[Source]", after: "dict[str, object]") -> "list[render.Block]":
    """The blocks of the whole index; `after` is told which directories, as of when, the session knows."""
    blocks = []
    for source in found:
        parts = [_part(source, line, shown(line), f"index, {line.type}") for line in sorted(source.lines, key=rank)]
        if parts:
            intro = INTRO.format(directory=source.directory)
            fields = {"scope": source.scope, "source": source.directory}
            blocks.append(render.Block(render.TAGS["index"], fields, intro, parts))
    note(hook, found, after)
    return blocks


def note(hook: runner.Hook, found: "list[Source]", after: "dict[str, object]") -> None:
    """Remember what the session knows of each directory: when it changed last, and a line for each memory. The lines
    are kept apart: there may be thousands, and only a change asks for them."""
    after["dirs"] = {source.directory: stamp(source.directory) for source in found}
    lines = {source.scope: {line.file: [line.digest[:16], shown(line)] for line in source.lines} for source in found}
    try:
        session.save(hook.root, hook.session_id, {"lines": lines}, "index")
    except OSError as error:
        runner.fail(hook.env, hook.event, error)


def changes(hook: runner.Hook, after: "dict[str, object]") -> "list[render.Block]":
    """Blocks with the memories that are new, gone, or have another line than the session was told."""
    found = sources(hook)
    known = session.table(session.load(hook.root, hook.session_id, "index"), "lines")
    blocks = []
    for source in found:
        before = session.table(known, source.scope)
        parts = []
        for line in sorted(source.lines, key=rank):
            old = before.get(line.file)
            text = shown(line)
            if not isinstance(old, list) or len(old) != 2:
                parts.append(_part(source, line, "+ " + text, "new in this session"))
            elif old[0] != line.digest[:16]:
                told = f"- {old[1]}\n+ {text}" if old[1] != text else f"~ {text} (its body changed)"
                parts.append(_part(source, line, told, "changed in this session"))
        present = {line.file for line in source.lines}
        for file, old in before.items():
            if file not in present and isinstance(old, list) and len(old) == 2:
                gone = catalog.Line(file, 0, [file.removesuffix(".md"), "", "", str(old[0])])
                parts.append(_part(source, gone, f"- {old[1]}", "gone in this session"))
        if parts:
            fields = {"scope": source.scope, "source": source.directory, "change": "diff"}
            intro = CHANGED.format(directory=source.directory)
            blocks.append(render.Block(render.TAGS["index"], fields, intro, parts))
    note(hook, found, after)
    return blocks
