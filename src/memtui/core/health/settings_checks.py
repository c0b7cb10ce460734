"""What is wrong with the settings as a person wrote them."""

import tomllib
from collections.abc import Iterator

from memtui.core.base import fs, paths
from memtui.core.base.finding import Finding, good, note, problem
from memtui.core.settings import config, keymap


def check(env: dict[str, str], root: str, project: str) -> Iterator[Finding]:
    """Find what of config.toml does not hold, and what there or in the environment switches memtui off."""
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
    if config.value(settings, project, "mode") == "off":
        yield note("config.mode_off")
    for table, key, why in problems(settings):
        yield problem("config.wrong", table=table, key=key, why=why, path=path)


def problems(settings: dict[str, object]) -> Iterator[tuple[str, str, str]]:
    """List what is wrong with settings as written, each as (table, key, why)."""
    tables = settings.get("projects", {})
    for key, given in settings.items():
        if key in {"projects", keymap.TABLE}:
            continue
        if key not in config.DEFAULTS:
            yield "", key, "is no setting" + _near(key)
        elif (why := config.problem(key, given)) is not None:
            yield "", key, f"{why}, not {given!r}: the default holds"
    for name, why in keymap.problems(settings):
        yield "" if name == keymap.TABLE else "[keys] ", name, why
    if not isinstance(tables, dict):
        yield "", "projects", 'must hold tables, as [projects."/path"]'
        return
    for place, table in tables.items():
        where = f'[projects."{place}"] '
        if not isinstance(table, dict):
            yield where, "", "must be a table"
            continue
        if not place.startswith("/"):
            yield where, "", "must name an absolute path"
        elif paths.project_root(place) != place:
            yield where, "", f"is no project's root: that is {paths.project_root(place)}"
        for key, given in table.items():
            if key not in config.PER_PROJECT:
                why = "can't be set for one project" if key in config.DEFAULTS else "is no setting" + _near(key)
                yield where, key, why
            elif (wrong := config.problem(key, given)) is not None:
                yield where, key, f"{wrong}, not {given!r}"


def _near(key: str) -> str:
    import difflib

    close = difflib.get_close_matches(key, config.DEFAULTS, 1)
    return f": did you mean {close[0]}?" if close else ""
