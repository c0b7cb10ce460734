"""Sessions as the coding agents write them, and what their models have read: Claude Code's as a tree of records, those of
the others by the shapes in talks.json, with what is different in them (as `@words`) filled in."""

import json
import os
import re
import sqlite3
from contextlib import closing

from memtui.base import clock_hot

with open(__file__.removesuffix(".py") + ".json") as shapes:
    SHAPES = json.load(shapes)
AGENTS = ("codex", "gemini", "qwen", "opencode", "copilot")
TABLES = """PRAGMA journal_mode = WAL;
CREATE TABLE session (id text PRIMARY KEY, parent_id text, directory text, title text, version text, permission text,
    revert text, time_created integer, time_updated integer);
CREATE TABLE message (id text PRIMARY KEY, session_id text, time_created integer, time_updated integer, data text);
CREATE TABLE part (id text PRIMARY KEY, message_id text, session_id text, time_created integer, time_updated integer,
    data text);"""


class Talk:
    """A session of Claude Code: its records as a tree, and which of them is the last of the conversation."""

    agent = "claude"

    def __init__(self, year, name: str) -> None:
        self.year, self.world, self.name = year, year.world, name
        self.path = f"{self.world.config}/projects/{self.world.slug}/{name}.jsonl"
        self.parents: dict[str, str] = {}
        self.texts: dict[str, list[tuple[str, bool]]] = {}  # record -> the tokens told there, and whether as a repeat
        self.rows: list[dict] = []
        self.leaf = ""
        self.pid = 0  # of its client; 0 for none
        # Whether it is a fork that could not copy what its parent was given; whether its file was cut or deleted.
        self.is_unsure = self.is_cut = False
        self.turns = 0

    def add(self, kind: str, texts=(), **more) -> str:
        """Append a record below the last one."""
        uuid = f"{self.name}-{len(self.rows)}"
        row = {
            "type": kind,
            "uuid": uuid,
            "parentUuid": self.leaf or None,
            "sessionId": self.name,
            "cwd": self.world.shop,
        }
        self.rows.append({**row, "isSidechain": False, "timestamp": clock_hot.iso(self.year.now), **more})
        self.parents[uuid], self.leaf = self.leaf, uuid
        if texts:
            self.texts[uuid] = list(texts)
        self.write(self.rows[-1:], "ab")
        return uuid

    def write(self, rows, mode="wb") -> None:
        os.makedirs(os.path.dirname(self.path), exist_ok=True)
        with open(self.path, mode) as file:
            file.write(b"".join(json.dumps(row).encode() + b"\n" for row in rows))
        os.utime(self.path, (self.year.now, self.year.now))

    def aside(self, kind: str, **more) -> None:
        """Append a record that is no part of the conversation."""
        self.rows.append({"type": kind, "sessionId": self.name, "timestamp": clock_hot.iso(self.year.now), **more})
        self.write(self.rows[-1:], "ab")

    def chain(self) -> "list[str]":
        """The records of the conversation, from the last one upwards."""
        found, at = [], self.leaf
        while at:
            found.append(at)
            at = self.parents[at]
        return found

    def context(self) -> "list[tuple[str, bool]]":
        """What the model's next request holds, from the first record or the last compaction on."""
        return [told for at in reversed(self.chain()) for told in self.texts.get(at, ())]

    def exists(self) -> bool:
        """Whether the client can go on with it."""
        return os.path.exists(self.path)


