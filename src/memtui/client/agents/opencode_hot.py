"""OpenCode as hooks and readers of sessions see it. Hot path."""

from memtui.client.agents.agent_hot import Agent


class Opencode(Agent):
    """OpenCode."""

    name = "opencode"
    title = "OpenCode"

    def owns(self, path: str) -> bool:
        return "/opencode.db#" in path


AGENT = Opencode()
