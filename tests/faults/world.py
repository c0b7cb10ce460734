"""A world with one of everything, sessions that prompt in it, and what can be seen of it from outside."""

import json
import os
import re
import time

import running

from memtui.base import clock_hot, ids_hot, paths_hot
from memtui.inbox import format_hot

ULID = re.compile(r"\b01[0-9A-HJKMNP-TV-Z]{24}\b")
FIXED = re.compile(r"\b01\w{8}0{12}FX\w\w\b")
TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z")
# Process ids, random parts of names, milliseconds, what names a file system's file.
NUMBER = re.compile(
    r"\.\d+-[0-9a-f]{8}\.tmp|~\d+\.md|\"ms\": [\d.]+|memtui-\w{8}/|\b[0-9a-f]{32,64}\b|\"stamp\": \S+ \S+ \d+|\"seat\": \S+"
)
STAMP = re.compile(r"\b\d{17,20}\b")
TOKEN = re.compile(r"tok-[a-z]+[0-9]+")
BLOCK = re.compile(r"<memtui-([a-z-]+) ([^>]*)>(.*?)</memtui-\1>", re.DOTALL)
FIELD = re.compile(r'([\w-]+)="([^"]*)"')
DAY = 86400.0
# What the transcript tells: all hooks' attachments; or there is none (--no-session-persistence).
TOLD, NONE = "told", "none"
RULE = "No, use pnpm. From now on always use pnpm for {session}."
LAST = "Remaining:\n- Write docs"
MEMORY = "---\nname: {name}\ndescription: {name} says tok-m{number}\nmetadata:\n  type: feedback\n---\n{body}\n"
SETTINGS = """{
    "model": "opus",   "hooks": {"Stop": [{"hooks": [{"type": "command", "command": "true"}]}]},
  "env": {"A":"tok-s1"}
}"""
CONFIG = '# mine: tok-c1\nmode = "full"   # not whisper\n\nbudget = 9000\n'


