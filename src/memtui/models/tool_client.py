"""The client with tools of its own. It tells line by line what it does, and asks before and after each tool, as the
vendor's SDK has it do, whatever the hooks of its person's settings are: no tool runs before `hear` has returned."""

import json
import os
import select
import subprocess
from contextlib import suppress
from typing import Any

from memtui.base import fastjson_hot
from memtui.models import backends
from memtui.models.backends import ANSWER_MOST, DOLLARS, TERM_SECONDS, TURNS, WITH_KEY, WITH_LOGIN, Headless
from memtui.models.call import POLL_SECONDS, Answer, ModelError, OwnTools, Request, Stop

_JSON = ("--output-format", "stream-json", "--input-format", "stream-json", "--verbose")
STREAM = ("-p", "--no-session-persistence", *_JSON)
# All tools of the client, as far as the person's own settings permit; what they would ask about is refused. Settings of
# the project are not read: a repository could permit itself anything.
ALL_TOOLS = (
    *("--setting-sources", "user", "--strict-mcp-config", "--disable-slash-commands"),
    *("--permission-mode", "default"),
)
WEB_TOOL = ("--tools", "WebSearch", "--allowedTools", "WebSearch")
EVENTS = ("PreToolUse", "PostToolUse", "PostToolUseFailure")


class ToolClient(Headless):
    """The client at `program` with tools of its `own`."""

    def __init__(self, env: dict[str, str], root: str, program: str, model: str, own: OwnTools) -> None:
        super().__init__(env, root, program, model)
        self._own = own

    def flags(self) -> list[str]:
        budget = self._own.dollars_left()
        dollars = DOLLARS if budget is None else max(0.0001, min(DOLLARS, budget))
        web = (*WEB_TOOL, *(WITH_KEY if self._env.get("ANTHROPIC_API_KEY") else WITH_LOGIN))
        limits = ("--max-turns", str(TURNS), "--max-budget-usd", f"{dollars:.4f}")
        return [*STREAM, *(ALL_TOOLS if self._own.workplace else web), *limits]

    def run(self, words: list[str], call: Request, stop: Stop, slot: int) -> Answer:
        pipe = subprocess.PIPE
        with self.client(words, call, slot, pipe, pipe, self._own.workplace) as (process, err):
            result = self._talk(process, call, stop)
            if not result:
                with suppress(subprocess.TimeoutExpired):
                    process.wait(TERM_SECONDS)
            return backends.answer_in(result, backends.text_of(err), process.returncode or 0, self.model)

    def _talk(self, process: "subprocess.Popen[bytes]", call: Request, stop: Stop) -> str:
        """Return the line with the result; empty if the client ended without one. Neither side can block the other."""
        out, into = (pipe.fileno() for pipe in (process.stdout, process.stdin) if pipe is not None)
        hooks = {event: [{"hookCallbackIds": [event]}] for event in EVENTS}
        begin = {"type": "control_request", "request_id": "begin", "request": {"subtype": "initialize", "hooks": hooks}}
        prompt = {"type": "user", "message": {"role": "user", "content": call.head + call.prompt}}
        to_send, rest = bytearray(_line(begin) + _line(prompt)), b""
        while True:
            stop.check()
            readable, writable, _ = select.select([out], [into] if to_send else [], [], POLL_SECONDS)
            if writable:
                try:
                    del to_send[: os.write(into, to_send[: select.PIPE_BUF])]  # so much has room
                except BrokenPipeError:
                    to_send.clear()
            if not readable:
                continue
            data = os.read(out, 1 << 16)
            *lines, rest = (rest + data).split(b"\n")
            if len(rest) > ANSWER_MOST:
                raise ModelError("invalid", "The client printed a line that is too long.")
            for line in lines:
                message = fastjson_hot.loads_dict(line)
                if message.get("type") == "result":
                    return line.decode("utf-8", "replace")
                self._own.hear(message)
                if message.get("type") == "control_request":
                    reply = {"subtype": "success", "request_id": message.get("request_id"), "response": {}}
                    to_send += _line({"type": "control_response", "response": reply})
            if not data:
                return ""


def _line(message: dict[str, Any]) -> bytes:
    return json.dumps(message).encode("utf-8", "replace") + b"\n"
