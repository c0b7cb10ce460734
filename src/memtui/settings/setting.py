"""Settings as a person sees and changes them. config.toml is edited line by line: comments, order and blank lines stay.

The new text is parsed, and must have the one change and no other; odd forms are left to an editor."""

import json
import re
import string
import tomllib
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from memtui import keymap
from memtui.base import fs_hot, word_lists
from memtui.base.errors import MemtuiError, UsageError, close_to
from memtui.settings import config_hot, defaults_hot
from memtui.store.journal.changes import FileChange
from memtui.store.journal.journal import Journal

Value = str | int | float | bool
# The table of keys that a person gave to actions of the TUI, `"app.quit" = "Q"`, and the beginning of such a setting.
KEY_TABLE, KEYS = "keys", "keys."
WORDS = {"true": True, "yes": True, "on": True, "false": False, "no": False, "off": False}
MEANINGS = {key: meaning for key, (*_, meaning) in defaults_hot.SETTINGS.items()}
# The settings that a person changes first, in this order.
FIRST = (
    *("mode", "gate", "extract", "recall", "recall_most"),
    *("banner", "note_to", "budget", "keep_days", "keep_mb", "theme"),
)
# The setting that says how a model is asked, and those that do nothing without one.
BACKEND = "llm_backend"
OF_MODELS = (
    *(BACKEND, "llm_model", "llm_key", "llm_daily_tokens", "llm_daily_dollars", "llm_timeout", "dream"),
    *("recall_select", "subconscious", "subconscious_tools", "subconscious_model"),
)
VALUE = re.compile(r"""\s*(?:"(?:[^"\\\n]|\\.)*"|'[^'\n]*'|[^\s#"'\[{][^\s#]*)""")
BARE = re.compile(r"[A-Za-z0-9_-]+")
HEADER = re.compile(r"\s*\[")
# What a value does, by setting, for those whose names don't tell.
VALUES = word_lists.tables(__file__.removesuffix("setting.py") + "values.txt")


@dataclass(frozen=True)
class Setting:
    """One setting in force: `source` is project, config or default; `problem`: why config.toml's value is not used."""

    key: str
    value: Value
    source: str
    problem: str | None

    @property
    def default(self) -> Value:
        """The value if config.toml does not set it."""
        if self.key.startswith(KEYS):
            return keymap.get(self.key.removeprefix(KEYS)).keys
        return plain(config_hot.DEFAULTS[self.key])

    @property
    def meaning(self) -> str:
        return MEANINGS.get(self.key) or keymap.get(self.key.removeprefix(KEYS)).help


def plain(value: object) -> Value:
    """Convert a value to one that TOML writes on one line."""
    return value if isinstance(value, (str, int, float)) else str(value)


def text(root: str) -> str:
    """Read the text of config.toml; empty if there is none. Raises MemtuiError."""
    try:
        return fs_hot.read_or_empty(config_hot.file_path(root)).decode("utf-8")
    except UnicodeDecodeError as error:
        raise MemtuiError("config.toml is not valid UTF-8.", "Save it as UTF-8 in an editor.") from error
    except OSError as error:
        raise MemtuiError(f"{error.filename} can't be read: {error.strerror}.") from error


def rows(root: str, project_root: str | None) -> list[Setting]:
    """List all settings as they are for a project, or without one for all projects. Raises MemtuiError."""
    values = parse(text(root))
    table = config_hot.project_table(values, project_root)
    settings = []
    for key, default in config_hot.DEFAULTS.items():
        in_project = key in config_hot.PER_PROJECT and key in table
        source = "project" if in_project else "config" if key in values else "default"
        entered = table[key] if in_project else values.get(key, default)
        value = plain(config_hot.value(values, project_root, key))
        settings.append(Setting(key, value, source, config_hot.problem(key, entered)))
    return settings


def key_rows(root: str) -> list[Setting]:
    """List the keys of every action of the TUI, as settings. Raises MemtuiError."""
    values = parse(text(root))
    own, wrong = remapped(values), dict(key_problems(values))
    rows = [(action.id, own.get(action.id, action.keys)) for action in keymap.ACTIONS]
    return [Setting(KEYS + name, keys, "config" if name in own else "default", wrong.get(name)) for name, keys in rows]


def row(root: str, project_root: str | None, key: str) -> Setting:
    """Return one setting of `rows` or `key_rows`. Raises MemtuiError; `key` exists."""
    every = key_rows(root) if key.startswith(KEYS) else rows(root, project_root)
    return next(setting for setting in every if setting.key == key)


