"""Gemini CLI as hooks and readers of sessions see it. Hot path."""

from memtui.client.agents.agent_hot import Agent


class Gemini(Agent):
    """Gemini CLI."""

    name = "gemini"
    title = "Gemini CLI"

    def owns(self, path: str) -> bool:
        return "/chats/session-" in path


AGENT = Gemini()
