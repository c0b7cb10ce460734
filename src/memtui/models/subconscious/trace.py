"""What a run does with tools, noted as it does it, in `subconscious/steps/<run>.jsonl`: a line before a tool runs, one
with what came of it, one with the files that changed meanwhile. Of text files the journal has both versions."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from memtui.base import clock_hot, fastjson_hot, fs_hot, paths_hot, visible_hot
from memtui.base.phrasing_hot import many
from memtui.base.storage import storing
from memtui.client.transcripts import transcript_hot
from memtui.models.subconscious import block_files_hot, runs
from memtui.models.subconscious.runs import Run
from memtui.models.subconscious.work_tree import ChangedFile, WorkTree, secret_in
from memtui.redact.redact import redacted
from memtui.store.journal.changes import FileChange
from memtui.store.journal.journal import Journal
from memtui.store.journal.ledger import MODEL, RUN

WHAT, OUTPUT, MOST_BYTES = 500, 1000, 4 << 20  # characters of a call, and of its output; bytes of a run's steps
# The tools by which answers are given, those that change no file, and those that change the file that they name.
ANSWERS = {"StructuredOutput", "answer"}
LOOKING = {"Read", "Grep", "Glob", "LS", "WebSearch", "WebFetch", "web_search", "ToolSearch", *ANSWERS}
EDITING = {"Edit", "MultiEdit", "NotebookEdit", "Write"}
CALLS = {"tool_use", "server_tool_use"}
_SUBJECT = ("command", "file_path", "notebook_path", "query", "url")
_EXIT = re.compile(r"Exit code (\d+)")


@dataclass(frozen=True)
class Step:
    """One use of a tool: `what` it was asked for; when it `ended`; the exit `code` of a command that failed, 0 if it
    did not, None for no command; `files`: what changed meanwhile, and why there is no version of it."""

    id: str
    time: float
    tool: str
    what: str
    ended: float | None = None
    code: int | None = None
    failed: bool = False
    output: str = ""
    files: tuple[str, ...] = ()

    def data(self) -> dict[str, Any]:
        ended = None if self.ended is None else clock_hot.iso(self.ended)
        return {**vars(self), "time": clock_hot.iso(self.time), "ended": ended, "files": list(self.files)}


def path_of(root: str, run: str) -> str:
    return f"{block_files_hot.home(root)}/steps/{run}.jsonl"


def read(root: str, run: str) -> list[Step]:
    """Return the steps of a run, in order; none if it had none, or they are gone."""
    steps: dict[str, Step] = {}
    try:
        lines = fs_hot.read_bytes(path_of(root, run), MOST_BYTES).splitlines()
    except OSError:
        return []
    for row in map(fastjson_hot.loads_dict, lines):
        name = transcript_hot.text_of(row.get("id"))
        tool, what, output = (transcript_hot.text_of(row.get(key)) for key in ("tool", "what", "output"))
        step, time = steps.get(name), clock_hot.parse(row.get("time")) or 0.0
        if row.get("v") != runs.VERSION or not name:
            continue
        if step is None:
            steps[name] = Step(name, time, tool, what)
        elif isinstance(files := row.get("files"), list):
            steps[name] = replace(step, files=(*step.files, *map(str, files)))
        else:
            code, failed = row.get("code"), row.get("failed") is True
            code = code if isinstance(code, int) and not isinstance(code, bool) else None
            steps[name] = replace(step, ended=time, code=code, failed=failed, output=output)
    return list(steps.values())


def run_data(root: str, run: Run) -> dict[str, Any]:
    return {**run.data(), "steps": [step.data() for step in read(root, run.id)]}


@dataclass
class Trace:
    """The trace of a run. `top`: where it may change files; empty if it can change none. `texts`: what tools said."""

    root: str
    run: Run
    top: str = ""
    managed: tuple[str, ...] = ()
    texts: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._tree = WorkTree(self.top, self.managed) if self.top else None
        self._tools: dict[str, str] = {}  # of the steps that have not ended
        self._last, self._is_watched, self._in_background = "", False, False

    def hear(self, message: Mapping[str, Any]) -> None:
        """Note what a message of a client or the API says of tools. Raises MemtuiError if it can't be noted."""
        request = message.get("request")
        call = request.get("input") if isinstance(request, dict) else None
        if isinstance(call, dict):
            self._before(call) if call.get("hook_event_name") == "PreToolUse" else self._after(call)
        inner = message.get("message")
        for block in transcript_hot.blocks({"message": inner}) if isinstance(inner, dict) else ():
            if block.get("type") in CALLS and block.get("name") not in ANSWERS:
                self.begin(str(block.get("id")), str(block.get("name")), block.get("input"))
            elif str(block.get("type")).endswith("tool_result"):
                text = transcript_hot.result_text(block).strip() or _web_pages(block.get("content"))
                self.end(str(block.get("tool_use_id")), text, failed=block.get("is_error") is True)

    def begin(self, name: str, tool: str, arguments: object) -> None:
        """Note that a tool is about to run. Raises MemtuiError."""
        self._last, self._tools[name] = name, tool
        values = arguments if isinstance(arguments, dict) else {}
        subject = next((str(values[key]) for key in _SUBJECT if key in values), None)
        if subject is None:
            subject = " ".join(map(str, values.values())) if tool in LOOKING else json.dumps(values)
        if self.top:
            subject = subject.removeprefix(self.top.rstrip("/") + "/")
        self._add(name, tool=tool, what=visible_hot.one_line(visible(subject, WHAT)))
        self._update(replace(self.run, step_count=self.run.step_count + 1))

    def end(self, name: str, text: str, *, failed: bool) -> None:
        """Note what came of a tool. Raises MemtuiError."""
        tool = self._tools.pop(name, None)
        if tool is None:
            return
        self.texts.append(text)
        match = _EXIT.match(text) if failed else None
        code = int(match[1]) if match else 0 if tool == "Bash" and not failed else None
        self._add(name, failed=failed, code=code, output=visible(text, OUTPUT))

    def close(self) -> None:
        """Note the files that were changed by what was cut off, or went on in the background. Raises MemtuiError."""
        is_cut = any(tool not in LOOKING for tool in self._tools.values())
        if self._tree is not None and self._is_watched and (is_cut or self._in_background):
            self._note_files(self._last, self._tree.look())

    def _before(self, call: Mapping[str, Any]) -> None:
        if self._tree is None or call.get("tool_name") in LOOKING:
            return
        path = _named_file(call)
        if path and not path.startswith(self._tree.top + "/"):
            self._tree.outside.add(path)
        changes, is_first = self._tree.look(), not self._is_watched
        self._is_watched = True
        # Else they are of others: of the person, or of an agent that works there.
        if self._in_background and not is_first:
            self._note_files(self._last, changes)

    def _after(self, call: Mapping[str, Any]) -> None:
        response = call.get("tool_response")
        self._in_background |= isinstance(response, dict) and bool(response.get("backgroundTaskId"))
        if self._tree is None or not self._is_watched or call.get("tool_name") in LOOKING:
            return
        name, files, path = str(call.get("tool_use_id")), self._tree.look(), _named_file(call)
        # Beside an edit, and without a command that runs on, others are of somebody else.
        runs_on = self._in_background or any(tool not in LOOKING | EDITING for tool in self._tools.values())
        if call.get("tool_name") in EDITING and path and not runs_on:
            files = [file for file in files if file.path == path]
        self._note_files(name, files)

    def _note_files(self, name: str, files: list[ChangedFile]) -> None:
        """Note that files changed, and what of them can be undone."""
        assert self._tree is not None
        files = [file._replace(why="it holds a secret") if not file.why and secret_in(file) else file for file in files]
        if changes := [FileChange(file.path, file.before, file.after, file.mode) for file in files if not file.why]:
            first = visible(self._tree.name(changes[0].path), 80)
            words = f"change {first}" + f" and {many(len(changes) - 1, 'more file')}" * (len(changes) > 1)
            Journal(self.root, MODEL).record(RUN, changes, words, group=self.run.id, session=self.run.session)
        names = {file: visible(self._tree.name(file.path), WHAT) for file in files}
        versioned = [words for file, words in names.items() if not file.why]
        others = [f"{words}: {file.why}" for file, words in names.items() if file.why]
        if files:
            self._add(name, files=[*versioned, *(f"{words}, no version" for words in others)])
            names_of = (*self.run.files, *versioned), (*self.run.unversioned, *others)
            all_files, unversioned = (tuple(dict.fromkeys(words)) for words in names_of)
            self._update(replace(self.run, files=all_files, unversioned=unversioned))

    def _add(self, name: str, **values: object) -> None:
        row = {"v": runs.VERSION, "id": name, "time": clock_hot.iso(clock_hot.now()), **values}
        path = path_of(self.root, self.run.id)
        with storing(path):
            fs_hot.append(path, fastjson_hot.dumps(row).encode("utf-8", "replace") + b"\n")

    def _update(self, run: Run) -> None:
        self.run = run
        with storing(runs.path(self.root)):
            runs.append(self.root, run)


def _named_file(call: Mapping[str, Any]) -> str:
    """Return the path of the file that a call of a tool names; empty if it names none."""
    values = call.get("tool_input")
    path = str(values.get("file_path") or values.get("notebook_path") or "") if isinstance(values, dict) else ""
    return (paths_hot.resolve(path) or "") if path.startswith("/") else ""


def _web_pages(content: object) -> str:
    """Return what a search of the web found, a line for each page; or why it found nothing."""
    rows = content if isinstance(content, list) else [content]
    keys = ("title", "url", "error_code")
    lines = [" ".join(str(row.get(key) or "") for key in keys).strip() for row in rows if isinstance(row, dict)]
    return "\n".join(filter(None, lines))


def visible(text: str, most: int) -> str:
    """Return a text of at most `most` characters without secrets, in which hidden characters are shown as escapes."""
    text = text[: 4 * most]  # cut first where it is huge, else after secrets
    plain = visible_hot.clean(text)
    safe = redacted(plain)
    escaped = safe if safe != plain else visible_hot.revealed(text, lambda char: char.encode("unicode_escape").decode())
    return escaped if len(escaped) <= most else escaped[: most - 1].rstrip() + "…"
