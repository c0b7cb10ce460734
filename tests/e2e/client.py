"""The real Claude Code client in a world of its own: empty home, one project, a loopback model.

Nothing of the outer environment is passed on: a variable of an outer session would change what the hooks do.
"""

import contextlib
import fcntl
import functools
import json
import os
import re
import shutil
import subprocess
import sys
import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

import memtui
from memtui.base import ids_hot, paths_hot
from memtui.deliver import log_hot
from memtui.hooks.install import installation as install
from memtui.inbox import format_hot
from waiting import eventually

from .model import Model, Request

OLDEST = "2.1.197"
NEWEST = "newest"  # whatever npm has
VERSIONS = (OLDEST, NEWEST)
NAME = "@anthropic-ai/claude-code"
REPO = Path(__file__).resolve().parents[2]
CACHE = REPO / ".cache" / "client"  # a directory for each version; one without may lie in it as it is
BINARY = "node_modules/@anthropic-ai/claude-code-*/claude"  # a package for each platform
GET = "PYTHONPATH=tests .venv/bin/python -m e2e.client gets it"
TIMEOUT = 180  # seconds, also for a busy machine
SOURCES = Path(memtui.__file__).resolve().parents[1]


@functools.cache
def newest_version() -> str:
    """The newest version that npm has; RuntimeError if it can't be looked up. MEMTUI_TEST_NEWEST spares the question."""
    told = os.environ.get("MEMTUI_TEST_NEWEST")
    if told:
        return told
    return newest_on_npm(NAME)


def newest_on_npm(package: str) -> str:
    """The newest version of a package; RuntimeError if npm does not say it."""
    done = npm("view", package, "version")
    version = done.stdout.strip()
    if done.returncode or not re.fullmatch(r"\d+(\.\d+)+", version):
        problem = (done.stderr or version)[-500:]
        raise RuntimeError(f"npm does not say which version of {package} is the newest: {problem}")
    return version


