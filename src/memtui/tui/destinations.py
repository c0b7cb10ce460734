"""What the palette finds beside the actions: themes, memories and projects by name, sessions by title."""

import asyncio
import os
from collections.abc import Callable
from functools import partial
from typing import NamedTuple

from textual.command import Hit, Hits, Provider

from memtui.core.base import paths
from memtui.core.base.phrasing import age
from memtui.core.client import projects, titles, transcript
from memtui.core.places import locate
from memtui.core.settings import config
from memtui.present import memories, safe_text
from memtui.tui.palette import line
from memtui.tui.services import Services, services_of

# Scores, below those of actions that are found by name: all words at the beginnings of words, or within them.
AT_START, WITHIN = 2.0, 1.5
# The most lines of each kind, and the newest sessions whose titles are looked up.
MOST, SESSIONS = 20, 50


class Destination(NamedTuple):
    """A line of the palette: `kind` and `name` are searched, `words` follow them, `go` is run."""

    kind: str
    name: str
    words: str
    go: Callable[[], object]


class Destinations(Provider):
    """The themes, memories, projects and sessions. Their names are listed when the palette opens."""

    async def startup(self) -> None:
        """List memories, projects and sessions in a thread."""
        services = services_of(self.screen)
        self._found = _themes(services)
        more = (_memories, _projects, _sessions)
        self._found += await asyncio.to_thread(lambda: [found for kind in more for found in kind(services)])

    async def search(self, query: str) -> Hits:
        """Find lines that have all words of the query."""
        words, matcher = query.casefold().split(), self.matcher(query)
        counts: dict[str, int] = {}
        scored = [(_score(each, words), each) for each in self._found]
        for score, each in sorted(scored, key=lambda pair: -pair[0]):
            counts[each.kind] = counts.get(each.kind, 0) + 1
            if score and counts[each.kind] <= MOST:
                name = f"{each.kind}: {each.name}"
                yield Hit(score, line(matcher.highlight(name), "", each.words), each.go, text=name)


def _score(each: Destination, words: list[str]) -> float:
    text = f"{each.kind}: {each.name}".casefold()
    if not words or not all(word in text for word in words):
        return 0.0
    parts = text.replace("-", " ").replace("_", " ").split()
    return AT_START if all(any(part.startswith(word) for part in parts) for word in words) else WITHIN


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
        found.append(Destination("session", title, words, partial(services.show_deliveries, session=session)))
    return found
