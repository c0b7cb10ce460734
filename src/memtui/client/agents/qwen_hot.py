"""Qwen Code as hooks and readers of sessions see it. Hot path."""

from memtui.client.agents.agent_hot import Agent


class Qwen(Agent):
    """Qwen Code."""

    name = "qwen"
    title = "Qwen Code"

    def owns(self, path: str) -> bool:
        return path.rsplit("/", 2)[-2:-1] == ["chats"] and "/chats/session-" not in path


AGENT = Qwen()