class World:
    """Places below `top`: a home with a configuration directory, the project `shop`, another one."""

    def __init__(self, top: str) -> None:
        self.top = top
        self.home = top + "/home"
        self.config = self.home + "/.claude"
        self.root = self.config + "/memtui"
        self.shop = top + "/shop"
        self.other = top + "/other"
        self.slug, self.key = paths_hot.slug(self.shop), paths_hot.project_key(self.shop)
        self.native = f"{self.config}/projects/{self.slug}/memory"
        self.inboxes = {
            "project": paths_hot.inbox_dir(self.root, self.key),
            "global": paths_hot.inbox_dir(self.root, None),
        }
        self.env = {"HOME": self.home, "PATH": os.environ["PATH"], "TMPDIR": top + "/tmp", "LC_ALL": "C.UTF-8"}
        self.since = time.time() - 3600
        self.made = 0  # when it was ready, in nanoseconds
        self.ids: dict[str, str] = {}

    def id(self, name: str) -> str:
        """The id of the entry of this name, as `u1`."""
        return ids_hot.new_id(self.since)[:10] + "000000000000FX" + name.upper()

    def write(self, path: str, text: str) -> None:
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w") as file:
            file.write(text)
        os.chmod(path, 0o600)

    def leave(self, kind: str, name: str, text: str, where: str = "project", **fields: str) -> str:
        """An entry as it stands in an inbox."""
        stamp = clock_hot.iso_seconds(self.since)
        path = f"{self.inboxes[where]}/{format_hot.FILES[kind]}"
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "a") as file:
            file.write(format_hot.render({"id": self.id(name), "time": stamp, **fields}, text))
        os.chmod(path, 0o600)
        return path

    def build(self) -> None:
        """Everything a hook or a command treats in its own way. With the clock of an hour ago."""
        for path in (self.shop + "/.git", self.other + "/.git", self.top + "/tmp", self.root):
            os.makedirs(path)
        os.chmod(self.root, 0o700)
        self.write(self.config + "/settings.json", SETTINGS)
        self.write(self.root + "/config.toml", CONFIG)
        for number, (directory, name) in enumerate(
            [
                *((self.config + "/memory", "alpha"), (self.config + "/memory", "beta")),
                *((self.shop + "/.claude/memory", "deploy"), (self.shop + "/.claude/memory", "odd")),
                *((self.native, "native"), (self.native, "bulky"), (self.native, "gone")),
            ]
        ):
            body = f"Body of tok-b{number}, see [[alpha]] and [[native]]."
            self.write(f"{directory}/{name}.md", MEMORY.format(name=name, number=number, body=body))
        index = "# Mine tok-x1\n" + "".join(f"- [{n}]({n}.md) — {n} says so\n" for n in ("native", "bulky", "gone"))
        self.write(self.native + "/MEMORY.md", index + "\nwords of mine tok-x2\n")
        self.leave("guidance", "g1", "tok-g1 plain", **{"from": "cli"})
        self.leave("guidance", "g2", "tok-g2 urgent", urgent="yes")
        path = self.leave("guidance", "g3", "tok-g3 for another", **{"for": "session:somebody"})
        with open(path, "a") as file:
            file.write("by hand tok-g4\n")
        self.leave("guidance", "g5", "tok-g5 " + "long " * 2000)
        self.leave("guidance", "g6", "tok-g6 expired", expires="2020-01-01T00:00:00Z")
        self.leave("guidance", "g7", "tok-g7 global", "global", **{"from": "ci", "urgent": "yes"})
        for name in ("u1", "u2"):
            self.leave("updates", name, f"Say tok-{name} always\n\nbecause\n> you: do tok-{name}", session="old")
        self.leave("updates", "u3", "Say tok-u3 everywhere", "global", session="old", scope="global")
        self.leave("items", "i1", "tok-i1 is unfinished", session="old")
        self.leave("items", "i2", "tok-i2 by a person")
        self.command("trust", "deploy", "--yes")
        self.command("rm", "gone")

    def command(self, *words: str) -> running.Ended:
        """A command in a process of its own, without faults. Raises AssertionError if it fails."""
        done = running.forked(lambda: running.command(list(words)), self.env, cwd=self.shop)
        assert done.code == 0, f"memtui {' '.join(words)}: {done.code} {done.out!r} {done.err!r}"
        return done

    def seen(self, whole: bool = True) -> "dict[str, str]":
        """What a person has: files of memories, settings, trust, inboxes (`whole`), as text without ids and times."""
        found = {}
        for place, dirs, files in os.walk(self.top):
            inner = place[len(self.top) + 1 :]
            if place == self.root:
                dirs[:] = [d for d in dirs if d in {"global", "projects", "triggers", "subconscious"}]
                # What looking at memories leaves is no step of a command: the next look adds what is missing.
                files = [f for f in files if f not in {"journal.jsonl", "versions.jsonl"}]  # noqa: PLW2901
            if inner.split("/")[0] == "tmp" or place == f"{self.config}/projects/{self.slug}":
                files = []  # noqa: PLW2901
            if place.startswith(self.root + "/") and not whole:
                continue
            if place == f"{self.root}/subconscious":
                files = []  # noqa: PLW2901  the versions of blocks, too, are noted by the next change
            for name in files:
                path = f"{place}/{name}"
                if name.endswith((".lock", ".tmp")) or name.startswith("replaced~"):
                    continue  # what these are for, `strays` and `claimed` tell
                if name == paths_hot.PROJECT_FILE:
                    continue  # has the number of a directory, and is noted again by the next hook or command
                with open(path, errors="surrogateescape") as file:
                    text = file.read()
                text = ULID.sub(lambda m: m[0] if FIXED.match(m[0]) else "ULID", text)
                if name == "trust.json":
                    text = json.dumps(json.loads(text), sort_keys=True, indent=1).replace(",\n", "\n")
                if inner.endswith("/triggers"):  # which is named by a hash of a path, and begins with an inode
                    name, text = "HASH", text.partition("\n")[2]  # noqa: PLW2901
                name = ULID.sub("ULID", name)  # noqa: PLW2901
                mode = os.stat(path).st_mode & 0o777
                found[f"{inner}/{name}"] = f"{mode:o}\n" + TIME.sub("TIME", text)
        return found

    def state(self, one: "Session | None") -> int:
        """What all files hold, and what a session was shown, as one number; ids, times and process ids aside."""
        found = [] if one is None else [ULID.sub("", str(one.shown)), str(one.broken)]
        for place, _, files in os.walk(self.top):
            for name in files:
                path = f"{place}/{name}"
                with open(path, "rb") as file:
                    text = file.read().decode("utf-8", "replace")
                text = NUMBER.sub("ID", f"{path} {os.stat(path).st_mode:o}\n{text}")
                text = STAMP.sub(lambda m: m[0] if int(m[0]) < self.made else "NOW", text)
                found.append(ULID.sub("ULID", TIME.sub("TIME", text)))
        return hash("\n".join(sorted(found)))

    def strays(self) -> "list[str]":
        """Temporary files."""
        return [f"{p}/{f}" for p, _, files in os.walk(self.top) for f in files if f.endswith(".tmp")]

    def waiting(self, kind: str = "guidance") -> "list[format_hot.Entry]":
        """The entries of all inboxes."""
        found = []
        for directory in self.inboxes.values():
            found += format_hot.read(f"{directory}/{format_hot.FILES[kind]}", items=kind == "items")
        return found

    def drafted(self) -> "list[str]":
        """What the workers noted as drafted, by the hashes of the words."""
        found = []
        for directory in self.inboxes.values():
            path = directory + "/extracted.jsonl"
            if os.path.exists(path):
                with open(path) as file:
                    found += [json.loads(line)["hash"] for line in file if line.endswith("}\n")]
        return found

    def claimed(self) -> "list[str]":
        """Guidance under way."""
        places = [directory + "/claimed" for directory in self.inboxes.values()]
        return [f"{place}/{name}" for place in places if os.path.isdir(place) for name in os.listdir(place)]


