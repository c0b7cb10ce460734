"""Copilot CLI in a world of its own, a session of it that stays open, and one in a terminal."""

import json
import re
import time
from pathlib import Path
from typing import Any

from e2e.client import Run
from e2e.model import Block, use

from .chat import Chat
from .programs import CACHE
from .world import BLOCKING, KEY_SECONDS, AgentWorld, LineSession, TerminalSession


class Session(LineSession):
    """A session as an editor has it."""

    def __init__(self, world: "CopilotWorld", resume: str = "") -> None:
        super().__init__(world, "--acp", "--allow-all-tools")
        self._number = 0
        self._place = {"cwd": str(world.project), "mcpServers": []}
        self.ask("initialize", protocolVersion=1, clientCapabilities={})
        if resume:
            self.id = resume
            self.ask("session/load", sessionId=resume, **self._place)
        else:
            self.clear()

    def request(self, method: str, **params: Any) -> None:
        self._number += 1
        self.send(jsonrpc="2.0", id=self._number, method=method, params=params)

    def ask(self, method: str, **params: Any) -> Any:
        self.request(method, **params)
        return self.end()

    def end(self) -> Any:
        return self.receive(lambda message: message.get("id") == self._number and "result" in message)["result"]

    def clear(self) -> None:
        """Begin a new session in the same process, as `/clear` does."""
        self.id = self.ask("session/new", **self._place)["sessionId"]

    def begin(self, text: str) -> None:
        self.request("session/prompt", sessionId=self.id, prompt=[{"type": "text", "text": text}])

    def stop(self) -> None:
        """Stop the turn, as Escape does."""
        self.send(jsonrpc="2.0", method="session/cancel", params={"sessionId": self.id})
        self.end()

    def compact(self) -> None:
        self.say("/compact")


class Terminal(TerminalSession):
    """A session in a terminal."""

    idle, busy = "/ commands", "Working"

    def stop(self) -> None:
        """Press Escape twice in a turn, which takes its prompt back into the line."""
        for _ in range(2):
            self.press("\x1b")
            time.sleep(3 * KEY_SECONDS)
        self.see("", gone=self.busy)
        self.press("\x15")

    def fork(self) -> None:
        """Go on in a copy."""
        self.command("/fork ", "Forked from")

    def clear(self) -> None:
        """Begin a new session."""
        self.command("/clear", "Started a fresh session")


class CopilotWorld(AgentWorld):
    """A home with a `.copilot` in which the project's folder is trusted."""

    name = "copilot"
    protocol = Chat
    can_fork = False

    def configure(self) -> None:
        self.copilot = self.home / ".copilot"
        self.copilot.mkdir()
        (self.copilot / "config.json").write_text(json.dumps({"trustedFolders": [str(self.project)]}))

    def variables(self) -> dict[str, str]:
        return {
            "COPILOT_OFFLINE": "true",
            "COPILOT_AUTO_UPDATE": "false",
            "COPILOT_PROVIDER_BASE_URL": f"{self.model.url}/v1",
            "COPILOT_MODEL": "stand-in",
            "XDG_CACHE_HOME": str(CACHE / "copilot" / "unpacked"),  # else each home gets 300 MB
        }

    def command(self, prompt: str, resume: str) -> list[str]:
        return ["-p", prompt, "--allow-all-tools", *(["--resume", resume] if resume else [])]

    def session_of(self, run: Run) -> str:
        return str(re.findall(r"--resume=(\S+)", run.stdout + run.stderr)[-1])

    def session(self, resume: str = "") -> Session:
        return Session(self, resume)

    def terminal(self) -> Terminal:
        """A session in a terminal."""
        return Terminal(self, "--allow-all-tools")

    def trouble(self) -> None:
        self.fate.write_text("")
        settings = json.loads(self.hooks_file.read_text())
        (hook,) = settings["hooks"][self.prompt_event]
        hook |= {"bash": self.troubled(hook["bash"]), "timeoutSec": self.timeout}
        self.hooks_file.write_text(json.dumps(settings))
        self.hook("aa", self.prompt_event, BLOCKING.format(self.fate))  # files run in the reverse order of their names

    def hook(self, name: str, event: str, command: str) -> None:
        """Add a file of hooks of the person's own."""
        place = self.copilot / "hooks" / f"{name}.json"
        place.parent.mkdir(exist_ok=True)
        place.write_text(json.dumps({"version": 1, "hooks": {event: [{"type": "command", "bash": command}]}}))

    def shell(self, command: str) -> Block:
        return use("bash", command=command, description="d")

    def write(self, path: Path, text: str) -> Block:
        return use("create", path=str(path), file_text=text)

    def task(self, prompt: str) -> Block:
        return use("task", prompt=prompt, description="d", agent_type="general-purpose", name="n", mode="sync")
