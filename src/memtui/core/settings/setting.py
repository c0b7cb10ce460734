"""Settings as a person changes them: each with its value, where it comes from, and what would be wrong with another."""

from dataclasses import dataclass

from memtui import actions
from memtui.core.base import fs
from memtui.core.base.errors import MemtuiError, UsageError
from memtui.core.journal.changes.file_change import FileChange
from memtui.core.journal.journal import Journal
from memtui.core.settings import config, config_text, keymap

Value = str | int | float | bool
# What a key of the key map begins with: `keys.app.quit`.
KEYS = keymap.TABLE + "."
WORDS = {"true": True, "yes": True, "on": True, "false": False, "no": False, "off": False}
MEANINGS = {
    "mode": "full, whisper (guidance and items), off",
    "budget": f"characters of a delivery, {config.BUDGET_RANGE[0]} to {config.BUDGET_RANGE[1]}",
    "updates_max": "pending updates in one delivery",
    "updates_days": "days after which they are not delivered",
    "items_max": "pending items in one delivery",
    "extract": "whether drafts are made of what you say",
    "extract_confidence": "drafts below this are dropped, 0 to 1",
    "banner": "the line for you at a session's start",
    "undo_days": "days that changes can be undone, 0: all",
    "undo_changes": "newest changes kept for undo, 0: all",
    "texts_days": "days that delivered texts stay, 0: all",
    "trust_days": "days that trust outlives a text, 0: all",
    "guide_to": "whom guidance is for: anyone, people",
    "glyphs": "unicode, ascii, or auto: by the locale",
    "theme": "the TUI's colours",
}


@dataclass(frozen=True)
class Setting:
    """`source` is project, config or default; `problem` says why what is written does not hold, None if it does."""

    key: str
    value: Value
    source: str
    problem: str | None

    @property
    def default(self) -> Value:
        """The value without any config.toml."""
        if self.key.startswith(KEYS):
            return actions.get(self.key.removeprefix(KEYS)).keys
        return plain(config.DEFAULTS[self.key])

    @property
    def meaning(self) -> str:
        """Its purpose, in a line."""
        return MEANINGS.get(self.key) or actions.get(self.key.removeprefix(KEYS)).help


def plain(value: object) -> Value:
    """A value as TOML writes it on one line."""
    return value if isinstance(value, (str, int, float)) else str(value)


def text(root: str) -> str:
    """config.toml as it stands; empty where there is none. Raises MemtuiError."""
    try:
        return fs.read_or_empty(config.file_path(root)).decode("utf-8")
    except UnicodeDecodeError as error:
        raise MemtuiError("config.toml is not UTF-8 text.", "Fix it: memtui config edit") from error
    except OSError as error:
        raise MemtuiError(f"{error.filename} can't be read: {error.strerror}.") from error


def rows(root: str, project_root: str | None) -> list[Setting]:
    """All settings as they hold for a project, or without one for all others. Raises MemtuiError."""
    written = config_text.parse(text(root))
    table = config.project_table(written, project_root)
    found = []
    for key, default in config.DEFAULTS.items():
        in_project = key in config.PER_PROJECT and key in table
        source = "project" if in_project else "config" if key in written else "default"
        given = table[key] if in_project else written.get(key, default)
        value = plain(config.value(written, project_root, key))
        found.append(Setting(key, value, source, config.problem(key, given)))
    return found


def key_rows(root: str) -> list[Setting]:
    """The keys of every action of the TUI, as settings. Raises MemtuiError."""
    written = config_text.parse(text(root))
    own = keymap.remapped(written)
    wrong = dict(keymap.problems(written))
    return [
        Setting(
            KEYS + each.id, actions.keys_of(each, own), "config" if each.id in own else "default", wrong.get(each.id)
        )
        for each in actions.ACTIONS
    ]


def row(root: str, project_root: str | None, key: str) -> Setting:
    """One of `rows` or `key_rows`."""
    every = key_rows(root) if key.startswith(KEYS) else rows(root, project_root)
    return next(each for each in every if each.key == key)


def value_of(key: str, typed: str) -> Value:
    """A value as the person wrote it, in the type of the setting. Raises UsageError."""
    if key.startswith(KEYS):
        if (wrong := keymap.problem(typed)) is not None:
            raise UsageError(f"{key} {wrong}.")
        return typed.strip()
    default = config.DEFAULTS[key]
    value: Value = typed
    if isinstance(default, bool):
        value = WORDS.get(typed.lower(), typed)
    elif isinstance(default, (int, float)):
        try:
            value = float(typed) if isinstance(default, float) else int(typed)
        except ValueError:
            value = typed
    problem = config.problem(key, value)
    if problem is not None:
        raise UsageError(f"{key} {problem}, not {typed}.", f"{key}: {MEANINGS[key]}.")
    return value


def assign(root: str, journal: Journal, key: str, value: Value | None, project_root: str | None = None) -> bool:
    """Write one setting, for one project if given, or as `keys.app.quit` the keys of an action; None goes back to the
    default. One step of undo; False if there was nothing to change. Raises MemtuiError."""
    if project_root is not None and key not in config.PER_PROJECT:
        raise UsageError(f"{key} can't be set for one project.", "Those can: " + ", ".join(config.PER_PROJECT) + ".")
    before = text(root)
    table: tuple[str, ...] = ("projects", config.project_name(project_root)) if project_root is not None else ()
    name = key
    if key.startswith(KEYS):
        table, name = (keymap.TABLE,), key.removeprefix(KEYS)
    after = config_text.change(before, name, value, table)
    if before == after:
        return False
    summary = f"unset {key}" if value is None else f"set {key} to {_said(value)}"
    _write(root, journal, before.encode(), after.encode(), summary)
    return True


def save(root: str, journal: Journal, before: bytes, after: bytes) -> dict[str, object]:
    """Write config.toml as a person edited it, over what it was; the settings as they read it. One step of undo. Raises
    ConflictError if it changed meanwhile, MemtuiError if it can't be read as settings: nothing is written."""
    settings = readable(after)
    _write(root, journal, before, after, "edit config.toml")
    return settings


def readable(data: bytes) -> dict[str, object]:
    """Parse what a person wrote as settings. Raises MemtuiError if it can't be, and is not to be saved."""
    try:
        return config_text.parse(data.decode("utf-8"))
    except UnicodeDecodeError as error:
        raise MemtuiError("That is not UTF-8 text: nothing was saved.") from error
    except MemtuiError as error:
        raise MemtuiError(f"Nothing was saved: {error.message}", error.hint) from error


def _write(root: str, journal: Journal, before: bytes, after: bytes, summary: str) -> None:
    if after != before:
        change = FileChange(config.file_path(root), before or None, after or None, fs.FILE_MODE)
        journal.run("config", [change], summary)


def _said(value: Value) -> str:
    return value if isinstance(value, str) else config_text.written(value)
