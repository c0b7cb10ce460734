"""Another agent's real program in a world of its own: empty home, one project, a loopback model, memtui's hooks.

A subclass for each agent says how its program is configured and called. Notes, memories, deliveries and the command line are
those of `tests/e2e/client.py`.
"""

import json
import os
import re
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Self

import pytest

from e2e.client import BLOCK, TIMEOUT, Injected, Run, World
from e2e.model import Block, Reply, Request, say
from e2e.screen import MemtuiTerminal
from memtui.client.agents import agents_hot, programs
from memtui.deliver import receipts_hot
from waiting import eventually

from .loopback import Loopback

KEY_SECONDS = 0.1  # keys that come in one burst count as a paste, Enter included
LONGEST = 600  # seconds that a session may last
# What ends memtui's prompt hook, and what a person's own hook says behind it, by a word in a file.
AFTER = "; case $(cat '{0}') in late) sleep 9;; killed) kill -9 $$;; failed) exit 1;; esac"
BLOCKING = """if grep -qx blocked '{0}'; then echo '{{"decision": "block", "reason": "no"}}'; fi"""


@dataclass
class AgentWorld(World):
    """A home, a project and an agent's settings on disk. `run()` runs the agent in it."""

    name: ClassVar[str] = ""  # as in `memtui setup hooks --agent`
    protocol: ClassVar[type[Loopback]]
    prompt_event: ClassVar[str] = "UserPromptSubmit"
    timeout: ClassVar[float] = 1  # of a prompt hook in `trouble`, in the agent's own unit
    can_fork: ClassVar[bool] = True

    def __post_init__(self) -> None:
        super().__post_init__()
        self.agent, self.program = agents_hot.load(self.name), programs.load(self.name)
        self.fate = self.base / "fate"
        self.configure()

    def configure(self) -> None:
        """Write what an interactive first start would ask, and where the model is."""
        raise NotImplementedError

    def variables(self) -> dict[str, str]:
        """What the agent needs in its environment."""
        return {}

    def command(self, prompt: str, resume: str) -> list[str]:
        """The arguments of a run without a terminal, which goes on with the session `resume` if one is named."""
        raise NotImplementedError

    def session_of(self, run: Run) -> str:
        """The id of the session that a run began or went on with."""
        raise NotImplementedError

    def session(self, resume: str = "") -> Any:
        """A session that stays open for many turns; `resume`: the id of one that goes on."""
        raise NotImplementedError

    def shell(self, command: str) -> Block:
        """The call of the tool that runs a command."""
        raise NotImplementedError

    def write(self, path: Path, text: str) -> Block:
        """The call of the tool that writes a file."""
        raise NotImplementedError

    def task(self, prompt: str) -> Block:
        """The call of the tool that starts a subagent."""
        raise NotImplementedError

    def report(self, request: Request, words: str) -> Reply:
        """What a subagent says at its end."""
        return say(words)

    def environment(self, extra: Mapping[str, str] | None = None) -> dict[str, str]:
        """The whole environment: nothing of Claude Code's."""
        shared = super().environment({"PWD": str(self.project)} | self.variables() | dict(extra or {}))
        return {name: value for name, value in shared.items() if not name.startswith(("ANTHROPIC_", "CLAUDE_"))}

    def install(self, scope: str = "user") -> None:
        """Install memtui's hooks for this agent."""
        self.memtui("setup", "hooks", "--agent", self.name, "--yes")

    @property
    def hooks_file(self) -> Path:
        return Path(self.program.hooks_file(self.environment()))

    def trouble(self) -> None:
        """Let the prompt hook, and a person's own one behind it, do what `fate` says: late, killed, failed or blocked."""
        self.fate.write_text("")
        settings = json.loads(self.hooks_file.read_text())
        groups = settings["hooks"][self.prompt_event]
        (hook,) = groups[-1]["hooks"]
        hook |= {"command": self.troubled(hook["command"]), "timeout": self.timeout}
        groups.append({"hooks": [{"type": "command", "command": BLOCKING.format(self.fate)}]})
        self.hooks_file.write_text(json.dumps(settings))

    def troubled(self, command: str) -> str:
        return command.replace("exec ", "") + AFTER.format(self.fate)

    def begin(
        self,
        prompt: str,
        *args: str,
        resume: str = "",
        cwd: Path | None = None,
        env: Mapping[str, str] | None = None,
        stdin: int = subprocess.DEVNULL,
    ) -> "subprocess.Popen[str]":
        """Start the agent and return at once."""
        return subprocess.Popen(
            [str(self.binary), *self.command(prompt, resume), *args],
            cwd=cwd or self.project,
            env=self.environment(env),
            stdin=stdin,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def run(self, prompt: str, *args: str, resume: str = "", stdin: str | None = None, **how: Any) -> Run:
        """Run one turn to its end. `stdin`: what is piped into the agent; `how`: its `cwd` and `env`."""
        before = len(self.model.requests)
        process = self.begin(
            prompt, *args, resume=resume, stdin=subprocess.DEVNULL if stdin is None else subprocess.PIPE, **how
        )
        try:
            out, err = process.communicate(stdin, timeout=TIMEOUT)
        except subprocess.TimeoutExpired:
            process.kill()
            out, err = process.communicate()
            pytest.fail(f"{self.name} did not end in {TIMEOUT} s: {out[-500:]} {err[-500:]}")
        run = Run(out, err, process.returncode, self.model.requests[before:], resume, None)
        run.session_id = self.session_of(run)
        return run

    def receipts(self) -> list[str]:
        """What became of each delivery with a text, oldest first, as the session files show it."""
        records = [record for record in self.deliveries() if record.get("text")]
        outcomes = receipts_hot.outcomes(records, self.environment())
        return [outcomes[str(record["id"])] for record in records]

    def heard(self) -> str:
        """The drafts of the project and of the global scope, once all workers have ended."""
        assert eventually(self.workers_ended)
        text = "".join(self.waiting("updates", scope=scope) for scope in ("project", "global"))
        return text.replace("\n> ", " ")


class OpenSession:
    """A session that stays open, as in a terminal."""

    def __init__(self, world: Any) -> None:
        self.world = world

    def turn(self, text: str) -> None:
        """Run a turn to its end."""
        raise NotImplementedError

    def say(self, text: str) -> list[Request]:
        """Run a turn to its end; the requests of the conversation that it made."""
        before = len(self.world.model.main)
        self.turn(text)
        return list(self.world.model.main[before:])


class LineSession(OpenSession):
    """A session of a program that takes and gives JSON lines."""

    def __init__(self, world: AgentWorld, *command: str) -> None:
        super().__init__(world)
        self.id = ""
        self.start(*command)

    def start(self, *command: str) -> None:
        """Start the program."""
        self._process = subprocess.Popen(
            [self.world.binary, *command],
            cwd=self.world.project,
            env=self.world.environment(),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            start_new_session=True,
        )
        self._watch = threading.Timer(LONGEST, self._process.kill)
        self._watch.daemon = True
        self._watch.start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.communicate(timeout=60)
        self._watch.cancel()

    def send(self, **message: Any) -> None:
        assert self._process.stdin
        self._process.stdin.write(json.dumps(message) + "\n")
        self._process.stdin.flush()

    def receive(self, is_wanted: Callable[[dict[str, Any]], object]) -> dict[str, Any]:
        """Read up to the message that is wanted."""
        assert self._process.stdout
        for line in self._process.stdout:
            message = json.loads(line)
            if is_wanted(message):
                return dict(message)
        raise AssertionError(f"{self.world.name} ended in the middle of a turn")

    def begin(self, text: str) -> Any:
        """Begin a turn."""
        raise NotImplementedError

    def end(self) -> Any:
        """Wait until the turn has ended."""
        raise NotImplementedError

    def turn(self, text: str) -> None:
        self.begin(text)
        self.end()

    def kill(self) -> None:
        """Kill the program, and what waits for it."""
        os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()


class TerminalSession(MemtuiTerminal, OpenSession):
    """A session in a terminal. `idle`, `busy`: what shows that it waits for a prompt, and that it works."""

    idle = busy = ""

    def __init__(self, world: AgentWorld, *args: str) -> None:
        super().__init__(world, *args, size=(120, 40), program=(str(world.binary),))
        self.world = world
        self.see(self.idle)

    def begin(self, text: str) -> None:
        """Type a line and press Enter."""
        self.see(self.idle)
        self.press(text)
        self.see(re.escape(text[-20:]))
        time.sleep(KEY_SECONDS)
        self.press("\r")

    def turn(self, text: str) -> None:
        model, before = self.world.model, len(self.world.model.main)
        self.begin(text)
        if self.world.fate.exists() and self.world.fate.read_text() == "blocked":
            time.sleep(20 * KEY_SECONDS)  # it asks nobody
        else:
            assert eventually(lambda: len(model.main) > before and model.main[-1].is_last)
        for _ in range(2):  # it may not have shown yet that it works
            self.see(self.idle, gone=self.busy)
            time.sleep(2 * KEY_SECONDS)

    def command(self, line: str, pattern: str) -> None:
        """Give a command, and wait for what it shows."""
        self.begin(line)
        self.see(pattern, gone=self.busy)

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()


def count(request: Request, *texts: str) -> list[int]:
    """How often texts stand in a request, escaped or not."""
    plain = request.text().replace("&lt;", "<").replace("&gt;", ">")
    return [plain.count(text) for text in texts]


def blocks(request: Request, kind: str | None = None) -> list[Injected]:
    """The memtui blocks that the model was sent, in order, of one kind if given."""
    return [
        Injected("", name, dict(re.findall(r'([\w-]+)="([^"]*)"', attributes)), body)
        for name, attributes, body in BLOCK.findall(request.text())
        if kind in {None, name}
    ]
