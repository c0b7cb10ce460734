"""A loopback stand-in for an API of chat completions, as Qwen Code, OpenCode and Copilot CLI use it, streamed or not.

Replies are written as for the Messages API (`tests/e2e/model.py`): `say("…")`, `use("bash", command="true")`, `call(…)`, `say("", status=500)`.
"""

import json
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from tests.e2e.model import PATIENCE, Reply, call, say

MODEL = "stand-in"
Kind = Callable[["Request"], str]


@dataclass
class Request:
    """One POST as the agent sent it. `kind`: main (the conversation), compact, or aux (titles and what else is asked aside)."""

    body: dict[str, Any]
    headers: dict[str, str]
    kind: str = "main"
    time: float = field(default_factory=time.monotonic)

    def messages(self) -> list[tuple[str, str]]:
        """(role, text) of each message; the parts of one are joined by line feeds."""
        return [(m["role"], "\n".join(_texts(m.get("content")))) for m in self.body["messages"]]

    def parts(self) -> list[tuple[str, list[str]]]:
        """(role, texts of the parts) of each message."""
        return [(m["role"], list(_texts(m.get("content")))) for m in self.body["messages"]]

    def text(self, *roles: str) -> str:
        """All that the model can read, system prompt included, or only the messages of these roles."""
        return "\n".join(text for role, text in self.messages() if not roles or role in roles)

    def count(self, needle: str) -> int:
        """How often `needle` stands in what the model can read."""
        return self.text().count(needle)

    def tools(self) -> list[str]:
        """The names of the tools that the agent offers."""
        return [tool["function"]["name"] for tool in self.body.get("tools", [])]

    def tool_results(self) -> list[str]:
        """The text of each tool result, in order."""
        return [text for role, text in self.messages() if role == "tool"]


def _texts(content: Any) -> Iterator[str]:
    if isinstance(content, str):
        yield content
    for part in content if isinstance(content, list) else ():
        if isinstance(part.get("text"), str):
            yield part["text"]


def kind_by_tools(request: Request) -> str:
    """A request that offers tools is of the conversation, any other is asked aside."""
    return "main" if request.body.get("tools") else "aux"


