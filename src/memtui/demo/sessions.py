"""Sessions of the sample world: deliveries, and the transcripts that prove what became of them: arrived, shown as a
preview, timed out, failed, unknown because the transcript is gone, and one that is still waiting. And what the
subconscious noted, said and did in them, which is switched off there, as it is at first."""

import json
import os
import subprocess
import sys
import uuid
from dataclasses import replace

from memtui.base import clock_hot, fastjson_hot, fs_hot, ids_hot, paths_hot, session_state_hot
from memtui.deliver import blocks_hot, log_hot
from memtui.demo import content
from memtui.demo.content import HOUR, World, layout, transcript_path, ulid
from memtui.hooks import index_block_hot, lists_hot
from memtui.hooks.install import entries
from memtui.inbox import format_hot, note_block_hot
from memtui.models.subconscious import block_files_hot, control, runs
from memtui.review import outside_changes
from memtui.store import history, scopes
from memtui.store.versions.versions import Versions

Record = dict[str, object]
MINUTE = 60.0
HOOK = "exec '/usr/bin/python3' -I -S '/opt/memtui/hooks/launch.py' "
PREVIEW = "<persisted-output>\nOutput too large (11.2KB). Preview (first 2KB):\n"
MODEL = "claude-haiku-5-5"
FIRST_ID = 7000
SECONDS = 20.0  # for a hook; the client gives it 10
NAME = "next"
PROMPT = "write the tests of the basket"


class DemoSession:
    """A session in the making: the records of its transcript and its deliveries, in the order of time. `hours`: how
    long before the world's now it begins. Each `after` is in seconds since the record before."""

    def __init__(self, world: World, name: str, project: str, hours: float) -> None:
        self.world, self.name, self.id, self.project = world, name, world.sessions[name], project
        self.time = world.now - hours * HOUR
        self.lines: list[str] = []
        self.count = sorted(world.sessions).index(name) * 100
        self.prompt = ""  # the id of the person's prompt that is worked on
        self.written = self.ran = 0

    def record(self, kind: str, after: float = 2.0, **more: object) -> None:
        self.time += after
        self.count += 1
        record_id = f"00000000-0000-4000-8000-{self.count:012d}"
        base: Record = {"type": kind, "sessionId": self.id, "cwd": self.project, "uuid": record_id}
        base |= {"timestamp": clock_hot.iso(self.time), "isSidechain": False, "version": "2.1.197"}
        self.lines.append(fastjson_hot.dumps({**base, **more}))

    def says(self, text: str, after: float = 120.0) -> None:
        """Add what the person types."""
        self.prompt = f"00000000-0000-4000-9000-{self.count + 1:012d}"
        self.record("user", after, promptId=self.prompt, message={"role": "user", "content": text})

    def answers(self, text: str) -> None:
        blocks = [{"type": "text", "text": text}]
        self.record("assistant", 20.0, message={"role": "assistant", "id": f"msg_{self.count}", "content": blocks})

    def runs(self, command: str, times: int) -> None:
        """Let the agent run a shell command so often. Ids of what follows stay as they are."""
        for _ in range(times):
            self.ran += 1
            tool = f"toolu_ran_{self.count}_{self.ran}"
            use = {"type": "tool_use", "id": tool, "name": "Bash", "input": {"command": command}}
            result = {"type": "tool_result", "tool_use_id": tool, "content": "", "is_error": False}
            for kind, block in (("assistant", use), ("user", result)):
                record_id = f"00000000-0000-4000-a000-{self.count:06d}{2 * self.ran + (kind == 'user'):06d}"
                self.record(kind, 0.5, uuid=record_id, message={"role": kind, "id": tool, "content": [block]})
                self.count -= 1

    def delivers(self, event: str, blocks: list[blocks_hot.Block], outcome: str = "arrived", tool: str = "") -> str:
        """Add a hook's delivery of blocks to the log and, as its outcome requires, to the transcript; return its id."""
        self.time += 1.0
        self.count += 1
        name = ulid(self.time, self.count)
        text, items, _ = blocks_hot.compose(blocks, 9000, name)
        self.log(name, event, text, items, tool)
        uses = f"toolu_{self.count}" if tool else event
        where = f"{event}:{tool}" if tool else event
        base: Record = {"hookName": where, "hookEvent": event, "toolUseID": uses}
        if outcome in {"arrived", "previewed"}:
            whole = text if outcome == "arrived" else PREVIEW + text[:1500]
            self.record("attachment", 0.1, attachment={**base, "type": "hook_additional_context", "content": [whole]})
        elif outcome == "timed out":
            more: Record = {"command": HOOK + event, "durationMs": 5000, "timedOut": True, "timeoutMs": 5000}
            self.record("attachment", 1.0, attachment={**base, "type": "hook_cancelled", **more})
        elif outcome == "failed":
            more = {"command": HOOK + event, "durationMs": 40, "exitCode": 1, "stdout": "", "stderr": "Killed"}
            self.record("attachment", 0.1, attachment={**base, "type": "hook_non_blocking_error", **more})
        return name

    def log(self, name: str, event: str, text: str, items: list[Record], tool: str = "") -> None:
        size, key = sum(len(line.encode()) + 1 for line in self.lines), paths_hot.project_key(self.project)
        record: Record = {"v": log_hot.VERSION, "id": name, "time": clock_hot.iso(self.time), "event": event}
        record |= {"session_id": self.id, "prompt_id": self.prompt}
        record |= {"transcript": transcript_path(self.world, self.name, self.project), "transcript_size": size}
        record |= {"cwd": self.project, "project": key, "project_root": self.project}
        record |= {"mode": "full", "chars": blocks_hot.units(text), "text": text, "items": items}
        if tool:
            record |= {"tool": tool, "tool_use_id": f"toolu_{self.count}"}
        record["ms"] = round(11.0 + self.count % 7 * 0.9, 1)
        log_hot.append(self.world.root, record, self.time)

    def reads(self, path: str) -> None:
        """Log that the agent read a memory."""
        self.time += 3.0
        self.count += 1
        self.log(ulid(self.time, self.count), "PostToolUse", "", [use(self.world, path, "read")], "Read")

    def writes(self, path: str, text: str) -> None:
        """Let the agent write a memory, and log that it did. Ids of what follows stay as they are."""
        content.write(path, text, self.time)
        self.written += 1
        name = ulid(self.time, 4000 + self.count + self.written)
        self.log(name, "PostToolUse", "", [use(self.world, path, "wrote")], "Write")

    def ends(self, keep: bool = True) -> None:
        """Write the session's state and, with `keep`, its transcript."""
        path = transcript_path(self.world, self.name, self.project)
        state: Record = {"started": clock_hot.iso(self.time - HOUR), "cwd": self.project}
        state |= {"project": paths_hot.project_key(self.project), "project_root": self.project, "transcript": path}
        state |= {"mode": "full", "prompted": True}
        session_state_hot.SessionState(self.world.root, self.id, state).save()
        if keep:
            self.write_transcript()

    def write_transcript(self) -> None:
        path = transcript_path(self.world, self.name, self.project)
        content.write(path, "\n".join(self.lines) + "\n", self.time)


