"""Modes: the mode of every project, and the settings that are the project's own."""

from collections.abc import Iterator
from dataclasses import dataclass, field

from memtui.core.client import projects
from memtui.core.settings import config, config_text, setting


@dataclass(frozen=True)
class Mode:
    """The mode of one project, and its own settings. An empty `path` is for all projects without their own; `here` is
    the project that was asked about."""

    path: str
    mode: str
    own: dict[str, object] = field(hash=False)
    here: bool = False


def modes(env: dict[str, str], root: str, project_root: str) -> Iterator[Mode]:
    """Yield the general mode, then that of `project_root`, then those of projects that config.toml names or that have
    memories. Raises MemtuiError."""
    written = config_text.parse(setting.text(root))
    tables = written.get("projects")
    named = {path.rstrip("/") or "/" for path in tables} if isinstance(tables, dict) else set()
    known = {found.path for found in projects.with_memory(env) if found.path}
    yield Mode("", str(config.value(written, None, "mode")), {})
    here = config.project_key(project_root)
    for path in [here, *sorted((named | {config.project_key(each) for each in known}) - {here})]:
        table = config.project_table(written, path)
        own = {key: table[key] for key in config.PER_PROJECT if key in table}
        yield Mode(path, str(config.value(written, path, "mode")), own, here=path == here)
