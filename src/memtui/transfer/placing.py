"""Where the memories of an export go here: into the scope of the same name, if it is of the same project."""

import os

from memtui.core.base import paths
from memtui.core.base.errors import NotFoundError
from memtui.core.memories import scopes
from memtui.core.memories.scopes import Scope
from memtui.core.memories.store import Store

AUTO = "auto"


def here(store: Store, label: str, project: str) -> Scope:
    """Return the scope here for one of an export: its label, and the name of the project that it is of, '' if it is of
    none. Also that of an agent that has no memory here yet. Raises NotFoundError."""
    own = os.path.basename(paths.project_root(store.cwd))
    kind, _, name = label.partition(":")
    wanted = name if kind == AUTO and name else project
    if kind == AUTO and wanted:
        return store.scope(AUTO) if wanted == own else store.scope(f"{AUTO}:{wanted}")
    if wanted and wanted != own:
        raise NotFoundError(
            f"It is of the project {wanted}, and this one is {own}.", "Import it there, or use --scope."
        )
    return scopes.agent(store.env, store.cwd, label) or store.scope(label)