def use(world: World, path: str, action: str) -> Record:
    """Make the item of a memory that the agent read or wrote."""
    stem = os.path.basename(path).removesuffix(".md")
    scope = "project" if "/.claude/memory/" in path.removeprefix(world.config) else "auto"
    return {"kind": "use", "id": stem, "scope": scope, "path": path, "action": action}


def guidance(text: str, name: str, sender: str, reason: str = "next prompt") -> blocks_hot.Block:
    item: Record = {"kind": "guidance", "id": name, "scope": "project", "hash": ids_hot.content_hash(text)}
    fields = {"id": name, "scope": "project", "from": sender}
    intro = f"Note left by the user of this machine through memtui ({sender}, just now)."
    part = blocks_hot.Part(text, text, {**item, "reason": reason})
    return blocks_hot.Block(blocks_hot.TAGS["guidance"], fields, intro, [part])


def waits_again(world: World, project: str, block: blocks_hot.Block, sender: str) -> None:
    """Write an urgent note that did not arrive back into the inbox of its project, as `reconcile` does."""
    part = block.parts[0]
    when = clock_hot.iso_seconds(world.now - 19 * HOUR)
    fields = {"id": str(part.item["id"]), "time": when, "from": sender, "urgent": "yes", "attempts": "1"}
    path = f"{paths_hot.inbox_dir(world.root, paths_hot.project_key(project))}/{format_hot.FILES['guidance']}"
    fs_hot.write_atomic(path, format_hot.render(fields, part.text).encode(), durable=False)


def index(world: World, project: str) -> list[blocks_hot.Block]:
    blocks = []
    for scope, directory, files in (
        ("project", project + "/.claude/memory", content.memories("SHOP_MEMORIES") if project == world.shop else {}),
        ("global", world.config + "/memory", content.memories("GLOBAL_MEMORIES")),
    ):
        parts = []
        for file, (_, text) in files.items():
            if file == content.UNTRUSTED:
                continue
            name, path = file.removesuffix(".md"), f"{directory}/{file}"
            about = next((line[13:] for line in text.split("\n") if line.startswith("description: ")), text.strip())
            kind = next((line.strip()[6:] for line in text.split("\n") if line.strip().startswith("type: ")), "untyped")
            item: Record = {"kind": "index", "id": name, "scope": scope, "path": path, "reason": f"index, {kind}"}
            parts.append(blocks_hot.Part(f"- [{kind}] {name}: {about}", name, item))
        if parts:
            fields = {"scope": scope, "source": directory}
            intro = index_block_hot.INTRO.format(directory=directory)
            blocks.append(blocks_hot.Block(blocks_hot.TAGS["index"], fields, intro, parts))
    return blocks