def explained(key: str, between: str = " ") -> str:
    """Say what each value of a setting does: `show: …  ask: …`; empty where there is nothing to say."""
    return between.join(f"{value}: {words}" for value, words in VALUES.get(key, {}).items())


def value_of(key: str, typed: str) -> Value:
    """Convert what the person typed to the type of the setting. Raises UsageError if it is not valid."""
    if key.startswith(KEYS):
        if (wrong := keys_problem(typed)) is not None:
            raise UsageError(f"{key} {wrong}.")
        return typed.strip()
    default = config_hot.DEFAULTS[key]
    value: Value = typed
    if isinstance(default, bool):
        value = WORDS.get(typed.lower(), typed)
    elif isinstance(default, (int, float)):
        try:
            value = float(typed) if isinstance(default, float) else int(typed)
        except ValueError:
            value = typed
    problem = config_hot.problem(key, value)
    if problem is not None:
        hint = explained(key, "\n  ") if key in config_hot.CHOICES else f"{key}: {MEANINGS[key]}."
        raise UsageError(f"{key} {problem}, not “{typed}”.", hint)
    return value


def assign(root: str, journal: Journal, key: str, value: Value | None, project_root: str | None = None) -> bool:
    """Write a setting, a project's, or an action's keys; None restores the default. False: nothing changed."""
    if project_root is not None and key not in config_hot.PER_PROJECT:
        hint = "Those can: " + ", ".join(config_hot.PER_PROJECT) + "."
        raise UsageError(f"{key} can't be set for one project.", hint)
    before = text(root)
    table: tuple[str, ...] = ("projects", config_hot.project_key(project_root)) if project_root is not None else ()
    name = key
    if key.startswith(KEYS):
        table, name = (KEY_TABLE,), key.removeprefix(KEYS)
    after = change(before, name, value, table)
    if before == after:
        return False
    summary = f"unset {key}" if value is None else f"set {key} to {as_typed(value)}"
    edit = FileChange(config_hot.file_path(root), before.encode() or None, after.encode() or None, fs_hot.FILE_MODE)
    journal.run("config", [edit], summary)
    return True


def as_typed(value: Value) -> str:
    """Write the value of a setting as a person types it."""
    return ("off", "on")[value] if isinstance(value, bool) else value if isinstance(value, str) else as_toml(value)


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def as_toml(value: "str | int | float | bool") -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return _quoted(value) if isinstance(value, str) else repr(value)


def parse(text: str) -> "dict[str, object]":
    """Parse the text as settings. Raises MemtuiError with line and reason."""
    try:
        return tomllib.loads(text.removeprefix("\ufeff"))
    except ValueError as error:
        raise MemtuiError(f"config.toml can't be read: {error}.", "Fix that line in an editor.") from error


def _table_of(line: str) -> "list[str] | None":
    if not HEADER.match(line) or line.lstrip().startswith("[["):
        return None
    try:
        value: object = tomllib.loads(line.rstrip("\r"))
    except ValueError:
        return None
    path = []
    while isinstance(value, dict) and value:
        key = next(iter(value))
        path.append(key)
        value = value[key]
    return path


def _region(lines: "list[str]", table: "Sequence[str]") -> "tuple[int, int] | None":
    """Return a table's (first line, line after the last); the top's for an empty `table`, None if absent."""
    headers = [n for n, line in enumerate(lines) if HEADER.match(line)]
    if not table:
        return 0, headers[0] if headers else len(lines)
    for place, number in enumerate(headers):
        if _table_of(lines[number]) == [*table]:
            return number + 1, headers[place + 1] if place + 1 < len(headers) else len(lines)
    return None


def change(text: str, key: str, value: "str | int | float | bool | None", table: "Sequence[str]" = ()) -> str:
    """Return the text with one setting changed, or removed (None). Raises MemtuiError for a form that is not safe."""
    before = parse(text)
    newline = "\r\n" if "\r\n" in text else "\n"
    lines = text.split("\n")
    region = _region(lines, table)
    sets = re.compile(rf"""\s*(["']?){re.escape(key)}\1\s*=""")
    place = next((number for number in range(*region or (0, 0)) if sets.match(lines[number])), None)
    if value is None:
        if place is not None:
            del lines[place]
    elif place is not None:
        head, _, rest = lines[place].partition("=")
        match = VALUE.match(rest)
        lines[place] = head + "= " + as_toml(value) + (rest[match.end() :] if match else "")
    else:
        _insert(lines, f"{_bare(key)} = {as_toml(value)}", region, table, newline)
    after = "\n".join(lines)
    if after and not after.endswith("\n"):
        after += newline
    expected = dict(flat(before))
    name = ".".join([*table, key])
    expected.pop(name, None)
    if value is not None:
        expected[name] = value
    try:
        correct = dict(flat(parse(after))) == expected
    except MemtuiError:
        correct = False
    if not correct:
        raise MemtuiError(f"{key} is written in config.toml in a form that memtui can't edit.", "Use an editor.")
    return after