class Session:
    """A session of the client, and what its model was shown: `shown` has (token, kind, delivery, repeat)."""

    def __init__(self, world: World, name: str, mode: str = TOLD) -> None:
        self.world, self.name, self.mode = world, name, mode
        self.transcript = f"{world.config}/projects/{world.slug}/{name}.jsonl"
        self.shown: list[tuple[str, str, str, bool]] = []
        self.broken: list[str] = []
        self.turn = 0
        self.last = ""

    def copy(self) -> "Session":
        found = Session(self.world, self.name, self.mode)
        found.shown, found.turn, found.last = [*self.shown], self.turn, self.last
        return found

    def branch(self, name: str) -> "Session":
        """A copy of the conversation under an id of its own, as `/branch` makes it."""
        branch = self.copy()
        branch.name, branch.transcript = name, self.transcript.replace(self.name, name)
        with open(self.transcript) as old, open(branch.transcript, "w") as new:
            for line in old:
                row = json.loads(line)
                origin = {"sessionId": self.name, "messageUuid": row["uuid"]}
                new.write(json.dumps({**row, "sessionId": name, "forkedFrom": origin}) + "\n")
        return branch

    def payload(self, event: str, **more) -> dict:
        base = {"session_id": self.name, "transcript_path": self.transcript, "cwd": self.world.shop}
        extra = {
            "SessionStart": {"source": "startup"},
            "UserPromptSubmit": {"prompt": "go on"},
            "PreToolUse": {"tool_name": "Bash", "tool_input": {"command": "true"}, "tool_use_id": f"t{self.turn}"},
            "PostToolUse": {"tool_name": "Read", "tool_input": {"file_path": self.world.native + "/native.md"}},
            "Stop": {"last_assistant_message": LAST if self.turn < 2 else "done"},
        }.get(event, {})
        return {**base, "hook_event_name": event, **extra, **more}

    def ask(self, event: str) -> None:
        """What the client notes before it runs a hook."""
        if event == "UserPromptSubmit":
            # The start of the session was its first event.
            said = RULE.format(session=self.name) if self.turn < 2 else "go on"
            self._record({"type": "user", "message": {"role": "user", "content": said}})

    def take(self, event: str, ended: running.Ended) -> None:
        """Give the model what a hook printed, as the client does, and let it answer."""
        text = ""
        self.turn += 1
        try:
            answer = json.loads(ended.out) if ended.out else {}
            text = answer.get("hookSpecificOutput", {}).get("additionalContext", "")
            assert not answer.keys() - {"hookSpecificOutput", "systemMessage"}, answer.keys()
        except (ValueError, AttributeError):
            self.broken.append(f"{event} printed no whole JSON: {ended.out!r}")
        for tag, head, body in BLOCK.findall(text):
            fields = dict(FIELD.findall(head))
            for token in dict.fromkeys(TOKEN.findall(body)):
                self.shown.append((token, tag, fields.get("delivery", ""), fields.get("repeat") == "yes"))
        base = {"hookName": event, "toolUseID": f"hook-{self.turn}", "hookEvent": event}
        if text:
            self._attach({**base, "type": "hook_additional_context", "content": [text]})
        elif ended.code:
            launcher = "/x/memtui/hooks/launch.py " + event
            end = {"type": "hook_non_blocking_error", "stdout": "", "exitCode": 1, "command": launcher, "durationMs": 9}
            self._attach({**base, **end})
        said = LAST if self.turn < 2 else "done"
        if event in {"UserPromptSubmit", "PreToolUse"}:
            content = [{"type": "text", "text": said}]
            self._record({"type": "assistant", "message": {"id": f"msg_{self.turn}", "content": content}})

    def hook(self, event: str, **more) -> None:
        """One without faults, in this process."""
        self.ask(event)
        self.take(event, running.hook_here(event, self.payload(event, **more)))

    def _attach(self, found: dict) -> None:
        self._record({"type": "attachment", "attachment": found})

    def _record(self, record: dict) -> None:
        if self.mode == NONE:
            return
        os.makedirs(os.path.dirname(self.transcript), exist_ok=True)
        uuid = f"{self.name}-{ids_hot.new_id()}"
        head = {"timestamp": clock_hot.iso(time.time()), "sessionId": self.name, "isSidechain": False, "uuid": uuid}
        rows = []
        if not os.path.exists(self.transcript):
            rows.append({**head, "type": "attachment", "attachment": {"type": "skill_listing"}})
            self.last = uuid
            head = {**head, "uuid": uuid + "b"}
        rows.append({**head, "parentUuid": self.last or None, **record})
        self.last = head["uuid"]
        with open(self.transcript, "ab") as file:
            file.write(b"".join(json.dumps(row).encode() + b"\n" for row in rows))
