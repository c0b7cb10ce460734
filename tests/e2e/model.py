"""A loopback stand-in for the Messages API: it answers the client from a script and keeps what the client sent.

The request bodies are what the tests judge by: what is in one reached the model, what is not did not.
"""

import json
import re
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Block = dict[str, Any]
PATIENCE = 120  # seconds for which a reply waits for something
NOTE = re.compile(r'<memtui-note id="(m\d+)" title="([^"]*)"')


@dataclass
class Reply:
    """One answer: content blocks, seconds to wait before it, and the input tokens it reports.

    `until`: it is given once this is true; after two minutes it is an error instead.
    `status`, `error` (its type), `message` and `headers` are of one that is an error; `stop` is why the answer ended, if not as its
    blocks tell; `cut`: the connection ends after so many bytes of it; `raw`: these bytes instead of an answer.
    """

    blocks: list[Block]
    delay: float = 0.0
    input_tokens: int = 1000
    status: int = 200
    error: str = "invalid_request_error"
    message: str = "scripted"
    headers: dict[str, str] = field(default_factory=dict)
    stop: str = ""
    cut: int = 0
    raw: bytes | None = None
    until: Callable[[], object] = lambda: True

    @property
    def stop_reason(self) -> str:
        if self.stop:
            return self.stop
        return "tool_use" if any(b["type"] == "tool_use" for b in self.blocks) else "end_turn"


@dataclass
class Request:
    """One POST as the client sent it. `kind`: main (the conversation), compact, or aux (titles, probes, counts)."""

    path: str
    body: dict[str, Any]
    kind: str
    headers: dict[str, str]
    time: float = field(default_factory=time.monotonic)

    def messages(self) -> list[tuple[str, list[Block]]]:
        """(role, content blocks) of each message; content given as a string is one text block."""
        return [(m["role"], _blocks(m["content"])) for m in self.body.get("messages", [])]

    def strings(self) -> Iterator[str]:
        """Every string the model can read in the conversation: texts, tool results and tool inputs."""
        for _role, blocks in self.messages():
            for block in blocks:
                yield from _strings(block)

    def text(self) -> str:
        """All that the model can read, system prompt and conversation, joined by line feeds."""
        system = [b.get("text", "") for b in _blocks(self.body.get("system", []))]
        return "\n".join([*system, *self.strings()])

    def notes(self) -> dict[str, str]:
        """The memories that a dream shows the model: the short name of each, and its own name."""
        return dict(NOTE.findall(self.text()))

    def count(self, needle: str) -> int:
        """How often `needle` stands in the system prompt and the conversation."""
        return self.text().count(needle)

    def tool_results(self) -> list[str]:
        """The text of each tool result, in order."""
        return [
            "\n".join(_strings(b.get("content", "")))
            for _r, bs in self.messages()
            for b in bs
            if b.get("type") == "tool_result"
        ]


Script = Callable[[Request], "Reply | Block | str | list[Block]"]


def say(text: str, **how: Any) -> Reply:
    """An answer of plain text, which ends the turn. `how`: fields of the reply."""
    return Reply([{"type": "text", "text": text}], **how)


def use(name: str, /, **tool_input: Any) -> Block:
    """A tool_use block: `use("Bash", command="true")`."""
    return {"type": "tool_use", "name": name, "input": tool_input}


def call(*blocks: Block, text: str = "", **how: Any) -> Reply:
    """An answer that calls tools, all in one message. `how`: fields of the reply."""
    lead = [{"type": "text", "text": text}] if text else []
    return Reply([*lead, *blocks], **how)


def structured(request: Request, **parts: Any) -> Block:
    """The answer of a model that memtui asks for a form, through either backend."""
    names = [each["name"] for each in request.body["tools"]]
    return use(next(each for each in ("answer", "StructuredOutput") if each in names), **parts)


def _blocks(content: Any) -> list[Block]:
    return [{"type": "text", "text": content}] if isinstance(content, str) else list(content)


def _strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for item in value:
            yield from _strings(item)
    elif isinstance(value, dict):
        for key in ("text", "content", "input"):
            yield from _strings(value.get(key))
        if value.get("type") is None:
            yield from (v for k, v in value.items() if isinstance(v, str) and k not in {"text", "content", "input"})


def _kind(path: str, body: dict[str, Any]) -> str:
    if "count_tokens" in path:
        return "aux"
    said = [m for m in body.get("messages", []) if m.get("role") == "user"]
    if said and "Your task is to create a detailed summary of" in "\n".join(_strings(_blocks(said[-1]["content"]))):
        return "compact"
    return "main" if body.get("tools") else "aux"


class Handler(BaseHTTPRequestHandler):
    """What every stand-in's connections share: whose they are, and how an answer is sent."""

    protocol_version = "HTTP/1.1"
    model: "Model"

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
        """The requests are kept; a log on stderr would only be noise."""

    def in_time(self, reply: Reply) -> Reply:
        """The reply, once it is due; after two minutes an error instead."""
        deadline = time.monotonic() + PATIENCE
        while not reply.until():
            time.sleep(0.05)
            if time.monotonic() > deadline:
                return Reply([], status=400)
        time.sleep(reply.delay)
        return reply

    def send(self, status: int, data: bytes, kind: str, headers: dict[str, str] | None = None, cut: int = 0) -> None:
        """Send a whole answer, or its first `cut` bytes."""
        self.send_response(status)
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data[: cut or None])
        if cut:
            self.wfile.flush()
            self.close_connection = True


