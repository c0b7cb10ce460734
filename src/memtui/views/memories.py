"""Words for memories in both front doors: how many there are, where one comes from, who loads it."""

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from memtui.base.phrasing_hot import age, ago, many
from memtui.client import applied_settings
from memtui.store import own_checks_hot
from memtui.views.words import TABLES

if TYPE_CHECKING:
    from memtui.store.scopes import Scope
    from memtui.store.triggers import Trigger
    from memtui.store.versions.writers import Source

ASK_OVER = 20  # about as many as a screen shows at once
LOADERS = TABLES["loaders"]
OWN_LOADERS = TABLES["own loaders"]
SCOPES = TABLES["scopes"]
SOURCES = TABLES["memory sources"]


def scope_name(scope: "Scope", project: str) -> str:
    """Name a scope: `global`, `project shop`, `auto crm`, `agent reviewer`; `project`: that of the person."""
    if scope.kind == "agent":
        return scope.label.replace(":", " ", 1)
    if scope.label in {"project", "auto", "team"}:
        return f"{scope.label} {project}".strip()
    return f"{scope.kind} {scope.project}" if scope.project else scope.label.replace(":", " ", 1)


def scopes_explained(scopes: "Sequence[Scope]", project: str, widest: int = 16) -> list[tuple[str, str]]:
    """Return scopes to choose from as (label, words): the name in a column of at most `widest` cells, what it is."""
    pairs = [(scope, scope_name(scope, project)) for scope in scopes]
    wide = min(widest, max((len(name) for _, name in pairs), default=0))
    rows = []
    for scope, name in pairs:
        words = SCOPES.get(scope.kind, "")
        words = f"{words.partition(',')[0]}, for {scope.project}" if scope.project else words
        rows.append((scope.label, f"{name:<{wide}}  {words}".rstrip()))
    return rows


def must_ask(labels: Sequence[str]) -> bool:
    """Return whether to ask before memories of these scopes go to the trash: many, or of more than one project."""
    return len(labels) > ASK_OVER or _projects(labels) > 1


def not_trusted(names: str, count: int, target: str) -> str:
    """Ask about untrusted memories that are about to leave the repository. `target` names the scope that gets them."""
    if count == 1:
        return f"{names} is not trusted: it came with the repository. From {target} sessions get it all the same."
    return f"{names} are not trusted: they came with the repository. From {target} sessions get them all the same."


def counted(labels: Sequence[str]) -> str:
    """Count memories by the labels of their scopes: `3,105 memories of 59 projects`."""
    projects = _projects(labels)
    return many(len(labels), "memory", "memories") + (f" of {projects:,} projects" if projects > 1 else "")


def _projects(labels: Sequence[str]) -> int:
    """Count the projects of scopes. The global scope and a person's own agents belong to none."""
    here = {"here" for label in labels if label in {"project", "auto"} or label.endswith(("@project", "@local"))}
    return len(here | {label for label in labels if label.startswith("auto:")})


def loader(label: str, project: str = "", way: str = applied_settings.LOADED) -> str:
    """Say who loads a memory of a scope, empty for nobody; `way`: how Claude Code brings its own."""
    words = LOADERS.get("global" if label.startswith("team:") else label, "")
    if label == "auto":
        words = OWN_LOADERS.get(way, words)
    return words.replace("this project", f"the project {project}") if project else words


def source(other: "Source", now: float) -> str:
    if other.by:
        return f"the team: {other.by}"
    if other.session:
        return f"session {other.session[:8]}"
    return SOURCES[other.kind] + (f" {ago(other.when, now)}" if other.when is not None else "")


def own_check(outcome: Mapping[str, object]) -> str:
    """Say since when a memory's own checks hold; empty if they don't, which a flag says."""
    return f"since {str(outcome['since'])[:10]}" if outcome.get("state") == own_checks_hot.HOLDS else ""


ORIGINS = {"file": "in its file", "person": "yours", "draft": "asked when you corrected"}


def trigger_origin(trigger: "Trigger", now: float) -> str:
    """Say where a trigger comes from and how old it is: `yours · 3d`."""
    return " · ".join([ORIGINS[trigger.origin], *([age(trigger.time, now)] if trigger.time else [])])


def triggers_from_text(text: str, phrases: Iterable[str]) -> list[str]:
    """Return the triggers between semicolons of a line; one of `phrases` that has a semicolon itself stays whole."""
    whole = {f"\0{number}\0": phrase for number, phrase in enumerate(phrases) if ";" in phrase}
    for mark, phrase_with_semicolon in whole.items():
        text = text.replace(phrase_with_semicolon, mark)
    parts = []
    for part in text.split(";"):
        line = part.strip()
        for mark, phrase_with_semicolon in whole.items():
            line = line.replace(mark, phrase_with_semicolon)
        parts.append(line)
    return list(dict.fromkeys(filter(None, parts)))
