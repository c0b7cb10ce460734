"""Qwen Code in a world of its own, and a session of it that stays open for many turns."""

import json
import os
import signal
import subprocess
from pathlib import Path
from typing import Any, Self

from e2e.client import Run
from e2e.model import Request

from .world import AgentWorld

COMMON = ("--auth-type", "openai", "--yolo")
STREAM = ("--input-format", "stream-json", "--output-format", "stream-json")


class Session:
    """A session that stays open, as in a terminal: it takes prompts and commands as JSON lines."""

    def __init__(self, world: "QwenWorld", *args: str) -> None:
        self._world = world
        self.id = ""
        self._process = subprocess.Popen(
            [world.binary, *COMMON, *STREAM, *args],
            cwd=world.project,
            env=world.environment(),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            start_new_session=True,
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.communicate(timeout=60)

    def _send(self, message: dict[str, Any]) -> None:
        assert self._process.stdin
        self._process.stdin.write(json.dumps(message) + "\n")
        self._process.stdin.flush()

    def begin(self, text: str) -> None:
        """Begin a turn."""
        message = {"role": "user", "content": text}
        self._send({"type": "user", "message": message, "parent_tool_use_id": None, "session_id": self.id})

    def end(self) -> dict[str, Any]:
        """Wait until the turn has ended; its result."""
        assert self._process.stdout
        for line in self._process.stdout:
            message = json.loads(line)
            if message.get("type") == "result":
                self.id = message["session_id"]
                return dict(message)
        raise AssertionError("qwen ended in the middle of a turn")

    def say(self, text: str) -> list[Request]:
        """Run a turn, or a command, to its end; the requests of the conversation that it made."""
        before = len(self._world.model.requests)
        self.begin(text)
        self.end()
        return [request for request in self._world.model.requests[before:] if request.kind == "main"]

    def stop(self) -> None:
        """Stop the turn, as Escape does."""
        self._send({"type": "control_request", "request_id": "stop", "request": {"subtype": "interrupt"}})
        self.end()

    def kill(self) -> None:
        """Kill the program, and the one that waits for it."""
        os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()


class QwenWorld(AgentWorld):
    """A home with a `.qwen`, whose own memory is off: what it asks is no part of the conversation."""

    name = "qwen"

    def configure(self) -> None:
        self.qwen = self.home / ".qwen"
        self.qwen.mkdir()
        self.write({"memory": {"enableManagedAutoMemory": False, "enableManagedAutoDream": False}})

    def write(self, settings: dict[str, Any]) -> None:
        (self.qwen / "settings.json").write_text(json.dumps(settings, indent=2) + "\n")

    def read(self) -> dict[str, Any]:
        return dict(json.loads((self.qwen / "settings.json").read_text()))

    def variables(self) -> dict[str, str]:
        return {"OPENAI_API_KEY": "loopback", "OPENAI_BASE_URL": f"{self.model.url}/v1", "OPENAI_MODEL": "stand-in"}

    def command(self, prompt: str, resume: str) -> list[str]:
        return [*(["--resume", resume] if resume else []), *COMMON, "--output-format", "json", "-p", prompt]

    def session_of(self, run: Run) -> str:
        return str(json.loads(run.stdout)[-1]["session_id"])

    def session(self, *args: str) -> Session:
        """A session that stays open."""
        return Session(self, *args)

    def files(self) -> list[Path]:
        """The session files, oldest first."""
        return sorted(self.qwen.glob("projects/*/chats/*.jsonl"), key=lambda path: path.stat().st_mtime)
