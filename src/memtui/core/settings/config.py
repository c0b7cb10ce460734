"""Settings from `<root>/config.toml`, for hooks too.

`tomllib` costs a hook three times its whole start, so that what it reads is kept in `run/config.json` beside the stamp
of the file it came from; a hook parses TOML once after an edit. A file that can't be read keeps the last good settings:
a typing error must not switch on what a person has switched off.
"""

import posix

from memtui.core.base import fastjson, fs

DEFAULTS: "dict[str, object]" = {
    "mode": "full",
    "budget": 9000,
    "updates_max": 10,
    "updates_days": 30,
    "items_max": 10,
    "extract": True,
    "extract_confidence": 0.5,
    "banner": True,
    "undo_days": 180,
    "undo_changes": 2000,
    "texts_days": 90,
    "trust_days": 180,
    "guide_to": "anyone",
    "glyphs": "auto",
    "theme": "dark",
}
MODES = ("full", "whisper", "off")
# Those that ctrl+t goes round, then others that textual has.
THEMES = ("dark", "light", "ansi-dark", "ansi-light")
MORE_THEMES = (
    "nord gruvbox dracula tokyo-night monokai flexoki catppuccin-mocha catppuccin-macchiato catppuccin-frappe"
    " catppuccin-latte solarized-dark solarized-light rose-pine rose-pine-moon rose-pine-dawn"
    " atom-one-dark atom-one-light"
)
CHOICES = {
    "mode": MODES,
    "guide_to": ("anyone", "people"),
    "glyphs": ("auto", "unicode", "ascii"),
    "theme": (*THEMES, *MORE_THEMES.split()),
}
PER_PROJECT = ("mode", "extract", "banner", "guide_to")
# Above this the client replaces a hook's context by a preview (docs/hooks.md).
CLIENT_CAP = 10_000
BUDGET_RANGE = (500, 9800)


def file_path(root: str) -> str:
    """The file of the settings."""
    return root + "/config.toml"


def load(root: str, project_root: "str | None" = None) -> "dict[str, object]":
    """The settings as written, without defaults; `{}` if there are none. Never raises.

    The key `error` says why the file can't be used; the other keys are then the last good ones. For the hooks of the
    project `project_root` nothing is written, not even a cache, where its mode is off.
    """
    path = file_path(root)
    try:
        found = posix.stat(path)
    except OSError:
        return {}
    # The time of change, not of modification: permissions that were fixed count as an edit.
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
    """A value as JSON can hold it: TOML's dates become text."""
    if isinstance(given, dict):
        return {key: _plain(each) for key, each in given.items()}
    if isinstance(given, list):
        return [_plain(each) for each in given]
    return given if isinstance(given, (str, int, float)) else str(given)


def project_name(project_root: str) -> str:
    """A project's path as config.toml names it: TOML can hold no bytes that are not UTF-8, so these are escaped."""
    return project_root.encode("utf-8", "backslashreplace").decode()


def project_table(settings: "dict[str, object]", project_root: "str | None") -> "dict[str, object]":
    """The `[projects."<path>"]` table that names this project root, with or without a slash at its end, or `{}`."""
    tables = settings.get("projects")
    if not isinstance(tables, dict) or not project_root:
        return {}
    name = project_name(project_root)
    table = tables.get(name) or tables.get(name + "/")
    return table if isinstance(table, dict) else {}


def value(settings: "dict[str, object]", project_root: "str | None", key: str) -> "object":
    """One setting: the project's, else the general one, else the default. An invalid value counts as absent."""
    if key in PER_PROJECT:
        table = project_table(settings, project_root)
        if key in table and problem(key, table[key]) is None:
            return table[key]
    if key in settings and problem(key, settings[key]) is None:
        return settings[key]
    return DEFAULTS[key]


def number(settings: "dict[str, object]", key: str) -> int:
    """A whole-number setting."""
    found = value(settings, None, key)
    return found if isinstance(found, int) else 0


def problem(key: str, given: "object") -> "str | None":
    """Say what is wrong with a value of a known key; None if nothing is."""
    default = DEFAULTS[key]
    if key in CHOICES:
        return None if given in CHOICES[key] else "must be one of " + ", ".join(CHOICES[key])
    if isinstance(default, bool):
        return None if isinstance(given, bool) else "must be true or false"
    if isinstance(given, bool) or not isinstance(given, (int, float)):
        return "must be a number"
    if isinstance(default, float):
        return None if 0 <= given <= 1 else "must be between 0 and 1"
    if not isinstance(given, int):
        return "must be a whole number"
    low, high = BUDGET_RANGE if key == "budget" else (0, 1_000_000)
    return None if low <= given <= high else f"must be between {low} and {high}"
