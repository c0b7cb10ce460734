"""Copilot CLI as hooks and readers of sessions see it. Hot path."""

from memtui.client.agents.agent_hot import Agent


class Copilot(Agent):
    """Copilot CLI."""

    name = "copilot"
    title = "Copilot CLI"

    def owns(self, path: str) -> bool:
        return path.endswith("/events.jsonl")


AGENT = Copilot()
