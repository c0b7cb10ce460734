"""OpenCode in a world of its own, and a server of it, with which one session has many turns."""

import contextlib
import json
import re
import socket
import sqlite3
import subprocess
import urllib.error
import urllib.request
from contextlib import closing
from pathlib import Path
from typing import Any, Self

from e2e.client import TIMEOUT, Run
from e2e.model import Block, use
from memtui.client.agents import opencode
from waiting import eventually

from .chat import Chat
from .world import AgentWorld, OpenSession

MODEL = {"providerID": "loop", "modelID": "stand-in"}


# A plugin of a person's own: it ends a prompt, or takes memtui's text out of it.
THEIRS = """import {{ readFileSync }} from "node:fs"
export const Theirs = async () => ({{
  "chat.message": async (input, output) => {{
    const fate = readFileSync({}, "utf8")
    if (fate === "blocked") throw new Error("theirs")
    if (fate === "dropped") output.parts.splice(1)
  }},
}})
"""


class Session(OpenSession):
    """A session of `opencode serve`, which the terminal's screens talk to as well."""

    def __init__(self, world: "OpencodeWorld", resume: str = "") -> None:
        super().__init__(world)
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self._url = f"http://127.0.0.1:{free.getsockname()[1]}"
        self._process = subprocess.Popen(
            [world.binary, "serve", "--port", self._url.rpartition(":")[2]],
            cwd=world.project,
            env=world.environment(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        assert eventually(self._answers, TIMEOUT), "opencode serve does not answer"
        self.id = resume or self.ask("POST", "/session")["id"]

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.terminate()
        self._process.wait(timeout=60)

    def _answers(self) -> bool:
        try:
            # A request that comes while the server begins is never answered.
            self.ask("GET", "/config", seconds=2)
        except OSError:
            return False
        return True

    def ask(self, method: str, path: str, seconds: float = TIMEOUT, **body: Any) -> Any:
        """The answer to a request."""
        request = urllib.request.Request(
            self._url + path,
            method=method,
            data=json.dumps(body).encode() if method == "POST" else None,
            headers={"content-type": "application/json"},
        )
        with urllib.request.urlopen(request, timeout=seconds) as answer:
            return json.loads(answer.read() or b"null")

    def _post(self, what: str, **body: Any) -> Any:
        return self.ask("POST", f"/session/{self.id}/{what}", **body)

    def begin(self, text: str) -> None:
        """Begin a turn and return at once."""
        self._post("prompt_async", parts=[{"type": "text", "text": text}])

    def turn(self, text: str) -> None:
        with contextlib.suppress(urllib.error.HTTPError):  # a plugin threw
            self._post("message", parts=[{"type": "text", "text": text}])

    def command(self, name: str, arguments: str) -> None:
        """Run a person's own command, as /name does."""
        self._post("command", command=name, arguments=arguments)

    def shell(self, command: str) -> None:
        """Run a program, as a prompt that begins with an exclamation mark does."""
        self._post("shell", command=command, agent="build", model=MODEL)

    def stop(self) -> None:
        """Stop a turn, as Escape does."""
        self._post("abort")

    def compact(self) -> None:
        """Run /compact."""
        self._post("summarize", **MODEL)

    def fork(self) -> None:
        """Go on in a copy."""
        self.id = self._post("fork")["id"]

    def undo(self) -> None:
        """Take back the newest prompt, as /undo does."""
        undone = self.ask("GET", f"/session/{self.id}").get("revert", {}).get("messageID", "~")
        messages = [message["info"] for message in self.ask("GET", f"/session/{self.id}/message")]
        prompts = [message["id"] for message in messages if message["role"] == "user" and message["id"] < undone]
        self._post("revert", messageID=prompts[-1])

    def clear(self) -> None:
        """Begin a new session in the same process, as /new does."""
        self.id = self.ask("POST", "/session")["id"]

    def kill(self) -> None:
        """Kill the program."""
        self._process.kill()
        self._process.wait()


class OpencodeWorld(AgentWorld):
    """A home with OpenCode's settings, in which it needs no package from npm."""

    name = "opencode"
    protocol = Chat

    def configure(self) -> None:
        self.settings = self.home / ".config" / "opencode"
        self.plugins = self.settings / "plugins"
        (self.settings / "node_modules").mkdir(parents=True)
        lock = {"packages": {"": {"dependencies": {opencode.PACKAGE: "1"}}}}
        (self.settings / "package-lock.json").write_text(json.dumps(lock))
        provider = {
            "npm": "@ai-sdk/openai-compatible",
            "name": "Loop",
            "options": {"baseURL": f"{self.model.url}/v1", "apiKey": "loopback"},
            "models": {MODEL["modelID"]: {"name": "Stand-in", "limit": {"context": 200_000, "output": 8_000}}},
        }
        model = f"{MODEL['providerID']}/{MODEL['modelID']}"
        config = {
            "$schema": "https://opencode.ai/config.json",  # it would be added
            "model": model,
            "small_model": model,
            "share": "disabled",
            "provider": {MODEL["providerID"]: provider},
        }
        (self.settings / "opencode.json").write_text(json.dumps(config))

    def variables(self) -> dict[str, str]:
        return {"OPENCODE_DISABLE_AUTOUPDATE": "1", "OPENCODE_DISABLE_MODELS_FETCH": "1"}

    def command(self, prompt: str, resume: str) -> list[str]:
        return ["run", *(["-s", resume] if resume else []), prompt]

    def session_of(self, run: Run) -> str:
        with closing(sqlite3.connect(self.home / ".local" / "share" / "opencode" / "opencode.db")) as database:
            query = "SELECT session_id FROM message ORDER BY time_created DESC LIMIT 1"
            return str(next(database.execute(query), [""])[0])

    def session(self, resume: str = "") -> Session:
        return Session(self, resume)

    def trouble(self) -> None:
        self.fate.write_text("")
        (self.plugins / "theirs.js").write_text(THEIRS.format(json.dumps(str(self.fate))))
        commands = re.findall(r'"/?[^"]*--agent opencode"', self.hooks_file.read_text())
        source = self.hooks_file.read_text().replace("10_000", "1_000")
        for command in commands:
            source = source.replace(command, json.dumps(self.troubled(json.loads(command))))
        self.hooks_file.write_text(source)

    def shell(self, command: str) -> Block:
        return use("bash", command=command, description="Run")

    def write(self, path: Path, text: str) -> Block:
        return use("write", filePath=str(path), content=text)

    def task(self, prompt: str) -> Block:
        return use("task", description="Look", prompt=prompt, subagent_type="general")
