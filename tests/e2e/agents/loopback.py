"""What the loopback models of the other agents share: a server that answers from a script and keeps what it was sent.

A protocol says in a subclass of `Loopback` where the texts of a request are, what kind it is, and how a reply is written.
Replies are those of `tests/e2e/model.py`: `say("Done.")`, `call(use("shell", command="true"))`, a string, or a list of calls.
"""

import json
from collections.abc import Iterator
from typing import Any

from e2e.model import Handler, Model, Reply, Request


def texts(value: Any) -> Iterator[str]:
    """Every string within a JSON value, in order; keys are none."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, list | dict):
        for part in value.values() if isinstance(value, dict) else value:
            yield from texts(part)


class Said(Request):
    """A request of any protocol: what the model can read in it."""

    parts: tuple[str, ...] = ()  # the fields of its body that the model reads
    is_last = False  # whether its answer, which called no tool, ended the turn

    def strings(self) -> Iterator[str]:
        for name in self.parts:
            yield from texts(self.body.get(name, []))

    def text(self) -> str:
        return "\n".join(self.strings())

    @property
    def last(self) -> str:
        """The texts of the newest message, as JSON."""
        return json.dumps(self.body[self.parts[-1]][-1])


class Loopback(Model):
    """A stand-in for the service of one protocol."""

    parts: tuple[str, ...] = ()  # the fields of a request's body that the model reads
    request = Said

    @property
    def handler(self) -> type[Handler]:
        return _Handler

    def kind(self, path: str, body: dict[str, Any]) -> str:
        """What a request is: `main` (the conversation), `compact`, `aux` (titles, probes); empty: none of this protocol."""
        raise NotImplementedError

    def written(self, request: Request, reply: Reply) -> tuple[str, bytes]:
        """An answer's content type and bytes, as this protocol has it."""
        raise NotImplementedError

    def page(self, path: str) -> Any:
        """What a GET brings, as JSON; None: not there."""
        return None


class _Handler(Handler):
    model: Loopback

    def do_GET(self) -> None:
        page = self.model.page(self.path)
        self.send(404 if page is None else 200, json.dumps(page).encode(), "application/json")

    def do_POST(self) -> None:
        raw = self.rfile.read(int(self.headers.get("content-length", 0)))
        body = json.loads(raw or b"{}")
        kind = self.model.kind(self.path, body)
        if not kind:
            self.send(404, b"{}", "application/json")
            return
        request = self.model.request(self.path, body, kind, dict(self.headers.items()))
        request.parts = self.model.parts
        reply = self.in_time(self.model.answer(request))
        request.is_last = all(block["type"] != "tool_use" for block in reply.blocks)
        try:
            if reply.status != 200:
                error = {"error": {"type": reply.error, "message": reply.message}}
                self.send(reply.status, json.dumps(error).encode(), "application/json", reply.headers)
                return
            for block in reply.blocks:
                if block["type"] == "tool_use":
                    block.setdefault("id", self.model.next_id("call"))
            kind, data = self.model.written(request, reply)
            self.send(200, data if reply.raw is None else reply.raw, kind, cut=reply.cut)
        except (BrokenPipeError, ConnectionResetError):
            self.close_connection = True  # the program gave up, as it may when a test kills it


def event_stream(events: list[dict[str, Any]], named: bool = False) -> tuple[str, bytes]:
    """Server-sent events. `named`: each says its own type in a line before its data."""
    lines = [(f"event: {each['type']}\n" if named else "") + f"data: {json.dumps(each)}\n\n" for each in events]
    return "text/event-stream", "".join(lines).encode()
