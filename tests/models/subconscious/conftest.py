"""A session of a project that the subconscious reads along with."""

import json
import os

import pytest

from e2e.model import use
from memtui.base import clock_hot, paths_hot
from memtui.inbox import format_hot
from memtui.models import log
from memtui.models.subconscious import block_files_hot, blocks, runs
from memtui.models.subconscious.run_process import Along

SETTINGS = ('llm_backend = "api"', 'subconscious = "full"')


class Read:
    """The world of one session, and its transcript."""

    def __init__(self, base, api, session="5e55-1"):
        self.api, self.base, self.session = api, base, session
        self.root, self.project = str(base / "memtui"), str(base / "shop")
        (base / "memtui").mkdir(exist_ok=True)
        (base / "shop" / ".git").mkdir(parents=True, exist_ok=True)
        self.settings(*SETTINGS)
        self.transcript = base / f"{session}.jsonl"
        self.rows, self.cwd = 0, ""
        self.env = {
            "HOME": str(base),
            "PATH": os.environ["PATH"],
            "CLAUDE_CONFIG_DIR": str(base / "config"),
            "MEMTUI_HOME": self.root,
            "ANTHROPIC_API_KEY": "sk-loopback",
            "ANTHROPIC_BASE_URL": api.url,
        }

    def client(self, script):
        """Have a script in the place of the client."""
        path = self.base / "bin" / "claude"
        path.parent.mkdir(exist_ok=True)
        path.write_text(f"#!/bin/sh\n{script}\n")
        path.chmod(0o755)
        self.env["PATH"] = f"{path.parent}:{self.env['PATH']}"

    def settings(self, *lines):
        (self.base / "memtui" / "config.toml").write_text("\n".join(lines) + "\n")

    @property
    def slug(self):
        return paths_hot.project_key(self.project)

    @property
    def blocks(self):
        return blocks.Blocks(self.root, self.slug)

    @property
    def runs(self):
        return runs.newest_first(self.root)

    @property
    def whispers(self):
        return [whisper for run in self.runs for whisper in run.whispers]

    @property
    def calls(self):
        return [(each.purpose, each.outcome) for each in log.newest_first(self.root)]

    def notes(self):
        return format_hot.read(f"{paths_hot.inbox_dir(self.root, self.slug)}/guidance.md")

    def talk(self):
        return [remark for run in runs.newest_first(self.root, 50, self.session)[::-1] for remark in run.remarks()]

    def block(self, name, text):
        path = block_files_hot.path(self.root, self.slug, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w") as file:
            file.write(text)

    def says(self, person="", agent="", *rows):
        """Let the person and the agent say something; further rows go to the transcript as they are."""
        found = list(rows)
        if person:
            found.insert(0, {"type": "user", "message": {"content": person}})
        if agent:
            found.append({"type": "assistant", "message": {"id": "m", "content": [{"type": "text", "text": agent}]}})
        with self.transcript.open("a") as file:
            for row in found:
                self.rows += 1
                told = {"uuid": f"u{self.rows}", "sessionId": self.session, "timestamp": clock_hot.iso(clock_hot.now())}
                file.write(json.dumps({**told, **row}) + "\n")

    @property
    def payload(self):
        return {
            "session_id": self.session,
            "transcript_path": str(self.transcript),
            "cwd": self.cwd or self.project,
            "hook_event_name": "Stop",
        }

    def along(self):
        return Along(self.env, self.payload)

    def answered(self, **parts):
        """Run, and let the model answer with these parts."""
        return self.run(use("answer", **parts))

    def run(self, *answers):
        if answers:
            self.api.will(*answers)
        return self.along().run()


@pytest.fixture
def read(tmp_path, api):
    return Read(tmp_path, api)
