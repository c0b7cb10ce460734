"""Checks of the settings as the person wrote them."""

import tomllib
from collections.abc import Callable, Iterator
from functools import partial

from memtui.core.base import fs, paths
from memtui.core.base.finding import Finding, good, note, problem
from memtui.core.settings import config, keymap

# Settings that have a model asked.
ASKING = ("dream", "recall_select", "subconscious")


def check(env: dict[str, str], root: str, project: str) -> Iterator[Finding]:
    """Find mistakes in config.toml, and what switches memtui off there or in the environment."""
    for name in ("CLAUDE_HEADLESS", "MEMTUI_INSIDE"):
        if env.get(name):
            yield note("config.silent", name=name)
    path = config.file_path(root)
    data = fs.read_or_empty(path)
    if not data.strip():
        yield good("config.defaults")
        return
    try:
        settings = tomllib.loads(data.decode("utf-8-sig"))
    except ValueError as error:
        yield problem("config.unreadable", path=path, why=str(error))
        return
    if off := mode_off(settings, project):
        yield off
    yield from no_model(settings, project)
    yield from wrong(settings, path)


def no_model(settings: dict[str, object], project: str) -> Iterator[Finding]:
    """Find settings that have a model asked, while none may be asked."""
    if config.value(settings, project, "llm_backend") != "off":
        return
    for key in ASKING:
        if config.value(settings, project, key) not in {False, "off"}:
            yield note("config.no_model", key=key)


def mode_off(settings: dict[str, object], project: str) -> Finding | None:
    """Return the finding that the mode is off for a project: by its own setting, or for all projects."""
    if config.value(settings, project, "mode") != "off":
        return None
    return note("config.mode_off_here" if config.is_own(settings, project, "mode") else "config.mode_off")


def wrong(settings: dict[str, object], path: str) -> Iterator[Finding]:
    """Find mistakes in settings that were read from the file at `path`."""
    finding = partial(problem, path=path, table="")
    tables = settings.get("projects", {})
    yield from _values({key: settings[key] for key in settings if key not in {"projects", keymap.TABLE}}, finding)
    for name, why in keymap.problems(settings):
        yield finding(
            "config.keys",
            table="" if name == keymap.TABLE else "[keys] ",
            key=name,
            why=why if why.endswith("?") else why + ".",
        )
    if not isinstance(tables, dict):
        yield finding("config.no_tables")
        return
    for place, table in tables.items():
        finding = partial(problem, path=path, table=f'[projects."{place}"] ')
        if not isinstance(table, dict):
            yield finding("config.no_table")
            continue
        if not place.startswith("/"):
            yield finding("config.relative")
        elif paths.project_root(place) != place:
            yield finding("config.no_root", root=paths.project_root(place))
        for key in table:
            if key in config.DEFAULTS and key not in config.PER_PROJECT:
                yield finding("config.not_own", key=key)
        own = {key: table[key] for key in table if key in config.PER_PROJECT or key not in config.DEFAULTS}
        yield from _values(own, finding, "config.own_value")


def _values(
    settings: dict[str, object], finding: Callable[..., Finding], code: str = "config.value"
) -> Iterator[Finding]:
    """Find keys that are no setting, and values that are not valid."""
    for key, given in settings.items():
        if key not in config.DEFAULTS:
            import difflib

            close = difflib.get_close_matches(key, config.DEFAULTS, 1)
            yield finding("config.misspelt", key=key, meant=close[0]) if close else finding("config.unknown", key=key)
        elif (why := config.problem(key, given)) is not None:
            yield finding(code, key=key, why=why, given=repr(given))