def drafts(world: World, at: float) -> list[blocks_hot.Block]:
    """Make the blocks of pending updates and items that a first prompt gets at the time `at`."""
    blocks = []
    directory = paths_hot.inbox_dir(world.root, paths_hot.project_key(world.shop))
    for kind, texts, number, reason, intro in (
        ("update", "SHOP_UPDATES", 1006, "unreviewed, newest first", lists_hot.UPDATES_INTRO),
        ("item", "SHOP_ITEMS", 1011, "unfinished, first prompt of the session", lists_hot.ITEMS_INTRO),
    ):
        parts, path = [], f"{directory}/pending-{kind}s.md"
        for place, (fields, text, hours) in enumerate(content.entries(texts), number):
            when = world.now - hours * HOUR
            if when >= at:
                continue
            lines = [line for line in text.split("\n") if line.strip() and not line.startswith(format_hot.EVIDENCE)]
            words, ago, session = "\n  ".join(lines), clock_hot.ago(when, at), world.sessions[fields["session"]][:8]
            shown = (
                f"[ ] {words} (session {session}, {ago})" if kind == "item" else f"[{fields['kind']}, {ago}] {words}"
            )
            item: Record = {"kind": f"pending-{kind}", "id": ulid(when, place), "scope": "project", "path": path}
            parts.append(blocks_hot.Part(f"- {shown}", lines[0], {**item, "reason": reason}))
        if parts:
            attributes = {"scope": "project", "source": path}
            blocks.append(blocks_hot.Block(blocks_hot.TAGS[f"pending-{kind}"], attributes, intro, parts))
    return blocks


def write(world: World) -> None:
    """Write the delivery log, the transcripts and the states of all sessions, and the memories that they wrote."""
    take_in(world, world.now - 60 * HOUR)
    for (name, project, hours, *fate), body in content.blocks("SESSIONS"):
        session = DemoSession(world, name, world.shop if project == "shop" else world.blog, float(hours))
        for line in body.splitlines():
            _play(session, line)
        if "unserved" in fate:  # memtui was not there yet
            session.write_transcript()
            continue
        session.ends(keep="lost" not in fate)
        if "reviewed" in fate:
            review(world, session.time + 2 * HOUR)
    # The last one is live: process 1 always runs, and stands for its client.
    served = fastjson_hot.dumps({"session_id": session.id, "source": "startup"})
    fs_hot.write_atomic(world.root + "/run/client-1", served.encode(), durable=False)
    take_in(world, world.now - 2 * MINUTE)


def _play(session: DemoSession, line: str) -> None:
    """Play a line of a session in `content.txt`: `verb argument … | words`."""
    world, prompt = session.world, "UserPromptSubmit"
    head, _, words = line.partition(" | ")
    verb, *arguments = head.split()
    if verb == "says":
        session.says(words)
    elif verb == "answers":
        session.answers(words)
    elif verb == "runs":
        session.runs(words, int(arguments[0]))
    elif verb == "reads":
        session.reads(f"{world.shop}/.claude/memory/{arguments[0]}")
    elif verb == "writes":
        path = f"{world.config}/projects/{paths_hot.slug(world.shop)}/memory/{content.WRITTEN}"
        session.writes(path, content.WRITTEN_TEXTS[arguments[0]])
    elif verb == "index":
        session.delivers("SessionStart", index(world, session.project), *arguments)
    elif verb == "lists":
        session.delivers(prompt, drafts(world, session.time))
    elif verb == "whisper":
        session.delivers(prompt, [_whispered(world, session.time)])
    elif verb == "later":
        session.time = max(session.time + MINUTE, world.now - 2 * MINUTE)
    else:
        _play_note(session, verb, arguments, words)


def _play_note(session: DemoSession, verb: str, arguments: list[str], words: str) -> None:
    """Deliver a note, `number sender [outcome]`, or an urgent one, `number sender tool [outcome]`."""
    number, sender, *rest = arguments
    is_urgent = verb == "urgent"
    tool, rest = (rest[0], rest[1:]) if is_urgent else ("", rest)
    outcome = rest[0].replace("-", " ") if rest else "arrived"
    name = ulid(session.world.now - (24 - int(number) % 20) * HOUR, 3000 + int(number))
    block = guidance(words, name, sender, "urgent" if is_urgent else "next prompt")
    session.delivers("PreToolUse" if is_urgent else "UserPromptSubmit", [block], outcome, tool)
    if outcome == "failed":
        waits_again(session.world, session.project, block, sender)


