"""Codex as hooks and readers of sessions see it. Hot path."""

from memtui.client.agents import records_hot  # noqa: F401
from memtui.client.agents.agent_hot import Agent


class Codex(Agent):
    """Codex."""

    name = "codex"
    title = "Codex"

    def owns(self, path: str) -> bool:
        return path[path.rfind("/") + 1 :].startswith("rollout-")


AGENT = Codex()
