"""The draft that a refused write of the agent becomes: the memory as it would have been, without secrets."""

from memtui.base import fs_hot, ids_hot, paths_hot
from memtui.base.storage import read_or_none
from memtui.client.transcripts import prompts, transcript_hot
from memtui.inbox import drafts as inbox_drafts
from memtui.inbox import file_hot, format_hot
from memtui.recall import words_hot
from memtui.redact.redact import redacted
from memtui.store import memory, scopes
from memtui.store.scopes import Scope

SAME = ("session", "scope", "name")  # what is the same in two drafts of one session for one memory


def keep(env: dict[str, str], cwd: str, session: str, path: str, tool: str, payload: dict[str, object]) -> bool:
    """Keep what a tool would write to a memory as a draft; False if it changes nothing. Raises OSError, MemtuiError."""
    tool_input = payload.get("tool_input")
    before = read_or_none(path)
    data = _written(tool, tool_input if isinstance(tool_input, dict) else {}, before)
    scope = _scope(env, cwd, path)
    if data is None or data == before or scope is None:
        return False
    mem = memory.from_bytes(path, scope.label, data)
    project = paths_hot.project_root(cwd)
    prompt = prompts.under_way(transcript_hot.text_of(payload.get("transcript_path")), redacted, words_hot.tells)
    kind = inbox_drafts.WRITE if before is None else inbox_drafts.REWRITE
    fields = {"from": f"session:{session}", "kind": kind, "name": redacted(mem.stem), "type": mem.type}
    fields |= {"scope": scope.label, "session": session, "project": project, "request": prompt}
    if before is not None:
        fields |= {"replaces": path.removeprefix(scope.directory + "/"), "base": ids_hot.digest(before)}
    description, body = (redacted(text).strip() for text in (mem.description, mem.body))
    text = inbox_drafts.join_evidence("\n\n".join(filter(None, (" ".join(description.split()), body))) or mem.stem, [])
    slug = None if scope.label == "global" else paths_hot.project_key(project)
    _leave(paths_hot.inbox_dir(paths_hot.root(env), slug), {key: value for key, value in fields.items() if value}, text)
    return True


def _written(tool: str, tool_input: dict[str, object], before: bytes | None) -> bytes | None:
    if tool in {"Write", "memory_write"}:
        content = tool_input.get("content")
        makes = str(tool_input.get("if_version", "")).strip().lower() in {"new", ""}
        if tool == "memory_write" and makes != (before is None):
            return None
        return content.encode("utf-8", "replace") if isinstance(content, str) else None
    edits = tool_input.get("edits") if tool == "MultiEdit" else [tool_input]
    text = None if before is None else before.decode("utf-8", "replace")
    for edit in edits if isinstance(edits, list) else []:
        old, new = (edit.get(key) if isinstance(edit, dict) else None for key in ("old_string", "new_string"))
        if not isinstance(old, str) or not isinstance(new, str):
            return None
        if not old and not text:
            text = new  # an edit of nothing makes the file
        elif not old or text is None or old not in text:
            return None
        else:
            text = text.replace(old, new, -1 if edit.get("replace_all") else 1)
    return None if text is None else text.encode("utf-8", "replace")


def _scope(env: dict[str, str], cwd: str, path: str) -> Scope | None:
    """Return the scope of a file, also of the memory of another project, or of a subagent that has none yet."""
    for scope in sorted(scopes.discover(env, cwd), key=lambda other: -len(other.directory)):
        if not scope.files and not scope.problem and path.startswith(scope.directory + "/"):
            return scope
    config = paths_hot.config_dir(env)
    slug, _, rest = path.removeprefix(config + "/projects/").partition("/")
    if path.startswith(config + "/projects/") and rest.startswith("memory/"):
        return Scope("auto", f"auto:{slug}", f"{config}/projects/{slug}/memory")
    for place, suffix in (
        (config + "/agent-memory/", ""),
        ("/.claude/agent-memory/", "@project"),
        ("/.claude/agent-memory-local/", "@local"),
    ):
        before, separator, rest = path.partition(place)
        name, slash, _ = rest.partition("/")
        if separator and slash and (suffix or not before):
            return Scope("agent", f"agent:{name}{suffix}", f"{before}{place}{name}")
    return None


def _leave(directory: str, fields: dict[str, str], text: str) -> None:
    """Append the draft to an inbox, in place of one that the same session left for the same memory."""
    path = f"{directory}/{format_hot.FILES['updates']}"
    replaced = False

    def change(source: str) -> str:
        nonlocal replaced
        for entry in format_hot.parse(source):
            old = entry.fields
            if old.get("kind") in inbox_drafts.WRITES and all(old.get(key) == fields.get(key) for key in SAME):
                replaced = True
                kept = {"id": entry.id, "time": old.get("time", "")}
                end = entry.start + len(entry.raw)
                return source[: entry.start] + format_hot.render(kept | fields, text) + source[end:]
        return source

    if not format_hot.is_too_long(path) and fs_hot.stamp(path):
        file_hot.rewrite(path, change)
    if not replaced:
        file_hot.add_entry(directory, "updates", fields, text)