class Model:
    """The server. Replies are taken in order from `replies`, or made by `script`; then `default` is said.

    Only requests of the conversation use up replies: titles, probes, token counts and compaction are answered aside.
    """

    @property
    def handler(self) -> type[Handler]:
        """How its connections are answered."""
        return _Handler

    def __init__(self) -> None:
        self.requests: list[Request] = []
        self.replies: list[Any] = []
        self.script: Script | None = None
        self.default = "Done."
        self.offered: list[str] | None = None  # the models that it lists; None: it has no such list
        self.listing: tuple[int, bytes, float] | None = None  # instead of a list: status, body, seconds to wait
        self.listings = 0  # how often it was asked for its list
        self.summary = "<summary>We talked about the project.</summary>"
        self._lock = threading.Lock()
        self._ids = 0
        handler = type("Handler", (self.handler,), {"model": self})
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True)
        self._thread.start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    @property
    def main(self) -> list[Request]:
        """The requests of the conversation, oldest first."""
        return [r for r in self.requests if r.kind == "main"]

    def will(self, *replies: Any) -> None:
        """Queue answers: strings (said), `use(...)` blocks (called), or replies made by `say` and `call`."""
        with self._lock:
            self.replies.extend(replies)

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()

    def answer(self, request: Request) -> Reply:
        with self._lock:
            self.requests.append(request)
            if request.kind == "aux":
                return say('{"title": "A session", "isNewTopic": false}')
            if request.kind == "compact":
                return say(self.summary)
            if self.script is not None:
                chosen: Any = self.script(request)
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
            return f"{prefix}_{self._ids:024d}"


class _Handler(Handler):
    def do_HEAD(self) -> None:
        self.send(200, b"", "text/plain")

    def do_GET(self) -> None:
        self.model.listings += self.path == "/v1/models"
        if self.path == "/v1/models" and self.model.listing is not None:
            status, data, delay = self.model.listing
            time.sleep(delay)
            self.send(status, data, "application/json")
            return
        if self.path == "/v1/models" and self.model.offered is not None:
            rows = [{"type": "model", "id": name} for name in self.model.offered]
            self.send(200, json.dumps({"data": rows}).encode(), "application/json")
            return
        self.send(404, b"{}", "application/json")

    def do_POST(self) -> None:
        raw = self.rfile.read(int(self.headers.get("content-length", 0)))
        if not self.path.startswith("/v1/messages"):
            self.send(404, b"{}", "application/json")
            return
        body = json.loads(raw)
        request = Request(self.path, body, _kind(self.path, body), dict(self.headers.items()))
        reply = self.model.answer(request)
        if "count_tokens" in self.path:
            self.send(200, b'{"input_tokens": 1000}', "application/json")
            return
        reply = self.in_time(reply)
        if reply.status != 200:
            error = {"type": "error", "error": {"type": reply.error, "message": reply.message}}
            self.send(reply.status, json.dumps(error).encode(), "application/json", reply.headers)
            return
        try:
            self._reply(body, reply)
        except (BrokenPipeError, ConnectionResetError):
            self.close_connection = True  # the client gave up, as it may when a test kills it

    def _reply(self, body: dict[str, Any], reply: Reply) -> None:
        blocks = [dict(b) for b in reply.blocks]
        for block in blocks:
            if block["type"] == "tool_use":
                block.setdefault("id", self.model.next_id("toolu"))
        usage = {
            "input_tokens": reply.input_tokens,
            "output_tokens": 10,
            "cache_creation_input_tokens": 0,
            "cache_read_input_tokens": 0,
        }
        message = {
            "id": self.model.next_id("msg"),
            "type": "message",
            "role": "assistant",
            "model": body.get("model", "stand-in"),
            "content": [],
            "stop_reason": None,
            "stop_sequence": None,
            "usage": usage,
        }
        if not body.get("stream"):
            message |= {"content": blocks, "stop_reason": reply.stop_reason}
            data = json.dumps(message).encode() if reply.raw is None else reply.raw
            self.send(200, data, "application/json", cut=reply.cut)
            return
        events = "".join(f"event: {e['type']}\ndata: {json.dumps(e)}\n\n" for e in _events(message, blocks, reply))
        data = events.encode() if reply.raw is None else reply.raw
        self.send(200, data, "text/event-stream", cut=reply.cut)


def _events(message: dict[str, Any], blocks: list[Block], reply: Reply) -> Iterator[dict[str, Any]]:
    yield {"type": "message_start", "message": message}
    for index, block in enumerate(blocks):
        empty, deltas = block, list[dict[str, Any]]()  # of other kinds all comes at once
        if block["type"] == "tool_use":
            empty = {"type": "tool_use", "id": block["id"], "name": block["name"], "input": {}}
            deltas = [{"type": "input_json_delta", "partial_json": json.dumps(block["input"])}]
        elif block["type"] == "text":
            empty, deltas = {"type": "text", "text": ""}, [{"type": "text_delta", "text": block["text"]}]
        elif block["type"] == "thinking":
            empty = {"type": "thinking", "thinking": "", "signature": ""}
            deltas = [{"type": f"{key}_delta", key: block[key]} for key in ("thinking", "signature")]
        yield {"type": "content_block_start", "index": index, "content_block": empty}
        for delta in deltas:
            yield {"type": "content_block_delta", "index": index, "delta": delta}
        yield {"type": "content_block_stop", "index": index}
    yield {
        "type": "message_delta",
        "delta": {"stop_reason": reply.stop_reason, "stop_sequence": None},
        "usage": {"output_tokens": 10},
    }
    yield {"type": "message_stop"}
