"""Add our hooks to the text of a settings file, and remove them again, without any other change."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from memtui.core.base.errors import MemtuiError
from memtui.hooks.installer import json_edit
from memtui.hooks.installer.entries import is_ours

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
        if path not in [known for known, _ in self.replaced]:
            self.replaced.append((path, source))

    def original(self, path: Path) -> str | None:
        return next((source for known, source in self.replaced if known == path), None)

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


def add(text: str, wanted: Groups, written: Groups, made: Made, name: str) -> str:
    """Return the text with a group of ours for every event, older ones brought up to date, noted in `made`. Of a group
    that a person changed since it was `written` only the command is replaced. Raises MemtuiError."""
    settings = read(text, name)
    if not settings:
        made.note_replaced((), text)
        if not text.strip(json_edit.WHITESPACE):
            text = "{}\n"
    hooks = settings.get("hooks", {})
    if "hooks" not in settings:
        for path in (("hooks",), *(("hooks", event) for event in wanted)):
            made.note_created(path)
        return json_edit.append(text, (), {event: [group] for event, group in wanted.items()}, "hooks")
    if not isinstance(hooks, dict) and not _is_empty(hooks):
        raise _wrong_type(name, "hooks", hooks, "object")
    for event in wanted:
        if not isinstance(hooks, dict):
            break
        held = hooks.get(event)
        if not isinstance(held, list) and not _is_empty(held):
            raise _wrong_type(name, "hooks." + event, held, "list")
    if _is_empty(hooks):
        made.note_replaced(("hooks",), json_edit.source(text, ("hooks",)))
        if not isinstance(hooks, dict):
            text = json_edit.put_source(text, ("hooks",), "{}")
        hooks = {}
    for event in [event for event in hooks if event not in wanted]:
        text = _strip_event(text, event, hooks[event], made)
    for event, group in wanted.items():
        text = _add_event(text, event, group, hooks, written.get(event), made)
    return text


def _wrong_type(name: str, where: str, value: Any, kind: str) -> MemtuiError:
    return MemtuiError(f"`{where}` in {name} is a {_kind(value)}, not a JSON {kind}.", "Fix the file and try again.")


def _add_event(
    text: str, event: str, group: dict[str, Any], hooks: dict[str, Any], written: dict[str, Any] | None, made: Made
) -> str:
    path: Path = ("hooks", event)
    if event not in hooks:
        made.note_created(path)
        return json_edit.append(text, ("hooks",), [group], event)
    held = hooks[event]
    if _is_empty(held):
        made.note_replaced(path, json_edit.source(text, path))
        if not isinstance(held, list):
            text = json_edit.put_source(text, path, "[]")
        return json_edit.append(text, path, group)
    found = False
    for number, present in enumerate(held):
        ours = [place for place, hook in enumerate(_hooks_of(present)) if is_ours(hook)]
        found = found or bool(ours)
        if ours and present == written:
            if present != group:
                text = json_edit.replace(text, (*path, number), group)
            continue
        for place in ours:
            line = group["hooks"][0]["command"]
            if present["hooks"][place]["command"] != line:
                text = json_edit.replace(text, (*path, number, "hooks", place, "command"), line)
    return text if found else json_edit.append(text, path, group)


def _hooks_of(group: Any) -> list[Any]:
    found = group.get("hooks") if isinstance(group, dict) else None
    return found if isinstance(found, list) else []


def our_hooks(settings: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield the event and the command of every hook of ours."""
    hooks = settings.get("hooks")
    for event, held in hooks.items() if isinstance(hooks, dict) else ():
        for group in held if isinstance(held, list) else ():
            for hook in _hooks_of(group):
                if is_ours(hook):
                    yield event, hook["command"]


def holds_ours(settings: dict[str, Any]) -> bool:
    """Return whether any event has a hook of ours."""
    return next(our_hooks(settings), None) is not None


def strip(text: str, made: Made, name: str) -> str:
    """Return the text without our hooks and the containers made for them; undoes `add`. Raises MemtuiError."""
    settings = read(text, name)
    hooks = settings.get("hooks")
    if not isinstance(hooks, dict):
        return text
    had_ours = holds_ours(settings)
    for event in list(hooks):
        text = _strip_event(text, event, hooks[event], made)
    left = read(text, name).get("hooks")
    if left == {}:
        text = _close(text, ("hooks",), made, emptied=had_ours)
    return _blank_again(text, made, name)


def has_status_line(settings: dict[str, Any]) -> bool:
    """Return whether the status line is ours."""
    return is_ours(settings.get(STATUS_LINE))


def other_status_line(settings: dict[str, Any]) -> Any:
    """Return a status line that is not ours, which stays; None if there is none."""
    held = settings.get(STATUS_LINE)
    return None if _is_empty(held) or is_ours(held) else held


def add_status_line(text: str, wanted: dict[str, Any], made: Made, name: str) -> str:
    """Return the text with our status line, up to date; another stays. Raises MemtuiError."""
    settings = read(text, name)
    held: Any = settings.get(STATUS_LINE)
    if is_ours(held):
        same = held["command"] == wanted["command"]
        return text if same else json_edit.replace(text, (STATUS_LINE, "command"), wanted["command"])
    if other_status_line(settings) is not None:
        return text
    if not settings:
        made.note_replaced((), text)
        text = text if text.strip(json_edit.WHITESPACE) else "{}\n"
    if STATUS_LINE not in settings:
        return json_edit.append(text, (), wanted, STATUS_LINE)
    made.note_replaced((STATUS_LINE,), json_edit.source(text, (STATUS_LINE,)))
    return json_edit.replace(text, (STATUS_LINE,), wanted)


def strip_status_line(text: str, made: Made, name: str) -> str:
    """Return the text without our status line; undoes `add_status_line`. Raises MemtuiError."""
    if not is_ours(read(text, name).get(STATUS_LINE)):
        return text
    original = made.original((STATUS_LINE,))
    if original is not None:
        return json_edit.put_source(text, (STATUS_LINE,), original)
    return _blank_again(json_edit.remove(text, (STATUS_LINE,)), made, name)


def _blank_again(text: str, made: Made, name: str) -> str:
    """Give settings that are empty now the text that they had before."""
    original = made.original(())
    return text if original is None or read(text, name) else original


def _strip_event(text: str, event: str, held: Any, made: Made) -> str:
    path: Path = ("hooks", event)
    if not isinstance(held, list):
        return text
    left = len(held)
    for number in range(len(held) - 1, -1, -1):
        present = _hooks_of(held[number])
        ours = [place for place, hook in enumerate(present) if is_ours(hook)]
        if ours and len(ours) == len(present):
            text = json_edit.remove(text, (*path, number))
            left -= 1
            continue
        for place in reversed(ours):
            text = json_edit.remove(text, (*path, number, "hooks", place))
    return text if left else _close(text, path, made, emptied=bool(held))


def _close(text: str, path: Path, made: Made, *, emptied: bool) -> str:
    """Restore a container that is empty now: remove one of ours, give one that was empty before its old text."""
    original = made.original(path)
    if original is not None:
        return json_edit.put_source(text, path, original)
    return json_edit.remove(text, path) if made.is_made(path, emptied=emptied) else text
