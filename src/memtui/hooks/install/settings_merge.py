"""Add our hooks to the text of a settings file, and remove them again, without any other change."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from memtui.base.errors import MemtuiError
from memtui.hooks.install import json_edit
from memtui.hooks.install.entries import is_ours

Path = json_edit.Path
Groups = dict[str, dict[str, Any]]
STATUS_LINE = "statusLine"


@dataclass
class Made:
    """What an installation made, for `strip`: `created` containers (None: unknown, then each that we empty goes), and
    empty ones that it `replaced`, with their text."""

    created: list[Path] | None = field(default_factory=list)
    replaced: list[tuple[Path, str]] = field(default_factory=list)

    def note_created(self, path: Path) -> None:
        if self.created is not None and path not in self.created:
            self.created.append(path)

    def note_replaced(self, path: Path, source: str) -> None:
        if path not in [earlier for earlier, _ in self.replaced]:
            self.replaced.append((path, source))

    def original(self, path: Path) -> str | None:
        return next((source for earlier, source in self.replaced if earlier == path), None)

    def is_made(self, path: Path, *, emptied: bool) -> bool:
        return emptied if self.created is None else path in self.created


def read(text: str, name: str) -> dict[str, Any]:
    """Parse settings as the client would; a blank file means empty settings. Raises MemtuiError."""
    if not text.strip(json_edit.WHITESPACE):
        return {}
    try:
        value = json_edit.load(text)
    except ValueError as error:
        raise MemtuiError(
            f"{name} is not valid JSON: {error}.",
            "Claude Code can't read it either. Fix the file (comments and trailing commas are not allowed).",
        ) from error
    if not isinstance(value, dict):
        raise MemtuiError(f"{name} has a JSON {_kind(value)}, not an object.", "Settings look like {…}: fix the file.")
    return value


def _kind(value: Any) -> str:
    names = {list: "list", dict: "object", str: "string", bool: "boolean", type(None): "null"}
    return names.get(type(value), "number")


def _is_empty(value: Any) -> bool:
    return value is None or value in ({}, [])


def add(text: str, groups: Groups, groups_before: Groups, record: Made, name: str) -> str:
    """Return the text with a group of ours for every event, older ones brought up to date, noted in `record`. Of one
    that a person changed since it was in `groups_before` only the command is replaced. Raises MemtuiError."""
    settings = read(text, name)
    if not settings:
        record.note_replaced((), text)
        if not text.strip(json_edit.WHITESPACE):
            text = "{}\n"
    hooks = settings.get("hooks", {})
    if "hooks" not in settings:
        for path in (("hooks",), *(("hooks", event) for event in groups)):
            record.note_created(path)
        return json_edit.append(text, (), {event: [group] for event, group in groups.items()}, "hooks")
    if not isinstance(hooks, dict) and not _is_empty(hooks):
        raise _wrong_type(name, "hooks", hooks, "object")
    for event in groups:
        if not isinstance(hooks, dict):
            break
        groups_here = hooks.get(event)
        if not isinstance(groups_here, list) and not _is_empty(groups_here):
            raise _wrong_type(name, "hooks." + event, groups_here, "list")
    if _is_empty(hooks):
        record.note_replaced(("hooks",), json_edit.source(text, ("hooks",)))
        if not isinstance(hooks, dict):
            text = json_edit.put_source(text, ("hooks",), "{}")
        hooks = {}
    for event in [event for event in hooks if event not in groups]:
        text = _strip_event(text, event, hooks[event], record)
    for event, group in groups.items():
        text = _add_event(text, event, group, hooks, groups_before.get(event), record)
    return text


def _wrong_type(name: str, where: str, value: Any, kind: str) -> MemtuiError:
    return MemtuiError(f"`{where}` in {name} is a {_kind(value)}, not a JSON {kind}.", "Fix the file and try again.")


def _add_event(
    text: str,
    event: str,
    group: dict[str, Any],
    hooks: dict[str, Any],
    group_before: dict[str, Any] | None,
    record: Made,
) -> str:
    path: Path = ("hooks", event)
    if event not in hooks:
        record.note_created(path)
        return json_edit.append(text, ("hooks",), [group], event)
    groups_here = hooks[event]
    if _is_empty(groups_here):
        record.note_replaced(path, json_edit.source(text, path))
        if not isinstance(groups_here, list):
            text = json_edit.put_source(text, path, "[]")
        return json_edit.append(text, path, group)
    has_ours = False
    for number, present in enumerate(groups_here):
        ours = [place for place, hook in enumerate(_hooks_of(present)) if is_ours(hook)]
        has_ours = has_ours or bool(ours)
        if ours and present == group_before:
            if present != group:
                text = json_edit.replace(text, (*path, number), group)
            continue
        for place in ours:
            line = group["hooks"][0]["command"]
            if present["hooks"][place]["command"] != line:
                text = json_edit.replace(text, (*path, number, "hooks", place, "command"), line)
    return text if has_ours else json_edit.append(text, path, group)


def _hooks_of(group: Any) -> list[Any]:
    entries = group.get("hooks") if isinstance(group, dict) else None
    return entries if isinstance(entries, list) else []


def our_hooks(settings: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield the event and the command of every hook of ours."""
    hooks = settings.get("hooks")
    for event, groups_here in hooks.items() if isinstance(hooks, dict) else ():
        for group in groups_here if isinstance(groups_here, list) else ():
            for hook in _hooks_of(group):
                if is_ours(hook):
                    yield event, hook["command"]


