"""What the palette finds beside the actions: themes, memories and projects by name, sessions by title."""

import os
from collections.abc import Callable
from functools import partial
from typing import NamedTuple

from memtui.core.base import paths
from memtui.core.base.phrasing import age
from memtui.core.client import projects, titles, transcript
from memtui.core.places import locate
from memtui.core.settings import config
from memtui.present import memories, safe_text
from memtui.tui.services import Services

# The newest sessions whose titles are looked up.
SESSIONS = 50


class Destination(NamedTuple):
    """A line of the palette: its title is searched, `words` follow it, `go` is run."""

    kind: str
    name: str
    words: str
    go: Callable[[], object]

    @property
    def title(self) -> str:
        """The kind and the name."""
        return f"{self.kind}: {self.name}"


def listed(services: Services) -> list[Destination]:
    """Read the names of the themes, memories, projects and sessions."""
    return [found for kind in (_themes, _memories, _projects, _sessions) for found in kind(services)]


def _themes(services: Services) -> list[Destination]:
    names = config.CHOICES["theme"]
    return [Destination("theme", name, "", partial(services.choose_theme, name)) for name in names]


def _memories(services: Services) -> list[Destination]:
    data, found = services.data, []
    for scope in data.scopes(every=True):
        if scope.problem or scope.kind == "instructions":
            continue
        try:
            names = [name for name, problem in locate.walk(scope.directory) if not problem]
        except OSError:
            continue
        where = memories.scope_name(scope, data.facts.project)
        for name in names:
            stem = safe_text.line(os.path.basename(name).removesuffix(locate.SUFFIX), 80)
            go = partial(services.go_to_memory, f"{scope.directory}/{name}")
            found.append(Destination("memory", stem, where, go))
    return found


def _projects(services: Services) -> list[Destination]:
    """Return the other projects that have memories of Claude Code's own."""
    scopes = [scope for scope in services.data.scopes(every=True) if scope.kind == "auto" and scope.label != "auto"]
    names = [safe_text.line(memories.scope_name(scope, "").partition(" ")[2], 80) for scope in scopes]
    return [
        Destination("project", name, "its memories", partial(services.go_to_scope, scope.label))
        for name, scope in zip(names, scopes, strict=True)
    ]


def _sessions(services: Services) -> list[Destination]:
    data, found = services.data, []
    if not data.statistics.ready:
        return []
    newest = sorted(data.statistics.sessions.items(), key=lambda pair: -pair[1][0])[:SESSIONS]
    finder = transcript.Finder(paths.config_dir(data.env))
    names = projects.names_of_roots(data.env, (root for _, (_, root, _) in newest))
    for session, (last, root, _) in newest:
        title = safe_text.line(titles.about(finder.find(session)).title or session[:8], 80)
        words = f"{names[root]}, {age(last, data.now())}"
        found.append(Destination("session", title, words, partial(services.show_activity, f"session:{session}")))
    return found
