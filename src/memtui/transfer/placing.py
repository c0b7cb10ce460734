"""Where the memories of an export go here: into the scope of the same kind of the same project, and nowhere else."""

import os

from memtui.core.base import paths
from memtui.core.base.errors import NotFoundError
from memtui.core.client import projects
from memtui.core.memories import scopes
from memtui.core.memories.scopes import Scope
from memtui.core.memories.store import Store
from memtui.transfer import identity
from memtui.transfer.identity import NAMED, SURE, ProjectIdentity

AUTO = "auto"
IN_ITS_FOLDER = "Run it again in the folder of that project, or with --only {} and --scope."


class Places:
    """The scopes here for those of an export."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self.root = paths.project_root(store.cwd)
        self.own = identity.of_project(store.env, paths.slug(self.root), self.root)
        self._others: list[tuple[str, ProjectIdentity]] | None = None

    def here(self, label: str, project: ProjectIdentity) -> tuple[Scope, int]:
        """Return the scope here for one of an export, by its label and the project that it is of, and how sure it is
        that this is the one (NAMED, SURE). Also that of an agent or a project that has no memory here yet. Raises
        NotFoundError."""
        kind = label.partition(":")[0]
        sure = self.own.likeness(project) if project else SURE
        if kind == AUTO and project:
            return self._auto(label, project, sure)
        if sure not in {NAMED, SURE}:
            told = f"It is of {_called(project)}, and this one is {self.own.name}."
            raise NotFoundError(told, IN_ITS_FOLDER.format(label))
        return scopes.agent(self.store.env, self.store.cwd, label) or self.store.scope(label), sure

    def _auto(self, label: str, project: ProjectIdentity, own: int) -> tuple[Scope, int]:
        if own == SURE:
            return self.store.scope(AUTO), SURE
        likely = [(each.likeness(project), slug) for slug, each in self._elsewhere()]
        for sure in (SURE, NAMED):
            found = [slug for likeness, slug in likely if likeness == sure]
            if sure == NAMED and own == NAMED:
                found.append("")
            if len(found) == 1:
                return (self._scope(found[0]) if found[0] else self.store.scope(AUTO)), sure
            if found:
                told = f"Several projects here could be {_called(project)} that it is of."
                raise NotFoundError(told, IN_ITS_FOLDER.format(label))
        raise NotFoundError(f"It is of {_called(project)}, which is not known here.", IN_ITS_FOLDER.format(label))

    def _elsewhere(self) -> list[tuple[str, ProjectIdentity]]:
        """List the other projects of the client, by slug."""
        if self._others is None:
            env, own = self.store.env, paths.slug(self.root)
            top = paths.config_dir(env) + "/projects"
            slugs = [each for each in projects.directories(top) if each != own]
            known = projects.paths_of(env, slugs)
            self._others = [(slug, identity.of_project(env, slug, known[slug])) for slug in slugs]
        return self._others

    def _scope(self, slug: str) -> Scope:
        directory = f"{paths.config_dir(self.store.env)}/projects/{slug}/memory"
        if os.path.isdir(directory):
            return self.store.scope(f"{AUTO}:{slug}")
        return Scope(AUTO, f"{AUTO}:{slug}", directory, None, slug, exists=False)


def _called(project: ProjectIdentity) -> str:
    return f"the project {project.name}" if project.name else "another project"