def ensure_client(version: str) -> Path:
    """The client's binary, installed under `.cache/client` if it is not there. RuntimeError if it can't be had."""
    version = newest_version() if version == NEWEST else version
    binary = cached().get(version)
    if binary:
        return binary
    CACHE.mkdir(parents=True, exist_ok=True)
    with (CACHE / ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # other processes run tests, too
        if version not in cached():
            package = f"{NAME}@{version}"
            done = npm("install", "--no-audit", "--no-fund", "--prefix", str(CACHE / version), package)
            if version not in cached():
                raise RuntimeError(f"npm install of {package} gave no {BINARY}: {done.stderr.strip()[-500:]}")
    return cached()[version]


def npm(*args: str) -> "subprocess.CompletedProcess[str]":
    """Run npm; RuntimeError if there is none."""
    program = shutil.which("npm")
    if program is None:
        raise RuntimeError("npm is not on the PATH")
    return subprocess.run([program, *args], capture_output=True, text=True, timeout=300, check=False)


def cached() -> dict[str, Path]:
    """The clients under `.cache/client`, by version, oldest first."""
    found = {}
    for binary in [*CACHE.glob(BINARY), *CACHE.glob(f"[0-9]*/{BINARY}")]:
        try:
            version = json.loads((binary.parents[1] / "claude-code" / "package.json").read_text())["version"]
        except (OSError, ValueError, KeyError):
            continue
        found[version] = binary
    return dict(sorted(found.items(), key=lambda each: [int(part) for part in re.findall(r"\d+", each[0])]))


def client_or_skip(version: str) -> Path:
    """A client of `VERSIONS`; without it the tests are skipped with the way to get it, but in CI they fail."""
    try:
        if os.environ.get("CI", "").lower() == "true":
            if version == NEWEST and newest_version() == OLDEST:
                pytest.skip(f"{OLDEST} is the newest client")
            return ensure_client(version)
    except (RuntimeError, OSError, subprocess.SubprocessError) as error:
        pytest.fail(f"The Claude Code client is needed and could not be had: {error}")
    held = cached()
    if version == NEWEST:
        version = next(reversed([each for each in held if each != OLDEST]), version)
    if version not in held:
        pytest.skip(f"needs the Claude Code client, {version}: {GET}")
    return held[version]


@dataclass
class Run:
    """One `claude -p`: what it printed, the requests it made, and where its transcript is."""

    stdout: str
    stderr: str
    returncode: int
    requests: list[Request]
    session_id: str
    transcript_path: Path | None

    @property
    def main(self) -> list[Request]:
        """The requests of the conversation."""
        return [r for r in self.requests if r.kind == "main"]

    def transcript(self) -> list[dict[str, Any]]:
        """The transcript's records."""
        if self.transcript_path is None:
            return []
        return [json.loads(line) for line in self.transcript_path.read_text().splitlines()]

    def attachments(self, kind: str | None = None) -> list[dict[str, Any]]:
        """The `attachment` objects of the transcript, of one type if given."""
        found = [r["attachment"] for r in self.transcript() if r.get("type") == "attachment"]
        return [a for a in found if kind is None or a.get("type") == kind]


# How the client puts a hook's text before the model, in system messages and in reminders after tool results.
_HEADER = re.compile(r"(?:^|\n)(\w+)(?::[\w-]+)? hook additional context: ")
RULES = """---
name: shop-rules
description: How files of the shop are made
rules:
  - never: {path: "made/**"}
    enforce: refuse
  - never: {command: "touch asked*"}
    enforce: ask
  - never: {command: "touch told*"}
    instead: {command: "install *"}
---

Files of the shop are made by its generator.
"""
BLOCK = re.compile(r"<memtui-([a-z-]+)([^>]*)>\n(.*?)\n</memtui-\1>", re.DOTALL)


def contexts(request: Request) -> list[tuple[str, str]]:
    """(event, text) of each context that hooks put before the model. The last one in a system message may be
    followed by the client's own text, which nothing sets off."""
    found = []
    for text in request.strings():
        headers = list(_HEADER.finditer(text))
        ends = [*[h.start() for h in headers[1:]], len(text)]
        for header, end in zip(headers, ends, strict=False):
            said = text[header.end() : end].rstrip("\n").removesuffix("</system-reminder>").rstrip("\n")
            found.append((header[1], said))
    return found


@dataclass
class Injected:
    """One memtui block as the model saw it: guidance, index, pending-updates, …"""

    event: str
    kind: str
    attributes: dict[str, str]
    text: str


def injected(request: Request, kind: str | None = None) -> list[Injected]:
    """The memtui blocks in a request, in order, of one kind if given."""
    return [
        Injected(event, name, dict(re.findall(r'([\w-]+)="([^"]*)"', attributes)), body)
        for event, text in contexts(request)
        for name, attributes, body in BLOCK.findall(text)
        if kind in {None, name}
    ]


@dataclass
class World:
    """A home, a project and settings on disk. `claude()` runs the client in it."""

    base: Path
    model: Model
    binary: Path
    home: Path = field(init=False)
    config: Path = field(init=False)
    project: Path = field(init=False)
    env: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.home = self.base / "home with blanks"
        self.config = self.home / ".claude"
        self.project = self.base / "my project"
        self.config.mkdir(parents=True)
        self.project.mkdir()
        self.git("init", "-q", "-b", "main")
        self.git("commit", "-q", "--allow-empty", "-m", "start")
        self._approve()

    def _approve(self) -> None:
        """Skip what only an interactive first start asks: onboarding, the key, trust in the folder."""
        known = {
            "hasCompletedOnboarding": True,
            "lastOnboardingVersion": OLDEST,
            "theme": "dark",
            "customApiKeyResponses": {"approved": [KEY[-20:]], "rejected": []},
            "projects": {str(self.project): {"hasTrustDialogAccepted": True, "hasCompletedProjectOnboarding": True}},
        }
        (self.home / ".claude.json").write_text(json.dumps(known))

    def git(self, *args: str, cwd: Path | None = None) -> str:
        who = ["-c", "user.name=Test", "-c", "user.email=test@example.invalid", "-c", "commit.gpgsign=false"]
        done = subprocess.run(
            ["git", *who, *args],
            cwd=cwd or self.project,
            env=self.environment(),
            capture_output=True,
            text=True,
            check=True,
        )
        return done.stdout

    def environment(self, extra: Mapping[str, str] | None = None) -> dict[str, str]:
        """The whole environment of the client."""
        return {
            "HOME": str(self.home),
            "PATH": os.environ.get("PATH", "/usr/local/bin:/usr/bin:/bin"),
            "TERM": "xterm-256color",
            "LANG": "C.UTF-8",
            "ANTHROPIC_BASE_URL": self.model.url,
            "ANTHROPIC_API_KEY": KEY,
            "DISABLE_TELEMETRY": "1",
            "DISABLE_ERROR_REPORTING": "1",
            "DISABLE_AUTOUPDATER": "1",
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            "GIT_CONFIG_NOSYSTEM": "1",
            **self.env,
            **(extra or {}),
        }

    def install(self, scope: str = "user") -> None:
        """Install the hooks as `memtui setup hooks` does, without a process of its own for it."""
        env = self.environment()
        path = install.settings_path(env, str(self.project), scope)
        install.apply(install.plan(path, "install", env=env, scope=scope))

    def asks(self, backend: str) -> None:
        """Let memtui ask its model through a backend; `claude` is the client under test."""
        programs = self.base / "programs"
        programs.mkdir(exist_ok=True)
        (programs / "claude").unlink(missing_ok=True)
        (programs / "claude").symlink_to(self.binary)
        self.env["PATH"] = f"{programs}:{os.environ['PATH']}"
        self.memtui("config", "set", "llm_backend", backend)

    def switch_on(self, *flags: str) -> None:
        """Have the client find features switched on that its vendor switches on for some people."""
        path = self.home / ".claude.json"
        known = json.loads(path.read_text())
        path.write_text(json.dumps({**known, "cachedGrowthBookFeatures": dict.fromkeys(flags, True)}))
        self.env["CLAUDE_CODE_GB_DISK_CACHE_WHEN_TELEMETRY_OFF"] = "1"

    def allow(self, *tools: str) -> None:
        """Have the client use tools without asking."""
        self.settings({**self.settings(), "permissions": {"allow": list(tools)}})

    def settings(self, value: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """Write (if given) and read the user's settings.json."""
        path = self.config / "settings.json"
        if value is not None:
            path.write_text(json.dumps(value, indent=2) + "\n")
        return json.loads(path.read_text()) if path.exists() else {}

    def start(
        self, prompt: str, *args: str, cwd: Path | None = None, env: Mapping[str, str] | None = None
    ) -> "subprocess.Popen[str]":
        """Start `claude -p` and return at once."""
        return subprocess.Popen(
            [str(self.binary), "-p", prompt, *args],
            cwd=cwd or self.project,
            env=self.environment(env),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def claude(
        self,
        prompt: str,
        *args: str,
        resume: str | None = None,
        session: str | None = None,
        cwd: Path | None = None,
        env: Mapping[str, str] | None = None,
    ) -> Run:
        """Run `claude -p PROMPT` to its end. A new session gets the id `session` (or a fresh one)."""
        given = session or str(uuid.uuid4())
        own = {"--resume", "--session-id", "--continue"}.intersection(args)
        which = () if own else ("--resume", resume) if resume else ("--session-id", given)
        before = len(self.model.requests)
        process = self.start(prompt, *which, *args, "--output-format", "json", cwd=cwd, env=env)
        try:
            out, err = process.communicate(timeout=TIMEOUT)
        except subprocess.TimeoutExpired:
            process.kill()
            out, err = process.communicate()
            pytest.fail(f"claude did not end in {TIMEOUT} s: {out[-500:]} {err[-500:]}")
        try:
            result = json.loads(out)
        except ValueError:
            result = {}
        session_id = result.get("session_id", resume or given)
        text = result.get("result", out)
        return Run(text, err, process.returncode, self.model.requests[before:], session_id, self.transcript(session_id))

    @property
    def root(self) -> Path:
        """memtui's own directory in this world."""
        return self.config / "memtui"

    def inbox(self, kind: str = "guidance", scope: str = "project") -> Path:
        """An inbox file of the project or of the global scope; it need not be there."""
        name = {"updates": "pending-updates", "items": "pending-items"}.get(kind, kind)
        place = "global" if scope == "global" else f"projects/{paths_hot.project_key(str(self.project))}"
        return self.root / place / f"{name}.md"

    def leave(self, text: str, kind: str = "guidance", scope: str = "project", **fields: str) -> str:
        """Leave an entry as any script may, with `>>`: bare text, or with fields (`for_` is `for`). Returns its id."""
        path = self.inbox(kind, scope)
        path.parent.mkdir(parents=True, exist_ok=True)
        given = {k.rstrip("_"): v for k, v in fields.items()}
        if given:
            given.setdefault("id", ids_hot.new_id())
            line = " ".join(f'{k}="{v}"' for k, v in given.items())
            text = f"<!-- memtui {line} -->\n{text}\n<!-- /memtui -->"
        with path.open("a") as file:
            file.write(text + "\n")
        return given.get("id", "")

    def waiting(self, kind: str = "guidance", scope: str = "project") -> str:
        """What an inbox file holds; empty if it is not there."""
        path = self.inbox(kind, scope)
        return path.read_text() if path.exists() else ""

    def remember(self, name: str, description: str, scope: str = "global", kind: str = "feedback") -> Path:
        """Put a memory file where a person would."""
        place = self.config / "memory" if scope == "global" else self.project / ".claude" / "memory"
        place.mkdir(parents=True, exist_ok=True)
        path = place / f"{name}.md"
        path.write_text(
            f"---\nname: {name}\ndescription: {description}\nmetadata:\n  type: {kind}\n---\n{description}\n"
        )
        return path

    def enforce(self, run: Callable[[str], Run]) -> None:
        """Put a memory with enforced rules where a person would, and `run` a turn until hooks know them."""
        (self.config / "memory").mkdir()
        (self.config / "memory" / "shop-rules.md").write_text(RULES)
        run("hello")
        assert eventually((self.root / "rules" / "enforced").exists)

    def drafts(self) -> list[format_hot.Entry]:
        """The drafts that wait in the inboxes of projects."""
        files = self.root.glob("projects/*/pending-updates.md")
        return [entry for each in files for entry in format_hot.read(str(each))]

    def deliveries(self) -> list[dict[str, Any]]:
        """The delivery log, oldest first."""
        return list(log_hot.newest_first(str(self.root)))[::-1]

    def errors(self) -> list[dict[str, Any]]:
        """What memtui logged while failing open."""
        path = self.root / "log" / "errors.jsonl"
        return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []

    def memtui(
        self, *args: str, check: bool = True, stdin: str = "", sources: Path | None = None
    ) -> "subprocess.CompletedProcess[str]":
        """Run the command line in this world, from the project."""
        done = subprocess.run(
            [sys.executable, "-m", "memtui", *args],
            cwd=self.project,
            env=self.environment({"PYTHONPATH": str(sources or SOURCES)}),
            input=stdin,
            capture_output=True,
            text=True,
            timeout=TIMEOUT,
        )
        if check and done.returncode:
            pytest.fail(f"memtui {' '.join(args)} ended with {done.returncode}: {done.stdout}{done.stderr}")
        return done

    def memtui_json(self, *args: str) -> Any:
        """The `data` of a command's JSON answer."""
        return json.loads(self.memtui(*args, "--json").stdout)["data"]

    def workers_ended(self) -> bool:
        """Whether nothing runs any more that a client and its hooks started in this world. Needs /proc."""
        home = b"HOME=%s\0" % os.fsencode(self.home)
        for path in Path("/proc").glob("[0-9]*/environ"):
            with contextlib.suppress(OSError):  # it has ended, or is another user's
                if home in path.read_bytes():
                    return False
        return True

    def transcript(self, session_id: str) -> Path | None:
        """Where the transcript of a session is, if it is there."""
        return next(iter(sorted((self.config / "projects").glob(f"*/{session_id}.jsonl"))), None)


KEY = "sk-ant-loopback-stand-in-0000000000000000"


if __name__ == "__main__":
    try:
        for one in VERSIONS:
            there = ensure_client(one)
            print(
                subprocess.run([there, "--version"], capture_output=True, text=True, check=True).stdout.strip(), there
            )
    except (RuntimeError, OSError, subprocess.SubprocessError) as error:
        sys.exit(f"The Claude Code client is needed and could not be had: {error}")
