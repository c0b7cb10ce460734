"""The settings in `<root>/config.toml`, as hooks read them.

Importing `tomllib` takes three times a hook's start, so parsed settings are kept in `run/config.json`. While the file
can't be read the last good ones stay: a typing error must not switch on what a person has switched off."""

import posix

from memtui.base import fastjson_hot, fs_hot
from memtui.settings import defaults_hot

DEFAULTS, MODES = defaults_hot.DEFAULTS, defaults_hot.MODES
THEMES, BUDGET_RANGE = defaults_hot.THEMES, defaults_hot.BUDGET_RANGE
CHOICES = {key: row[1] for key, row in defaults_hot.SETTINGS.items() if row[1] and isinstance(row[0], str)}
RANGES = {key: row[1] for key, row in defaults_hot.SETTINGS.items() if row[1] and not isinstance(row[0], str)}
PER_PROJECT = tuple(key for key, row in defaults_hot.SETTINGS.items() if row[2])
VERSION = 3  # the version of the cache of parsed settings
MOST_NUMBER = 1_000_000  # the most value of a number without a range


def file_path(root: str) -> str:
    return root + "/config.toml"


def load(root: str, project_root: "str | None" = None) -> "dict[str, object]":
    """Read the settings as written; `{}` if there are none, the last good ones with `error` if unreadable. Never
    raises. With `project_root`, not even the cache is written if that project's mode is off."""
    path = file_path(root)
    try:
        stat = posix.stat(path)
    except OSError:
        return {}
    stamp = [stat.st_ctime_ns, stat.st_size, stat.st_ino, VERSION]  # ctime, not mtime: new permissions count as an edit
    cache = root + "/run/config.json"
    cached = fs_hot.read_table(cache)
    settings = fastjson_hot.table(cached, "settings")
    if cached.get("stamp") == stamp:
        return settings
    settings = _parse(path, settings)
    if project_root is None or value(settings, project_root, "mode") != "off":
        fs_hot.write_cache(cache, fastjson_hot.dumps({"stamp": stamp, "settings": settings}).encode())
    return settings


def _parse(path: str, last: "dict[str, object]") -> "dict[str, object]":
    import tomllib

    try:
        settings = tomllib.loads(fs_hot.read(path, "settings").decode("utf-8-sig"))
    except (OSError, ValueError, RecursionError) as error:
        return {**last, "error": str(error) or type(error).__name__}
    settings.pop("error", None)
    return {key: _plain(written) for key, written in settings.items()}


def _plain(given: "object") -> "object":
    if isinstance(given, dict):
        return {key: _plain(each) for key, each in given.items()}
    if isinstance(given, list):
        return [_plain(item) for item in given]
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
        return project_table(settings, project_root)[key]
    return settings[key] if key in settings and problem(key, settings[key]) is None else DEFAULTS[key]


def is_own(settings: "dict[str, object]", project_root: "str | None", key: str) -> bool:
    """Return whether a project has a valid value of its own for a setting, which is in force there."""
    if key not in PER_PROJECT:
        return False
    table = project_table(settings, project_root)
    return key in table and problem(key, table[key]) is None


def number(settings: "dict[str, object]", key: str) -> int:
    setting = value(settings, None, key)
    return setting if isinstance(setting, int) else 0


def fraction(settings: "dict[str, object]", key: str) -> float:
    setting = value(settings, None, key)
    return float(setting) if isinstance(setting, (int, float)) else 0.0


def problem(key: str, assigned: "object") -> "str | None":
    """Say what is wrong with a value of a known key; None if nothing is."""
    default = DEFAULTS[key]
    if key in CHOICES:
        return None if assigned in CHOICES[key] else "must be one of " + ", ".join(CHOICES[key])
    if isinstance(default, bool):
        return None if isinstance(assigned, bool) else "must be true or false"
    if isinstance(default, str):
        return None if isinstance(assigned, str) and _is_name(assigned) else "must be a name, such as " + default
    if isinstance(assigned, bool) or not isinstance(assigned, (int, float)):
        return "must be a number"
    if isinstance(default, int) and not isinstance(assigned, int):
        return "must be a whole number"
    low, high = RANGES.get(key, (0, MOST_NUMBER))
    return None if low <= assigned <= high else f"must be between {low} and {high}"


def _is_name(text: str) -> bool:
    """Return whether text is one word, as a model's id: of letters, digits and a few marks, a letter or digit first."""
    plain = text
    for mark in ".:/@_-[]":
        plain = plain.replace(mark, "")
    return text.isascii() and plain.isalnum() and text[0].isalnum() and len(text) <= 200
