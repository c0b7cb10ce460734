"""Run the hooks as the client does, with a payload on stdin, in a home of its own: in a fork of an interpreter that has loaded
them, or by the launcher in a process of its own, which takes ten times as long."""

import atexit
import functools
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import memtui
from memtui.base import paths_hot
from memtui.deliver import log_hot
from memtui.inbox import file_hot, format_hot
from memtui.store import trust_grants

SOURCES = Path(memtui.__file__).resolve().parents[1]
LAUNCHER = SOURCES / "memtui" / "hooks" / "launch.py"
PYTHON = os.path.realpath(getattr(sys, "_base_executable", sys.executable))
EVENTS = ("SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "PreCompact", "Stop", "SessionEnd")
SPEAKING = ("SessionStart", "UserPromptSubmit", "PreToolUse")
TOOL = {"tool_name": "Bash", "tool_input": {"command": "ls"}, "tool_use_id": "t1"}
MORE = {
    "SessionStart": {"source": "startup"},
    "UserPromptSubmit": {"prompt": "hi"},
    "PreToolUse": TOOL,
    "PostToolUse": {**TOOL, "tool_response": {}},
    "PreCompact": {"trigger": "auto", "custom_instructions": None},
    "Stop": {"stop_hook_active": False, "last_assistant_message": "Done."},
    "SessionEnd": {"reason": "other"},
}


@functools.cache
def server():
    """The interpreter that runs hooks in forks, for all tests of this process."""
    process = subprocess.Popen(
        [PYTHON, "-I", "-S", str(Path(__file__).with_name("fork_server.py")), str(SOURCES)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    atexit.register(process.communicate)
    return process


def ask_server(request):
    """The exit code of what it did."""
    server().stdin.write(json.dumps(request) + "\n")
    server().stdin.flush()
    return int(server().stdout.readline())


def run_in_fork(argv, data, env, directory, space=0):
    """The exit code of a hook, and what it printed on its two streams."""
    with tempfile.TemporaryDirectory() as place:
        streams = [Path(place, name) for name in ("in", "out", "err")]
        for path in streams:
            path.write_bytes(data if path.name == "in" else b"")
        request = {"argv": argv, "env": env, "directory": directory, "space": space, "streams": list(map(str, streams))}
        code = ask_server(request)
        return subprocess.CompletedProcess(argv, code, streams[1].read_bytes(), streams[2].read_bytes())


class Reply:
    """What a hook printed: `context` for the model, `message` for the person, `refusal`: why the tool must not run."""

    def __init__(self, event, done):
        assert done.returncode == 0, done
        assert done.stderr == b"", done.stderr.decode()
        self.raw = done.stdout
        self.context = self.message = self.refusal = ""
        if done.stdout:
            answer = json.loads(done.stdout)
            assert answer.keys() <= {"hookSpecificOutput", "systemMessage"}
            self.message = answer.get("systemMessage", "")
            if "hookSpecificOutput" in answer:
                output = answer["hookSpecificOutput"]
                assert output.pop("hookEventName") == event
                if output.pop("permissionDecision", None):
                    self.refusal = output.pop("permissionDecisionReason")
                    assert self.refusal
                assert self.refusal or output.keys() == {"additionalContext"}
                self.context = output.pop("additionalContext", "")
                assert self.context or self.refusal
                assert output == {}
                assert len(self.context.encode("utf-16-le")) // 2 <= 9000


class Home:
    """A home directory with one project, a Git repository by its looks."""

    def __init__(self, base):
        self.base = base
        self.project = base / "shop"
        (self.project / ".git").mkdir(parents=True)
        self.config = base / "home" / ".claude"
        self.root = self.config / "memtui"
        self.env = {"HOME": str(base / "home"), "PATH": "/usr/bin:/bin"}
        self.space = 0  # kilobytes of memory that a hook may have; 0: any
        self.launches = False  # whether each hook is a process of its own
        self.boxes = {
            "project": self.root / "projects" / paths_hot.project_key(str(self.project)),
            "global": self.root / "global",
        }

    @property
    def own_directory(self):
        """Where the client keeps what is about the project."""
        return self.config / "projects" / paths_hot.slug(str(self.project))

    def write_transcript(self, rows, session="s1"):
        """Write the records of a session as the client does."""
        path = self.own_directory / f"{session}.jsonl"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
        return path

    def payload(self, event, session="s1", **more):
        return {
            "session_id": session,
            "transcript_path": str(self.own_directory / f"{session}.jsonl"),
            "cwd": str(self.project),
            "hook_event_name": event,
            **MORE[event],
            **more,
        }

    def run(self, event, data, env=None, argv=None, launches=False):
        """One run on any bytes; the exit code and what it printed are always checked."""
        argv = [event] if argv is None else argv
        environment = {key: value for key, value in {**self.env, **(env or {})}.items() if value is not None}
        directory = str(self.base)
        if not (self.launches or launches):
            return Reply(event, run_in_fork(argv, data, environment, directory, self.space))
        command = [PYTHON, "-I", "-S", str(LAUNCHER), *argv]
        return Reply(
            event, subprocess.run(command, input=data, capture_output=True, env=environment, timeout=30, cwd=directory)
        )

    def hook(self, event, session="s1", env=None, **more):
        return self.run(event, json.dumps(self.payload(event, session, **more)).encode(), env)

    def settle(self):
        """Wait for the workers that hooks left behind."""
        ask_server({})

    def start(self, source="startup", session="s1", **more):
        return self.hook("SessionStart", session, source=source, **more)

    def prompt(self, session="s1", **more):
        return self.hook("UserPromptSubmit", session, **more)

    def tool(self, session="s1", name="Bash", **given):
        return self.hook("PreToolUse", session, tool_name=name, tool_input=given)

    def leave(self, inbox_kind, text, scope_="project", **fields):
        fields = {key.rstrip("_"): value for key, value in fields.items()}
        return file_hot.add_entry(str(self.boxes[scope_]), inbox_kind, fields, text)

    def remove(self, inbox_kind, entry_id):
        def change(source):
            (entry,) = [each for each in format_hot.parse(source) if each.id == entry_id]
            return source.replace(entry.raw, "")

        file_hot.rewrite(str(self.file(inbox_kind)), change)

    def guide(self, text, scope="project", **fields):
        return self.leave("guidance", text, scope, **fields)

    def waiting(self, scope="project"):
        return [entry.text for entry in format_hot.read(f"{self.boxes[scope]}/guidance.md")]

    def file(self, kind, scope="project"):
        path = self.boxes[scope] / format_hot.FILES[kind]
        path.parent.mkdir(parents=True, exist_ok=True)
        return path

    def settings(self, text):
        self.root.mkdir(parents=True, exist_ok=True)
        (self.root / "config.toml").write_text(text)

    def remember(self, name, description="What it says", kind="feedback", scope="global", trusted=True):
        """Write a memory into the global scope or the project's, trusted or as it came with the repository."""
        directory = self.config / "memory" if scope == "global" else self.project / ".claude" / "memory"
        directory.mkdir(parents=True, exist_ok=True)
        path = directory / f"{name}.md"
        path.write_text(f"---\nname: {name}\ndescription: {description}\nmetadata:\n  type: {kind}\n---\nBody.\n")
        if scope == "project" and trusted:
            trust_grants.grant(str(self.root), str(directory))
        return path

    def log(self):
        """The delivery log, oldest first."""
        return list(log_hot.newest_first(str(self.root)))[::-1]

    def errors(self):
        try:
            return [json.loads(line) for line in (self.root / "log" / "errors.jsonl").read_text().splitlines()]
        except OSError:
            return []

    def blocks(self):
        """What was logged as delivered in the last record: (kind, id)."""
        return [(item["kind"], item["id"]) for item in self.log()[-1]["items"] if "left_out" not in item]
