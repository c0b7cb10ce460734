"""Codex in a world of its own, and a session of it that stays open for many turns."""

import json
import subprocess
import threading
from typing import Any, Self

from e2e.client import TIMEOUT, Run
from e2e.model import Request

from .world import AgentWorld


class Session:
    """A session that stays open, as in a terminal: `codex app-server`, which speaks JSON lines."""

    def __init__(self, world: "CodexWorld", thread: str = "", **how: Any) -> None:
        self._world = world
        self._process = subprocess.Popen(
            [world.binary, "app-server"],
            cwd=world.project,
            env=world.environment(),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        self._watch = threading.Timer(TIMEOUT, self._process.kill)
        self._watch.daemon = True
        self._watch.start()
        self.ask("initialize", clientInfo={"name": "tests", "version": "1"})
        self._take(self.ask("thread/resume" if thread else "thread/start", **({"threadId": thread} if thread else how)))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.communicate(timeout=60)
        self._watch.cancel()

    def _take(self, answer: dict[str, Any]) -> None:
        self.id, self.path = answer["thread"]["id"], answer["thread"]["path"]

    def ask(self, method: str, **params: Any) -> Any:
        """The result of a request."""
        assert self._process.stdin
        self._process.stdin.write(json.dumps({"id": method, "method": method, "params": params}) + "\n")
        self._process.stdin.flush()
        answer = self._await("id", method)
        assert "result" in answer, answer
        return answer["result"]

    def _await(self, key: str, value: str) -> dict[str, Any]:
        assert self._process.stdout
        for line in self._process.stdout:
            message = json.loads(line)
            if message.get(key) == value:
                return dict(message)
        raise AssertionError(f"codex ended before {key}={value}")

    def begin(self, text: str) -> str:
        """Begin a turn and return its id."""
        turn = self.ask("turn/start", threadId=self.id, input=[{"type": "text", "text": text}])
        return str(turn["turn"]["id"])

    def end(self) -> None:
        """Wait until the turn has ended."""
        self._await("method", "turn/completed")

    def say(self, text: str) -> list[Request]:
        """Run a turn to its end; the requests that it made."""
        before = len(self._world.model.requests)
        self.begin(text)
        self.end()
        return self._world.model.requests[before:]

    def stop(self, turn: str) -> None:
        """Stop a turn, as Escape does."""
        self.ask("turn/interrupt", threadId=self.id, turnId=turn)
        self.end()

    def compact(self) -> None:
        """Run /compact."""
        self.ask("thread/compact/start", threadId=self.id)
        self.end()

    def fork(self) -> None:
        """Go on in a copy."""
        self._take(self.ask("thread/fork", threadId=self.id))

    def go_back(self, turn: str) -> None:
        """Go on from before a turn, as a prompt that is edited does."""
        self._take(self.ask("thread/revert", threadId=self.id, beforeTurnId=turn))

    def clear(self) -> None:
        """Begin a new session in the same process, as /new does."""
        self._take(self.ask("thread/start", sessionStartSource="clear"))

    def kill(self) -> None:
        """Kill the program."""
        self._process.kill()
        self._process.wait()


class CodexWorld(AgentWorld):
    """A home with a `.codex`, in which a person trusts memtui's hooks."""

    name = "codex"

    def configure(self) -> None:
        self.codex = self.home / ".codex"
        self.codex.mkdir()
        provider = {
            "name": "loop",
            "base_url": f"{self.model.url}/v1",
            "wire_api": "responses",
            "env_key": "OPENAI_API_KEY",
        }
        lines = [f"{key} = {json.dumps(value)}" for key, value in provider.items()]
        head = 'model = "stand-in"\nmodel_provider = "loop"\n[model_providers.loop]'
        (self.codex / "config.toml").write_text("\n".join([head, *lines, ""]))

    def variables(self) -> dict[str, str]:
        return {"OPENAI_API_KEY": "loopback"}

    def command(self, prompt: str, resume: str) -> list[str]:
        return ["exec", *(["resume", "--json", resume] if resume else ["--json"]), prompt]

    def session_of(self, run: Run) -> str:
        started = [json.loads(line) for line in run.stdout.splitlines() if "thread.started" in line]
        return str(started[0]["thread_id"]) if started else run.session_id

    def install(self, scope: str = "user") -> None:
        super().install()
        self.trust()

    def session(self, thread: str = "", **how: Any) -> Session:
        """A session that stays open; `thread`: the id of one to be resumed; `how`: settings of a new one."""
        return Session(self, thread, **how)

    def hooks(self) -> dict[str, Any]:
        """The hooks as Codex lists them, with warnings and errors."""
        with self.session() as session:
            return dict(session.ask("hooks/list", cwds=[str(self.project)])["data"][0])

    def trust(self) -> None:
        """Trust all hooks, as a person does in /hooks."""
        with self.session() as session:
            (listed,) = session.ask("hooks/list", cwds=[str(self.project)])["data"]
            state = {hook["key"]: {"trusted_hash": hook["currentHash"]} for hook in listed["hooks"]}
            edit = {"keyPath": "hooks.state", "value": state, "mergeStrategy": "upsert"}
            assert session.ask("config/batchWrite", edits=[edit])["status"] == "ok"

    def add_hook(self, event: str, command: str, **more: Any) -> None:
        """Add a person's own hook behind those that are there, and trust it."""
        path = self.codex / "hooks.json"
        settings = json.loads(path.read_text()) if path.exists() else {"hooks": {}}
        hook = {"type": "command", "command": command, **more}
        settings["hooks"].setdefault(event, []).append({"hooks": [hook]})
        path.write_text(json.dumps(settings))
        self.trust()
