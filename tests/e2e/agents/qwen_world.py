"""Qwen Code in a world of its own, and a session of it that stays open for many turns."""

import json
from pathlib import Path

from e2e.client import Run
from e2e.model import Block, say, use

from .chat import Chat
from .world import AgentWorld, LineSession

COMMON = ("--auth-type", "openai", "--yolo")
STREAM = ("--input-format", "stream-json", "--output-format", "stream-json")


class Session(LineSession):
    """A run that takes prompts and commands as JSON lines."""

    def __init__(self, world: "QwenWorld", resume: str = "", *args: str) -> None:
        super().__init__(world, *COMMON, *STREAM, *(["--resume", resume] if resume else []), *args)

    def begin(self, text: str) -> None:
        message = {"role": "user", "content": text}
        self.send(type="user", message=message, parent_tool_use_id=None, session_id=self.id)

    def end(self) -> None:
        self.id = self.receive(lambda message: message.get("type") == "result")["session_id"]

    def stop(self) -> None:
        """Stop the turn, as Escape does."""
        self.send(type="control_request", request_id="stop", request={"subtype": "interrupt"})
        self.end()

    def compact(self) -> None:
        """Run /compress, which compacts only a conversation that has tokens to spare."""
        self.world.model.will(say("Done.", input_tokens=20_000))
        self.say("a long one: " + "words " * 3000)
        self.world.model.will("<state_snapshot>We talked about the project.</state_snapshot>")
        self.say("/compress")
        assert any("chat_compression" in path.read_text() for path in self.world.qwen.glob("projects/*/chats/*.jsonl"))

    def clear(self) -> None:
        self.say("/clear")

    def fork(self) -> None:
        """Go on in a copy, which is a process of its own."""
        self.__exit__()
        self.start(*COMMON, *STREAM, "--resume", self.id, "--fork-session")


class QwenWorld(AgentWorld):
    """A home with a `.qwen`, whose own memory is off: what it asks is no part of the conversation."""

    name = "qwen"
    protocol = Chat
    timeout = 1500

    def configure(self) -> None:
        self.qwen = self.home / ".qwen"
        self.qwen.mkdir()
        settings = {"memory": {"enableManagedAutoMemory": False, "enableManagedAutoDream": False}}
        self.hooks_file.write_text(json.dumps(settings, indent=2) + "\n")

    def variables(self) -> dict[str, str]:
        return {"OPENAI_API_KEY": "loopback", "OPENAI_BASE_URL": f"{self.model.url}/v1", "OPENAI_MODEL": "stand-in"}

    def command(self, prompt: str, resume: str) -> list[str]:
        return [*(["--resume", resume] if resume else []), *COMMON, "--output-format", "json", "-p", prompt]

    def session_of(self, run: Run) -> str:
        return str(json.loads(run.stdout)[-1]["session_id"])

    def session(self, resume: str = "", *args: str) -> Session:
        return Session(self, resume, *args)

    def shell(self, command: str) -> Block:
        return use("run_shell_command", command=command, description="run", is_background=False)

    def write(self, path: Path, text: str) -> Block:
        return use("write_file", file_path=str(path), content=text)

    def task(self, prompt: str) -> Block:
        return use("agent", description="look", prompt=prompt, subagent_type="general-purpose")