def holds_ours(settings: dict[str, Any]) -> bool:
    """Return whether any event has a hook of ours."""
    return next(our_hooks(settings), None) is not None


def strip(text: str, record: Made, name: str) -> str:
    """Return the text without our hooks and the containers made for them; undoes `add`. Raises MemtuiError."""
    settings = read(text, name)
    hooks = settings.get("hooks")
    if not isinstance(hooks, dict):
        return text
    had_ours = holds_ours(settings)
    for event in list(hooks):
        text = _strip_event(text, event, hooks[event], record)
    rest = read(text, name).get("hooks")
    if rest == {}:
        text = _close(text, ("hooks",), record, emptied=had_ours)
    return _blank_again(text, record, name)


def has_status_line(settings: dict[str, Any]) -> bool:
    """Return whether the status line is ours."""
    return is_ours(settings.get(STATUS_LINE))


def other_status_line(settings: dict[str, Any]) -> Any:
    """Return a status line that is not ours, which stays; None if there is none."""
    value = settings.get(STATUS_LINE)
    return None if _is_empty(value) or is_ours(value) else value


def add_status_line(text: str, line: dict[str, Any], record: Made, name: str) -> str:
    """Return the text with our status line, up to date; another stays. Raises MemtuiError."""
    settings = read(text, name)
    value: Any = settings.get(STATUS_LINE)
    if is_ours(value):
        same = value["command"] == line["command"]
        return text if same else json_edit.replace(text, (STATUS_LINE, "command"), line["command"])
    if other_status_line(settings) is not None:
        return text
    if not settings:
        record.note_replaced((), text)
        text = text if text.strip(json_edit.WHITESPACE) else "{}\n"
    if STATUS_LINE not in settings:
        return json_edit.append(text, (), line, STATUS_LINE)
    record.note_replaced((STATUS_LINE,), json_edit.source(text, (STATUS_LINE,)))
    return json_edit.replace(text, (STATUS_LINE,), line)


def strip_status_line(text: str, record: Made, name: str) -> str:
    """Return the text without our status line; undoes `add_status_line`. Raises MemtuiError."""
    if not is_ours(read(text, name).get(STATUS_LINE)):
        return text
    original = record.original((STATUS_LINE,))
    if original is not None:
        return json_edit.put_source(text, (STATUS_LINE,), original)
    return _blank_again(json_edit.remove(text, (STATUS_LINE,)), record, name)


def _blank_again(text: str, record: Made, name: str) -> str:
    """Give settings that are empty now the text that they had before."""
    original = record.original(())
    return text if original is None or read(text, name) else original


def _strip_event(text: str, event: str, groups_here: Any, record: Made) -> str:
    path: Path = ("hooks", event)
    if not isinstance(groups_here, list):
        return text
    count = len(groups_here)
    for number in range(len(groups_here) - 1, -1, -1):
        present = _hooks_of(groups_here[number])
        ours = [place for place, hook in enumerate(present) if is_ours(hook)]
        if ours and len(ours) == len(present):
            text = json_edit.remove(text, (*path, number))
            count -= 1
            continue
        for place in reversed(ours):
            text = json_edit.remove(text, (*path, number, "hooks", place))
    return text if count else _close(text, path, record, emptied=bool(groups_here))


def _close(text: str, path: Path, record: Made, *, emptied: bool) -> str:
    """Restore a container that is empty now: remove one of ours, give one that was empty before its old text."""
    original = record.original(path)
    if original is not None:
        return json_edit.put_source(text, path, original)
    return json_edit.remove(text, path) if record.is_made(path, emptied=emptied) else text