class OtherTalk:
    """A session of another agent. `start`: the source of a start that comes with the next prompt; None for none."""

    def __init__(self, year, name: str, agent: str) -> None:
        self.year, self.world, self.agent, self.shape = year, year.world, agent, SHAPES[agent]
        self.name = name = "ses_" + name if agent == "opencode" else name
        self.values = {"session": name, "home": self.world.home, "cwd": self.world.shop, "slug": self.world.slug}
        self.path = self.values["path"] = self.filled(self.shape["path"], self.values)
        self.texts: list[tuple[str, bool]] = []  # as `context` returns them
        self.messages: list[dict] = []  # of Gemini CLI
        self.rows: list[dict] = []
        self.above: str | None = None  # the last record
        self.pid = self.turns = self.ms = self.end = self.count = 0
        self.is_unsure = self.is_cut = False
        self.start: str | None = None

    @classmethod
    def filled(cls, shape, values: dict):
        """A shape with its values."""
        if isinstance(shape, dict):
            return {key: cls.filled(part, values) for key, part in shape.items()}
        if isinstance(shape, list):
            return [cls.filled(part, values) for part in shape]
        if isinstance(shape, str) and shape[:1] == "@" and shape[1:] in values:
            return values[shape[1:]]
        return re.sub(r"@(\w+)", lambda m: str(values[m[1]]), shape) if isinstance(shape, str) else shape

    def write(self, kind: str, words: str = "", text: str = "") -> None:
        """Write the records of a kind; those of `KIND+` if hooks gave a text."""
        for row in self.records(kind, words, text):
            self.save(row)

    def stamp(self) -> dict:
        """Set the time of what is written next; return its values."""
        self.ms = max(self.ms + 1, int(self.year.now * 1000))
        self.values |= {"ms": self.ms, "seconds": self.ms // 1000, "time": clock_hot.iso(self.ms / 1000)}
        return self.values

    def records(self, kind: str, words: str = "", text: str = ""):
        """Yield what `write` writes."""
        shapes = self.shape.get(kind + "+" * bool(text)) or self.shape.get(kind, [])
        safe = text.replace("<", "&lt;").replace(">", "&gt;")
        values = {**self.stamp(), "words": words, "text": text, "safe": safe}
        if shapes and shapes[0].get("table") == "message":
            values["message"] = self.values["message"] = f"msg_{self.ms}_{self.name}"
        for shape in shapes:
            row = self.filled(
                shape, {**values, "above": self.above, "number": self.count, "id": f"{self.name}-{self.count:05}"}
            )
            self.count, self.above = self.count + 1, row.get("id", row.get("uuid"))
            yield row

    def save(self, row: dict) -> None:
        self.rows.append(row)
        if row.get("type") in {"user", "gemini"}:
            self.messages.append(row)
        path = self.path.partition("#")[0]
        os.makedirs(os.path.dirname(path), exist_ok=True)
        if path != self.path:
            return self.insert(path, {**row, **({"data": json.dumps(row["data"])} if "data" in row else {})})
        with open(path, "ab") as file:
            file.write(json.dumps(row, separators=(",", ":")).encode() + b"\n")
        return os.utime(path, (self.year.now, self.year.now))

    @staticmethod
    def insert(path: str, row: dict) -> None:
        is_new = not os.path.exists(path)
        with closing(sqlite3.connect(path, isolation_level=None)) as database:
            if is_new:
                database.executescript(TABLES)
            table, marks = row.pop("table"), ", ".join("?" * len(row))
            database.execute(f"INSERT INTO {table} ({', '.join(row)}) VALUES ({marks})", [*row.values()])

    def restate(self, messages) -> None:
        """Have Gemini CLI replace all messages."""
        if self.agent == "gemini":
            self.messages = list(messages)
            self.save({"$set": {"messages": self.messages, "lastUpdated": self.values["time"]}})

    def context(self) -> "list[tuple[str, bool]]":
        """What the model's next request holds of what hooks gave."""
        return self.texts

    def exists(self) -> bool:
        return bool(self.rows) and os.path.exists(self.path.partition("#")[0])

    def payload(self, event: str, more: dict) -> dict:
        """What the agent gives its hook."""
        own = {"prompt": {"submitted_prompt": more.get("prompt")}} if self.agent == "qwen" else {}
        name = self.shape.get("names", {}).get(event, event)
        paths = {"transcript_path": self.path} if self.agent != "opencode" else {}
        fields = self.filled(self.shape["fields"], {"time": "", "ms": 0, "turn": "", **self.values})
        base = {"session_id": self.name, "cwd": self.world.shop, "hook_event_name": name}
        return {**base, **paths, **fields, **more, **own.get("prompt" * ("prompt" in more), {})}

    def hook(self, event: str, **more) -> str:
        """Run a hook; return its text, which the model gets."""
        text, tokens, _ = self.year.hook(self, event, **more)
        self.texts += tokens
        return text

    def open(self, source: str) -> None:
        """Start the program."""
        self.end = 0
        if not self.rows:
            self.write("begin")
            self.restate(self.records("context"))
        else:
            self.write("resume")
            self.restate({**message, "timestamp": self.values["time"]} for message in self.messages)
        if self.agent in {"gemini", "qwen"}:
            self.hook("SessionStart", source=source)
        self.start = "" if self.agent == "opencode" else source if self.agent == "codex" else None

    def ask(self, words: str) -> None:
        """Have a person prompt."""
        self.values |= {"turn": f"{self.name}-{self.turns}", "call": f"call-{len(self.rows)}"}
        self.write("turn")
        size = {"transcript_size": self.end} if self.end else {}
        texts = []
        if self.start is not None:
            texts.append(self.hook("SessionStart", **({"source": self.start} if self.start else {}), **size))
            self.start = None
            if self.agent == "codex" and texts[0]:
                self.write("context", text=texts.pop())
        ids = {"prompt_id": self.values["turn"]} if self.agent == "opencode" else {}
        texts.append(self.hook("UserPromptSubmit", prompt=words, **ids, **size))
        if "prompt+" in self.shape:
            self.write("prompt", words, texts[0])
        else:
            self.write("prompt", words)
            for text in filter(None, texts):
                self.write("context", text=text)

    def use_tool(self) -> None:
        """Have the model use a tool."""
        self.write("call")
        payloads = {event: self.filled(more, self.values) for event, more in self.shape["tools"].items()}
        text = "".join([self.hook(event, **more) for event, more in payloads.items()])
        if self.agent == "codex":
            self.write("context" if text else "", text=text)
        self.write("result", text="" if self.agent == "codex" else text)

    def turn(self, words: str, fate: str) -> None:
        """One prompt, and what becomes of it."""
        before, count, messages = [*self.texts], len(self.rows), [*self.messages]
        self.ask(words)
        self.year.pass_seconds(30)
        if fate.startswith("tool"):
            self.year.hear(self)
            if self.year.chance.random() < 0.5:
                self.year.leave_note("--urgent")
            self.use_tool()
        if fate in {"killed", "tool killed", "term"}:
            self.year.close(self, "term" if fate == "term" else "kill")
        elif fate in {"escaped", "error"}:
            self.write("stop")
            if self.agent == "gemini":  # the next request is without it
                self.restate(messages)
                self.texts = before
            elif self.agent == "copilot" and fate == "escaped":  # it is taken out of the file again
                self.rows, self.texts, self.above = self.rows[:count], before, self.rows[count - 1]["id"]
                with open(self.path, "wb") as file:
                    file.write(b"".join(json.dumps(row, separators=(",", ":")).encode() + b"\n" for row in self.rows))
        else:
            self.year.hear(self)
            self.write("reply")
            self.end = self.ms + 1 if self.agent == "opencode" else 0
            more = {"prompt_response": "done"} if self.agent == "gemini" else {"last_assistant_message": "done"}
            self.hook("Stop", **({} if self.agent == "opencode" else more))

    def compact(self) -> None:
        if self.agent != "gemini":
            self.hook("PreCompact", trigger="manual")
        self.texts = []
        self.write("compact")
        self.write("summary")
        self.restate([*self.messages[:1], *self.records("snapshot")])
        if self.agent == "qwen":
            self.hook("SessionStart", source="compact")
        self.start = "compact" if self.agent in {"codex", "opencode"} else self.start
