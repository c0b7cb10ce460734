"""The settings in `<root>/config.toml`, as hooks read them.

Importing `tomllib` takes a hook three times as long as its whole start, so the parsed settings are kept in
`run/config.json` with a stamp of the file: a hook parses TOML only after an edit. While the file can't be read, the
last good settings stay: a typing error must not switch on what a person has switched off.
"""

import posix

from memtui.core.base import fastjson, fs
from memtui.core.settings import defaults

DEFAULTS = defaults.DEFAULTS
MODES = ("full", "notes", "off")
# How older files write one of them.
OLD_MODES = {"whisper": "notes"}
# What becomes of memories that an agent writes: nothing; they wait to be seen; they become drafts instead.
GATES = ("off", "show", "ask")
# The themes that ctrl+t cycles through, then Textual's others.
THEMES = ("dark", "light", "ansi-dark", "ansi-light")
MORE_THEMES = (
    "nord gruvbox dracula tokyo-night monokai flexoki catppuccin-mocha catppuccin-macchiato catppuccin-frappe"
    " catppuccin-latte solarized-dark solarized-light rose-pine rose-pine-moon rose-pine-dawn"
    " atom-one-dark atom-one-light"
)
CHOICES = {
    "mode": MODES,
    "gate": GATES,
    "llm_backend": ("off", "auto", "api", "claude"),
    "guide_to": ("anyone", "people"),
    "subconscious": ("off", "whisper", "full"),
    "subconscious_tools": ("off", "read-only", "full"),
    "glyphs": ("auto", "unicode", "ascii"),
    "pager": ("auto", "never"),
    "theme": (*THEMES, *MORE_THEMES.split()),
}
PER_PROJECT = (
    *("mode", "extract", "banner", "gate", "guide_to", "recall", "recall_select", "journal"),
    "subconscious",
)
# Characters; a longer context is replaced by a preview in the client (docs/hooks.md).
CLIENT_CAP = 10_000
BUDGET_RANGE = (500, 9800)
# The least and the most value of a number, by setting; of others 0 and MOST_NUMBER.
RANGES = {
    "budget": BUDGET_RANGE,
    "extract_confidence": (0, 1),
    "recall_threshold": (0, 1),
    "recall_most": (1, 20),
    "llm_daily_tokens": (0, 1_000_000_000),
    "llm_daily_dollars": (0, 10_000),
    "llm_timeout": (5, 3600),
}
MOST_NUMBER = 1_000_000


def file_path(root: str) -> str:
    """Return the path of config.toml."""
    return root + "/config.toml"


def load(root: str, project_root: "str | None" = None) -> "dict[str, object]":
    """Read the settings as written, without defaults; `{}` if there are none. Never raises.

    The key `error` says why the file can't be used; the other keys are then the last good ones. With `project_root`,
    the project of a hook, not even the cache is written if the project's mode is off.
    """
    path = file_path(root)
    try:
        found = posix.stat(path)
    except OSError:
        return {}
    # ctime, not mtime: fixed permissions count as an edit.
    stamp = [found.st_ctime_ns, found.st_size, found.st_ino]
    cache = root + "/run/config.json"
    try:
        kept = fastjson.loads_dict(fs.read(cache, "cache"))
    except OSError:
        kept = {}
    last = kept.get("settings")
    settings = last if isinstance(last, dict) else {}
    if kept.get("stamp") == stamp:
        return settings
    settings = _parse(path, settings)
    if project_root is None or value(settings, project_root, "mode") != "off":
        fs.write_cache(cache, fastjson.dumps({"stamp": stamp, "settings": settings}).encode())
    return settings


def _parse(path: str, last: "dict[str, object]") -> "dict[str, object]":
    import tomllib

    try:
        settings = tomllib.loads(fs.read(path, "settings").decode("utf-8-sig"))
    except (OSError, ValueError, RecursionError) as error:
        return {**last, "error": str(error) or type(error).__name__}
    settings.pop("error", None)
    return {key: _plain(given) for key, given in settings.items()}


def _plain(given: "object") -> "object":
    """Convert a value for JSON: TOML's dates become text."""
    if isinstance(given, dict):
        return {key: _plain(each) for key, each in given.items()}
    if isinstance(given, list):
        return [_plain(each) for each in given]
    return given if isinstance(given, (str, int, float)) else str(given)


def project_key(project_root: str) -> str:
    """Return a project's path as config.toml names it: TOML is UTF-8, so other bytes are escaped."""
    return project_root.encode("utf-8", "backslashreplace").decode()


def project_table(settings: "dict[str, object]", project_root: "str | None") -> "dict[str, object]":
    """Return the table `[projects."<path>"]` of a project, named with or without a slash at its end; `{}` if none."""
    tables = settings.get("projects")
    if not isinstance(tables, dict) or not project_root:
        return {}
    name = project_key(project_root)
    table = tables.get(name) or tables.get(name + "/")
    return table if isinstance(table, dict) else {}


def value(settings: "dict[str, object]", project_root: "str | None", key: str) -> "object":
    """Return one setting: the project's, else the general one, else the default. An invalid value counts as absent."""
    if is_own(settings, project_root, key):
        given = project_table(settings, project_root)[key]
    elif key in settings and problem(key, settings[key]) is None:
        given = settings[key]
    else:
        return DEFAULTS[key]
    return OLD_MODES.get(str(given), given) if key == "mode" else given


def is_own(settings: "dict[str, object]", project_root: "str | None", key: str) -> bool:
    """Return whether a project has a valid value of its own for a setting, which is in force there."""
    if key not in PER_PROJECT:
        return False
    table = project_table(settings, project_root)
    return key in table and problem(key, table[key]) is None


def number(settings: "dict[str, object]", key: str) -> int:
    """Return a general setting that is a whole number."""
    found = value(settings, None, key)
    return found if isinstance(found, int) else 0


def problem(key: str, given: "object") -> "str | None":
    """Say what is wrong with a value of a known key; None if nothing is."""
    default = DEFAULTS[key]
    if key == "mode" and str(given) in OLD_MODES:
        return None
    if key in CHOICES:
        return None if given in CHOICES[key] else "must be one of " + ", ".join(CHOICES[key])
    if isinstance(default, bool):
        return None if isinstance(given, bool) else "must be true or false"
    if isinstance(default, str):
        return None if isinstance(given, str) and _is_name(given) else "must be a name, such as " + default
    if isinstance(given, bool) or not isinstance(given, (int, float)):
        return "must be a number"
    if isinstance(default, int) and not isinstance(given, int):
        return "must be a whole number"
    low, high = RANGES.get(key, (0, MOST_NUMBER))
    return None if low <= given <= high else f"must be between {low} and {high}"


def _is_name(given: str) -> bool:
    """Return whether text is one word, as a model's id: of letters, digits and a few marks, a letter or digit first."""
    plain = given
    for mark in ".:/@_-[]":
        plain = plain.replace(mark, "")
    return given.isascii() and plain.isalnum() and given[0].isalnum() and len(given) <= 200