class Chat:
    """The server. Replies are taken in order from `replies`, or made by `script`; then `default` is said.

    Only requests of the conversation use up replies; `kind` tells them, and `aside` says what others get.
    """

    def __init__(self, kind: Kind = kind_by_tools) -> None:
        self.requests: list[Request] = []
        self.replies: list[Any] = []
        self.script: Callable[[Request], Any] | None = None
        self.default = "Done."
        self.kind = kind
        self.aside: dict[str, str] = {"aux": "A session", "compact": "We talked about the project."}
        self._lock = threading.Lock()
        self._ids = 0
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), type("Handler", (_Handler,), {"chat": self}))
        self._server.daemon_threads = True
        threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True).start()

    @property
    def url(self) -> str:
        """The base URL, as agents want it: with `/v1`."""
        return f"http://127.0.0.1:{self._server.server_address[1]}/v1"

    @property
    def main(self) -> list[Request]:
        """The requests of the conversation, oldest first."""
        return [request for request in self.requests if request.kind == "main"]

    def will(self, *replies: Any) -> None:
        """Queue answers: strings (said), `use(...)` blocks (called), or replies made by `say` and `call`."""
        with self._lock:
            self.replies.extend(replies)

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()

    def answer(self, request: Request) -> Reply:
        """The next reply to a request, which is logged."""
        with self._lock:
            request.kind = self.kind(request)
            self.requests.append(request)
            if request.kind != "main":
                return say(self.aside[request.kind])
            if self.script is not None:
                chosen = self.script(request)
            else:
                chosen = self.replies.pop(0) if self.replies else self.default
        if isinstance(chosen, str):
            return say(chosen)
        if isinstance(chosen, dict):
            return call(chosen)
        return call(*chosen) if isinstance(chosen, list) else chosen

    def next_id(self, prefix: str) -> str:
        with self._lock:
            self._ids += 1
            return f"{prefix}-{self._ids:020d}"


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    chat: Chat

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
        """Requests stay in the log of the server; stderr stays empty."""

    def do_GET(self) -> None:
        models = {"object": "list", "data": [{"id": MODEL, "object": "model", "owned_by": "loopback"}]}
        known = self.path.endswith("/models")
        self._send(200 if known else 404, json.dumps(models if known else {}).encode(), "application/json")

    def do_POST(self) -> None:
        raw = self.rfile.read(int(self.headers.get("content-length", 0)))
        if not self.path.endswith("/chat/completions"):
            self._send(404, b"{}", "application/json")
            return
        body = json.loads(raw)
        reply = self.chat.answer(Request(body, dict(self.headers.items())))
        deadline = time.monotonic() + PATIENCE
        while not reply.until() and time.monotonic() < deadline:
            time.sleep(0.05)
        time.sleep(reply.delay)
        try:
            if reply.status != 200:
                error = {"error": {"type": reply.error, "message": reply.message}}
                self._send(reply.status, json.dumps(error).encode(), "application/json", reply.headers)
            elif body.get("stream"):
                chunks = [f"data: {json.dumps(chunk)}\n\n" for chunk in self._chunks(body, reply)]
                self._send(200, "".join([*chunks, "data: [DONE]\n\n"]).encode(), "text/event-stream")
            else:
                self._send(200, json.dumps(self._whole(body, reply)).encode(), "application/json")
        except (BrokenPipeError, ConnectionResetError):
            self.close_connection = True  # the agent gave up, as it may when a test kills it

    def _head(self, body: dict[str, Any], kind: str) -> dict[str, Any]:
        number = self.chat.next_id("chatcmpl")
        return {"id": number, "object": kind, "created": int(time.time()), "model": body.get("model", MODEL)}

    def _message(self, reply: Reply) -> tuple[str, list[dict[str, Any]]]:
        """The text of a reply and its tool calls as the API has them."""
        text = "".join(block["text"] for block in reply.blocks if block["type"] == "text")
        calls = [
            {
                "id": block.get("id") or self.chat.next_id("call"),
                "type": "function",
                "function": {"name": block["name"], "arguments": json.dumps(block["input"])},
            }
            for block in reply.blocks
            if block["type"] == "tool_use"
        ]
        return text, calls

    def _whole(self, body: dict[str, Any], reply: Reply) -> dict[str, Any]:
        text, calls = self._message(reply)
        message = {"role": "assistant", "content": text or None, **({"tool_calls": calls} if calls else {})}
        choice = {"index": 0, "message": message, "finish_reason": _finish(reply, calls)}
        return {**self._head(body, "chat.completion"), "choices": [choice], "usage": _usage(reply)}

    def _chunks(self, body: dict[str, Any], reply: Reply) -> Iterator[dict[str, Any]]:
        text, calls = self._message(reply)
        head = self._head(body, "chat.completion.chunk")
        deltas: list[dict[str, Any]] = [{"role": "assistant", "content": text}]
        deltas += [{"tool_calls": [{"index": index, **each}]} for index, each in enumerate(calls)]
        for delta in deltas:
            yield {**head, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]}
        yield {**head, "choices": [{"index": 0, "delta": {}, "finish_reason": _finish(reply, calls)}]}
        yield {**head, "choices": [], "usage": _usage(reply)}

    def _send(self, status: int, data: bytes, kind: str, headers: dict[str, str] | None = None) -> None:
        self.send_response(status)
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)


def _finish(reply: Reply, calls: list[Any]) -> str:
    return reply.stop or ("tool_calls" if calls else "stop")


def _usage(reply: Reply) -> dict[str, int]:
    return {"prompt_tokens": reply.input_tokens, "completion_tokens": 10, "total_tokens": reply.input_tokens + 10}
