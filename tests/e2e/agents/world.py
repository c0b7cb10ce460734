"""Another agent's real program in a world of its own: empty home, one project, a loopback model, memtui's hooks.

A subclass for each agent says how its program is configured and called. Notes, memories, deliveries and the command line are
those of `tests/e2e/client.py`.
"""

import re
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from e2e.client import BLOCK, TIMEOUT, Injected, Run, World
from e2e.model import Request
from memtui.deliver import receipts_hot


@dataclass
class AgentWorld(World):
    """A home, a project and an agent's settings on disk. `run()` runs the agent in it."""

    name = ""  # as in `memtui setup hooks --agent`

    def __post_init__(self) -> None:
        super().__post_init__()
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

    def environment(self, extra: Mapping[str, str] | None = None) -> dict[str, str]:
        """The whole environment: nothing of Claude Code's."""
        shared = super().environment(self.variables() | dict(extra or {}))
        return {name: value for name, value in shared.items() if not name.startswith(("ANTHROPIC_", "CLAUDE_"))}

    def install(self, scope: str = "user") -> None:
        """Install memtui's hooks for this agent."""
        self.memtui("setup", "hooks", "--agent", self.name, "--yes")

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


def blocks(request: Request, kind: str | None = None) -> list[Injected]:
    """The memtui blocks that the model was sent, in order, of one kind if given."""
    return [
        Injected("", name, dict(re.findall(r'([\w-]+)="([^"]*)"', attributes)), body)
        for name, attributes, body in BLOCK.findall(request.text())
        if kind in {None, name}
    ]
