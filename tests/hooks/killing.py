"""A world to kill memtui's writers in.

Writers run in forks of the warm test process, in place of a new interpreter each. They die by a SIGKILL from outside
at a random moment, or by their own hand right before a chosen system call that changes something. A stand-in for the
client writes the transcript as the real one does (2.1.197): a complete JSON on stdout arrives even from a hook that
was killed right after it.
"""

import contextlib
import json
import os
import posix
import random
import re
import signal
import tempfile
import time
import traceback
import uuid
import warnings

import turns
from memtui.base import clock_hot, fs_hot, ids_hot, paths_hot
from memtui.deliver import log_hot
from memtui.hooks import prompt_hot, runner_hot, tools_hot, user_prompt_submit_hot, worker_start_hot  # noqa: F401  imported before the forks
from memtui.inbox import claims_hot, file_hot, format_hot, reconciliation_hot

CALLS = ("open", "write", "rename", "link", "unlink", "mkdir", "fsync", "ftruncate")
TOKEN = re.compile(r"note-[0-9]+-[0-9a-f]{8}")
BLOCK = re.compile(r"<memtui-guidance ([^>]*)>(.*?)</memtui-guidance>", re.DOTALL)
# What the transcript tells: all hooks' attachments; none (an old client); or there is no transcript at all.
TOLD, SILENT, NONE = "told", "silent", "none"
GONE = 137


def arm(point: int, action):
    """Run `action(name, arguments)` in place of the `point`-th changing call of this process, counted from 1."""
    count = 0

    def wrap(name, real):
        def call(*args, **named):
            nonlocal count
            if name != "open" or args[1] & posix.O_CREAT:
                count += 1
                if count == point:
                    return action(real, name, args, named)
            return real(*args, **named)

        return call

    for name in CALLS:
        setattr(posix, name, wrap(name, getattr(posix, name)))


def die(*_):
    os.kill(os.getpid(), signal.SIGKILL)


def without(source, entry_ids):
    """As a person who deletes entries in an editor."""
    for entry in reversed(format_hot.parse(source)):
        if entry.id in entry_ids:
            source = source[: entry.start] + source[entry.start + len(entry.raw) :]
    return source


def torn(real, name, args, named):
    """Die in the middle of a write, just before its end, or before any other call."""
    if name == "write":
        fd, data = args
        real(fd, data[:-8])
    die()


class Child:
    """A forked process: its output, and how it ended."""

    def __init__(self, body, stdin: bytes = b"", env: "dict[str, str] | None" = None, point: int = 0, action=die):
        out, given = scratch(), scratch(stdin)
        self.code: int | None = None
        self.output = b""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # a runner's threads take no part in this
            self.pid = os.fork()
        if self.pid == 0:
            code = 70
            try:
                os.dup2(given, 0)
                os.dup2(out, 1)
                if env is not None:
                    posix.environ.clear()
                    posix.environ.update({k.encode(): v.encode() for k, v in env.items()})
                if point:
                    arm(point, action)
                body()
                code = 0
            except BaseException:
                traceback.print_exc()
            finally:
                os._exit(code)
        os.close(given)
        self._out = out

    def kill(self) -> "Child":
        os.kill(self.pid, signal.SIGKILL)
        return self.wait()

    def wait(self) -> "Child":
        if self.code is None:
            status = os.waitpid(self.pid, 0)[1]
            self.code = GONE if os.WIFSIGNALED(status) else os.WEXITSTATUS(status)
            self.output = os.pread(self._out, 1 << 20, 0)
            os.close(self._out)
        assert self.code in {0, GONE}, "a writer failed by itself: see its traceback in stderr"
        return self

    @property
    def killed(self) -> bool:
        return self.code == GONE


def scratch(data: bytes = b"") -> int:
    """A file without a name that holds `data`."""
    if hasattr(os, "memfd_create"):
        fd = os.memfd_create("scratch")
    else:
        fd, name = tempfile.mkstemp()
        os.unlink(name)
    os.write(fd, data)
    os.lseek(fd, 0, os.SEEK_SET)
    return fd


