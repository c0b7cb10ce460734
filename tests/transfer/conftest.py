"""A project with an inbox, and what was imported into it."""

import pytest

from memtui.base import paths_hot
from memtui.review import waiting_entries
from memtui.store.store import Store
from memtui.transfer import import_plan

NOW = 1_795_000_000.0


class Desk:
    """A person at a project, who imports things from `tmp`."""

    def __init__(self, tmp, home="home", repo="shop"):
        self.tmp = tmp
        self.repo = tmp / repo
        (self.repo / ".git").mkdir(parents=True)
        config = tmp / home / ".claude"
        config.mkdir(parents=True)
        self.config = config
        self.env = {"HOME": str(tmp / home), "CLAUDE_CONFIG_DIR": str(config), "MEMTUI_HOME": str(config / "memtui")}

    @property
    def store(self):
        return Store(self.env, str(self.repo), now=lambda: NOW)

    def read(self, path, project="shop"):
        return import_plan.read(str(path), project=project, config_dir=str(self.config))

    def plan(self, path, project="shop", **how):
        return import_plan.plan(self.store, self.read(path, project), **how)

    def take(self, path, project="shop", **how):
        """Import a source, and return the drafts that wait then, by name."""
        self.plan(path, project, **how).write(self.store, "there")
        return self.drafts()

    def drafts(self):
        found = waiting_entries.waiting_in(self.env["MEMTUI_HOME"], [self.store_slug, None], ("updates",))
        return {each.entry.fields["name"]: each for each in found}

    @property
    def store_slug(self):
        return paths_hot.project_key(str(self.repo))

    def remember(self, name, text, scope="global"):
        store = self.store
        return store.create(store.scope(scope), name, text.partition("\n")[0], "feedback", text)


@pytest.fixture
def desk(tmp_path):
    return Desk(tmp_path)


@pytest.fixture
def elsewhere(tmp_path):
    """Another machine."""
    return Desk(tmp_path, "other-home", "elsewhere/shop")