def take_in(world: World, at: float) -> Versions:
    """Take in the versions of all memories as they are, as the worker would have at the time `at`."""
    versions = Versions(world.root, lambda: at)
    return history.taken_in(versions, scopes.discover(world.env, world.shop, all_projects=True))


def review(world: World, at: float) -> None:
    """Let the person see, at the time `at`, all memories as they are."""
    versions = take_in(world, at)
    everywhere = scopes.discover(world.env, world.shop, all_projects=True)
    versions.see([change.now for change in outside_changes.waiting(versions, everywhere)])


def write_subconscious(world: World) -> None:
    """Write the blocks, runs and questions of the subconscious."""
    slug = paths_hot.project_key(world.shop)
    for number, (run, block, text) in enumerate(content.RUN_NOTES):
        at = world.now - content.RUNS[run][1] * HOUR + number
        path = block_files_hot.path(world.root, slug, block)
        fs_hot.makedirs(os.path.dirname(path))
        fs_hot.write_atomic(path, text.encode() + b"\n", durable=False)
        os.utime(path, (at, at))
    for number in range(len(content.RUNS)):
        _run(world, number, slug)


def _whispered(world: World, at: float) -> blocks_hot.Block:
    """Return the block with which the whisper of a run reaches its session at the time `at`."""
    number, hours, whisper = next((n, row[1], row[3]) for n, row in enumerate(content.RUNS) if row[3])
    when = world.now - hours * HOUR
    fields = {"id": _whisper_id(world, number), "time": clock_hot.iso_seconds(when), "from": runs.SENDER}
    fields |= {"kind": note_block_hot.WHISPER, "for": "session"}
    entry = format_hot.parse(format_hot.render(fields, whisper[1]))[0]
    inbox = paths_hot.inbox_dir(world.root, paths_hot.project_key(world.shop))
    return note_block_hot.note(inbox, entry, at, "for this session")


def _whisper_id(world: World, number: int) -> str:
    return ulid(world.now - content.RUNS[number][1] * HOUR, FIRST_ID + 200 + number)


def _run(world: World, number: int, slug: str) -> None:
    name, hours, note, whisper = content.RUNS[number]
    at, session = world.now - hours * HOUR, world.sessions[name]
    run_id = ulid(at, FIRST_ID + 100 + number)
    changes = tuple(f"{block}: added “{text}”" for run, block, text in content.RUN_NOTES if run == number)
    job = runs.Run(
        run_id, at, session, slug, world.shop, "Stop", "api", MODEL, "full", "read-only", runs.DONE,
        seconds=4.2 + number, calls=1 + number % 2, tokens=3100 + 700 * number, cost=0.0011 + 0.0004 * number,
        heard=4 + number, note=note, looks=("Grep . migration",) if number % 2 else (), changes=changes,
        whispers=(runs.Whisper(_whisper_id(world, number), whisper[1], False, "", whisper[0]),) if whisper else (),
    )  # fmt: skip
    runs.append(world.root, job)
    mentions = []
    if number == len(content.RUNS) - 1:
        mentions.append({"id": "m1", "who": "person", "words": content.QUESTION, "time": clock_hot.iso(at)})
    control.save(world.root, session, {"mentions": mentions})


def start(directory: str, project: str, now: float) -> str:
    """Start a session of a project in a sample world, with a first prompt that takes the notes that wait, and
    return its id. `now`: seconds since the epoch. Raises OSError, and subprocess.SubprocessError or ValueError if a
    hook gives no answer that can be read."""
    world = layout(directory, now)
    session = DemoSession(replace(world, sessions={**world.sessions, NAME: str(uuid.uuid4())}), NAME, project, 0.0)
    _hook(session, "SessionStart", source="startup")
    session.says(PROMPT, 1.0)
    _hook(session, "UserPromptSubmit", prompt=PROMPT, prompt_id=session.prompt)
    session.answers("I wrote them with assertions on what the user sees.")
    session.write_transcript()
    return session.id


def _hook(session: DemoSession, event: str, **more: str) -> None:
    """Run the hook of an event, and add what it answers to the transcript."""
    world, path = session.world, transcript_path(session.world, NAME, session.project)
    payload = {"session_id": session.id, "transcript_path": path, "cwd": session.project, "hook_event_name": event}
    command = [sys.executable, "-I", "-S", entries.launcher_path(), event]
    data, env, cwd = json.dumps({**payload, **more}).encode(), {**os.environ, **world.env}, session.project
    hook = subprocess.run(command, input=data, env=env, cwd=cwd, capture_output=True, timeout=SECONDS, check=True)
    text = json.loads(hook.stdout or "{}").get("hookSpecificOutput", {}).get("additionalContext", "")
    if text:
        where = {"hookName": event, "hookEvent": event, "toolUseID": event}
        session.record("attachment", 0.0, attachment={**where, "type": "hook_additional_context", "content": [text]})