class World:
    """A root with inboxes, sessions that prompt, and the account of what their models were shown."""

    def __init__(self, base: str, seed: int = 0):
        self.random = random.Random(seed)
        self.config = base + "/config"
        self.root = self.config + "/memtui"
        self.project = base + "/project"
        os.makedirs(self.project)
        os.makedirs(self.config)
        self.env = {"CLAUDE_CONFIG_DIR": self.config, "CLAUDE_PROJECT_DIR": self.project, "HOME": base}
        self.slug = paths_hot.slug(self.project)
        self.inboxes = [
            paths_hot.inbox_dir(self.root, paths_hot.project_key(self.project)),
            paths_hot.inbox_dir(self.root, None),
        ]
        self.written: list[str] = []
        self.withdrawn: list[str] = []
        self.shown: dict[str, list[tuple[str, bool, str]]] = {}  # token -> (delivery, marked as repeat, mode)

    def token(self) -> str:
        name = f"note-{len(self.written)}-{self.random.getrandbits(32):08x}"
        self.written.append(name)
        return name

    def guide(self, directory: str, size: int = 20, **fields: str) -> str:
        token = self.token()
        fields = {"id": ids_hot.new_id(), "time": clock_hot.iso_seconds(time.time()), "from": "test", **fields}
        entry = format_hot.render(fields, token + " " + "x" * size)
        fs_hot.append(directory + "/guidance.md", entry.encode())  # no fsync: a world is made for every crash
        return token

    def scribble(self, directory: str, token: str = "") -> str:
        """What a shell's `>>` does: no lock, no fields."""
        token = token or self.token()
        os.makedirs(directory, exist_ok=True)
        fd = os.open(directory + "/guidance.md", os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        os.write(fd, f"by hand {token}\n".encode())
        os.close(fd)
        return token

    @contextlib.contextmanager
    def late_writer(self, directory: str):
        """A shell that has opened the guidance before what happens, and writes to it afterwards."""
        fd = os.open(directory + "/guidance.md", os.O_WRONLY | os.O_APPEND)
        yield
        os.write(fd, f"by one that opened the file before: {self.token()}\n".encode())
        os.close(fd)

    def mark(self) -> None:
        """Note, also for the parent of this process, that the point was reached."""
        os.close(os.open(self.root + "/mark", os.O_CREAT))

    @property
    def marked(self) -> bool:
        return os.path.exists(self.root + "/mark")

    def take_out(self, token: str):
        """As a person who withdraws an entry; a token of no entry only completes what another one began."""

        def change(source):
            return without(source, {e.id for e in format_hot.parse(source) if token in e.text})

        file_hot.rewrite(self.inboxes[0] + "/guidance.md", change)

    def note_withdrawn(self, token: str) -> None:
        if not any(token in e.text for e in self.waiting()):
            self.withdrawn.append(token)

    def settle(self, later: float = 61.0) -> None:
        reconciliation_hot.reconcile(self.env, self.root, now=time.time() + later)

    def waiting(self) -> "list[format_hot.Entry]":
        return [e for d in self.inboxes for e in format_hot.read(d + "/guidance.md")]

    def claimed(self) -> "list[str]":
        return [
            f"{d}/claimed/{n}"
            for d in self.inboxes
            if os.path.isdir(d + "/claimed")
            for n in os.listdir(d + "/claimed")
        ]

    def drain(self, session: "Session") -> None:
        """Prompt on until nothing waits for anybody who asks, and no claim is left."""
        for later in (0.0, 61.0, 61.0, 4000.0, 4000.0, 4000.0):
            session.prompt()
            self.settle(later)
            if not self.claimed() and not self._deliverable(session):
                break
        assert self.claimed() == []

    def _deliverable(self, session: "Session") -> bool:
        recipient = claims_hot.Recipient(session.id, "", self.project, time.time())
        return any(claims_hot.addressed(e, recipient) and len(e.text) < 8000 for e in self.waiting())

    def log(self) -> "list[dict]":
        lines = [line for path in log_hot.months(self.root) for line in fs_hot.read_bytes(path).split(b"\n")]
        return [record for line in lines if (record := log_hot.parse(line)) is not None]

    def account(self, last: "Session", dropped: bool = False) -> None:
        """After a last session took all there is: nothing lost; twice only where no transcript told and no log, and then
        marked. With `dropped` the client took a delivery without a word about it, so that it counts as delivered."""
        self.drain(last)
        left: dict[str, list[bool]] = {}
        for entry in self.waiting():
            for token in TOKEN.findall(entry.text):
                left.setdefault(token, []).append(entry.flag("repeat"))
        assert not os.path.exists(self.root + "/log/errors.jsonl"), fs_hot.read_bytes(self.root + "/log/errors.jsonl")
        logged = {record.get("id") for record in self.log()}
        assert not {*self.shown, *left} - {*self.written}
        for token in self.written:
            seen = self.shown.get(token, [])
            counted = len(seen) + len(left.get(token, [])) + (token in self.withdrawn)
            if dropped:
                counted += any(token in str(record.get("text")) for record in self.log())
            assert counted, f"{token} is lost"
            again = [repeat for _, repeat, _ in seen] + left.get(token, []) + [False] * (token in self.withdrawn)
            story = f"{token}: shown {seen}, left {left.get(token)}"
            for (earlier, _, mode), marked in zip(seen, again[1:], strict=False):
                assert mode != TOLD, f"again although the transcript told: {story}"
                assert earlier not in logged, f"again although it was logged: {story}"
                assert marked, f"again, not marked: {story}"
            assert len(left.get(token, [])) <= 1, f"in the inbox twice: {story}"


class Session:
    """A session of the client: it prompts, and writes the transcript."""

    def __init__(self, world: World, mode: str = TOLD):
        self.world = world
        self.mode = mode
        self.id = str(uuid.UUID(int=world.random.getrandbits(128), version=4))
        self.transcript = f"{world.config}/projects/{world.slug}/{self.id}.jsonl"
        self._turn = 0
        self._tip: str | None = None

    def start(self, event: str = "UserPromptSubmit", point: int = 0, action=die, before=lambda: None) -> Child:
        """Start a hook without waiting for it; `before` runs in its process first."""
        payload = {
            "session_id": self.id,
            "transcript_path": self.transcript,
            "cwd": self.world.project,
            "hook_event_name": event,
        }
        if event == "PreToolUse":
            payload |= {"tool_name": "Bash", "tool_input": {"command": "true"}, "tool_use_id": f"toolu_{self._turn}"}
        else:
            payload |= {"prompt": "go on", "prompt_id": f"prompt_{self._turn}"}
        stdin = json.dumps(payload).encode() + b"\n"
        return Child(lambda: (before(), runner_hot.main([event])), stdin, self.world.env, point, action)

    def finish(self, child: Child, event: str = "UserPromptSubmit", dropped: str = "") -> Child:
        """Take what the hook printed, as the client does, and let the model answer. `dropped`: the client does not give
        it to the model, since it was `late` or `large`."""
        child.wait()
        out = child.output
        if event == "UserPromptSubmit":
            said = {"role": "user", "content": "go on"}
            self._record({"type": "user", "promptId": f"prompt_{self._turn}", "message": said})
        self._turn += 1
        text = ""
        try:
            text = json.loads(out)["hookSpecificOutput"]["additionalContext"]
        except (ValueError, KeyError):
            assert child.killed or not out, f"not one whole JSON: {out!r}"
        base = {"hookName": event, "toolUseID": f"hook-{self._turn}", "hookEvent": event}
        command = "/usr/bin/python3 -I -S /x/memtui/hooks/launch.py " + event
        if dropped == "late":
            end = {"type": "hook_cancelled", "command": command, "durationMs": 9, "timedOut": True, "timeoutMs": 9}
            self._attach({**base, **end})
        elif dropped == "large":
            note = "<persisted-output>\nOutput too large (9.8KB). Full output saved to: /x\n" + text[:2000]
            self._attach({**base, "type": "hook_additional_context", "content": [note]})
        elif text:
            for head, body in BLOCK.findall(text):
                fields = dict(re.findall(r'(\w+)="([^"]*)"', head))
                for token in TOKEN.findall(body):
                    entry = (fields["delivery"], fields.get("repeat") == "yes", self.mode)
                    self.world.shown.setdefault(token, []).append(entry)
            self._attach({**base, "type": "hook_additional_context", "content": [text]})
        elif child.killed:
            error = {"type": "hook_non_blocking_error", "stdout": "", "exitCode": 1}
            self._attach({**base, **error, "command": command, "durationMs": 9})
        answer = {"id": f"msg_{self._turn}", "role": "assistant", "content": [{"type": "text", "text": "done"}]}
        time.sleep(0.001)
        self._record({"type": "assistant", "message": answer})
        if self.mode == NONE:
            # What the hook of the turn's end notes: the worker that it leaves behind would settle at its own time.
            worker_start_hot._note_claims(
                runner_hot.Hook("Stop", self.world.env, {"session_id": self.id}, time.monotonic())
            )
        return child

    def prompt(self, event="UserPromptSubmit", point=0, action=die, before=lambda: None, dropped="") -> Child:
        return self.finish(self.start(event, point, action, before), event, dropped)

    def _attach(self, found: dict) -> None:
        if self.mode == TOLD:
            self._record({"type": "attachment", "attachment": found})

    def _record(self, record: dict) -> None:
        if self.mode == NONE:
            return
        os.makedirs(os.path.dirname(self.transcript), exist_ok=True)
        stamp = clock_hot.iso(time.time())
        rows = [{"timestamp": stamp, "sessionId": self.id, "isSidechain": False, **record}]
        if self.mode == TOLD and not os.path.exists(self.transcript):
            rows.append({"type": "attachment", "timestamp": stamp, "attachment": {"type": "skill_listing"}})
        for row in rows:
            name = str(uuid.UUID(int=self.world.random.getrandbits(128), version=4))
            row |= {"uuid": name, "parentUuid": self._tip}
            self._tip = name
        with open(self.transcript, "ab") as file:
            file.write(b"".join(json.dumps(row).encode() + b"\n" for row in rows))


def every_point(run, limit: int = 200):
    """Call `run(point)` for 1, 2, 3 … until it says that the writer came through: every crash there can be, each fourth of
    them in turn."""
    for point in range(1, limit):
        if not turns.due(point):
            continue
        try:
            through = run(point)
        except BaseException as error:
            error.add_note(f"killed at changing call {point}")
            raise
        if through:
            return point - 1
    raise AssertionError("the writer never came to its end")