def _bare(name: str) -> str:
    return name if BARE.fullmatch(name) else _quoted(name)


def _insert(
    lines: "list[str]", line: str, region: "tuple[int, int] | None", table: "Sequence[str]", newline: str
) -> None:
    end = newline[:-1]
    if region is None:
        while lines and not lines[-1].strip():
            lines.pop()
        gap = [end] if lines else []
        lines += [*gap, f"[{'.'.join(map(_bare, table))}]{end}", line + end, ""]
        return
    at = region[1]
    while at > region[0] and not lines[at - 1].strip():
        at -= 1
    lines.insert(at, line + end)


NAMED = re.compile(r"f\d\d?|enter|escape|tab|space|backspace|delete|insert|home|end|pageup|pagedown|up|down|left|right")
MODIFIED = re.compile(r"(?:(?:ctrl|shift|alt|super|hyper|meta)\+)*")
# Textual's names for characters that Unicode names otherwise.
SHORTER = {
    "solidus": "slash",
    "reverse_solidus": "backslash",
    "commercial_at": "at",
    "hyphen_minus": "minus",
    "plus_sign": "plus",
    "low_line": "underscore",
}


def _key_name(char: str) -> str:
    if char.isalnum():
        return char
    name = unicodedata.name(char, char).lower().replace("-", "_").replace(" ", "_")
    return SHORTER.get(name, name)


SIGNS = frozenset(map(_key_name, string.punctuation))


def split_keys(keys: str) -> list[str]:
    """Split `q, ctrl+q` into the names of its keys."""
    return [_key_name(key) if len(key) == 1 else key for key in (part.strip() for part in keys.split(","))]


def keys_problem(keys: object) -> str | None:
    """Say what is wrong with the keys set for an action; None if nothing is."""
    if not isinstance(keys, str) or not keys.strip():
        return 'must be keys, such as "x" or "x,ctrl+x"'
    for key in split_keys(keys):
        rest = MODIFIED.sub("", key, 1)
        if not (len(rest) == 1 or NAMED.fullmatch(rest) or rest in SIGNS):
            return f"has “{key}”, which is not a key. Keys are x, ctrl+x, slash, question_mark, space, f5"
    return None


def written_keys(settings: Mapping[str, object]) -> dict[str, object]:
    """Return what config.toml sets for each action id; `"app.quit" = …` and `app.quit = …` mean the same."""
    table = settings.get(KEY_TABLE)
    return dict(flat(table)) if isinstance(table, dict) else {}


def flat(table: Mapping[str, object], prefix: str = "") -> Iterator[tuple[str, object]]:
    """Yield the values of a table, and of those in it, by their dotted path."""
    for key, value in table.items():
        if isinstance(value, dict):
            yield from flat(value, f"{prefix}{key}.")
        else:
            yield prefix + key, value


def remapped(settings: Mapping[str, object]) -> dict[str, str]:
    """Return the keys set for each action id, without those that are invalid."""
    return {name: str(keys) for name, keys in written_keys(settings).items() if keys_problem(keys) is None}


def key_problems(settings: Mapping[str, object]) -> Iterator[tuple[str, str]]:
    """Yield (action id, what is wrong) for unknown actions and unknown keys."""
    default_keys = keymap.defaults()
    table = settings.get(KEY_TABLE, {})
    if not isinstance(table, dict):
        yield KEY_TABLE, 'must be a table, such as [keys] "app.quit" = "Q".'
        return
    for name, keys in written_keys(settings).items():
        if name not in default_keys:
            close = close_to(name, default_keys)
            hint = f". Did you mean {close[0]}?" if close else ". `memtui config list --keys` lists them."
            yield name, "is not an action" + hint
        elif (why := keys_problem(keys)) is not None:
            yield name, f"{why}. The default is used: {default_keys[name] or 'no key'}."
