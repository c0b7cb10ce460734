"""Codex in a world of its own, and a session of it that stays open for many turns."""

import json
from pathlib import Path
from typing import Any

from e2e.client import Run
from e2e.model import Block, use

from .responses import Responses
from .world import AgentWorld, LineSession

PATCH = "*** Begin Patch\n*** Add File: {}\n{}\n*** End Patch"


class Session(LineSession):
    """`codex app-server`. `how`: settings of a new session."""

    def __init__(self, world: "CodexWorld", resume: str = "", **how: Any) -> None:
        super().__init__(world, "app-server")
        self.ask("initialize", clientInfo={"name": "tests", "version": "1"})
        self._take(self.ask("thread/resume" if resume else "thread/start", **({"threadId": resume} if resume else how)))

    def _take(self, answer: dict[str, Any]) -> None:
        self.id, self._turn = answer["thread"]["id"], ""

    def ask(self, method: str, **params: Any) -> Any:
        """The result of a request."""
        self.send(id=method, method=method, params=params)
        answer = self.receive(lambda message: message.get("id") == method)
        assert "result" in answer, answer
        return answer["result"]

    def begin(self, text: str) -> str:
        turn = self.ask("turn/start", threadId=self.id, input=[{"type": "text", "text": text}])
        self._turn = str(turn["turn"]["id"])
        return self._turn

    def end(self) -> None:
        own = {"method": "turn/completed", "threadId": self.id}  # a subagent's turns end, too
        self.receive(lambda message: own.items() <= {**message, **message.get("params", {})}.items())

    def stop(self) -> None:
        """Stop the turn, as Escape does."""
        self.ask("turn/interrupt", threadId=self.id, turnId=self._turn)
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


class CodexWorld(AgentWorld):
    """A home with a `.codex`, in which a person trusts memtui's hooks."""

    name = "codex"
    protocol = Responses

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
        head = 'model = "stand-in"\nmodel_provider = "loop"\nsandbox_mode = "danger-full-access"\n'
        head += 'approval_policy = "never"\n[model_providers.loop]'
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

    def trouble(self) -> None:
        super().trouble()
        settings = json.loads(self.hooks_file.read_text())
        settings["hooks"][self.prompt_event][0]["hooks"][0]["additionalContextLimit"] = 2500
        self.hooks_file.write_text(json.dumps(settings))
        self.trust()

    def session(self, resume: str = "", **how: Any) -> Session:
        return Session(self, resume, **how)

    def shell(self, command: str) -> Block:
        return use("exec_command", cmd=command)

    def write(self, path: Path, text: str) -> Block:
        """A patch by a command."""
        lines = "\n".join("+" + line for line in text.splitlines())
        return self.shell(f"apply_patch <<'EOF'\n{PATCH.format(path, lines)}\nEOF\n")

    def task(self, prompt: str) -> Block:
        return {**use("spawn_agent", message=prompt), "namespace": "multi_agent_v1"}

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
