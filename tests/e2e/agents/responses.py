"""A loopback stand-in for the Responses API, which Codex speaks."""

import json
from typing import Any

from e2e.model import Reply, Request

from .loopback import Loopback, Said, event_stream

COMPACTION = "You are performing a CONTEXT CHECKPOINT COMPACTION"


class Asked(Said):
    """A request for a response."""

    def tool_results(self) -> list[str]:
        return [json.dumps(item["output"]) for item in self.body["input"] if item["type"].endswith("_output")]


class Responses(Loopback):
    """The service that Codex asks."""

    parts = ("instructions", "input")
    request = Asked

    def kind(self, path: str, body: dict[str, Any]) -> str:
        if not path.endswith("/responses"):
            return ""
        return "compact" if COMPACTION in json.dumps(body.get("input", [])[-1:]) else "main"

    def written(self, request: Request, reply: Reply) -> tuple[str, bytes]:
        name = self.next_id("resp")
        items = [_item(block, self.next_id("item")) for block in reply.blocks]
        usage = {"input_tokens": reply.input_tokens, "output_tokens": 10, "total_tokens": reply.input_tokens + 10}
        events = [
            {"type": "response.created", "response": {"id": name}},
            *[{"type": "response.output_item.done", "output_index": at, "item": item} for at, item in enumerate(items)],
            {"type": "response.completed", "response": {"id": name, "usage": usage}},
        ]
        return event_stream(events, named=True)


def _item(block: dict[str, Any], name: str) -> dict[str, Any]:
    if block["type"] == "text":
        content = [{"type": "output_text", "text": block["text"]}]
        return {"type": "message", "role": "assistant", "id": name, "content": content}
    told = block["input"]
    if set(told) == {"freeform"}:  # a custom tool takes plain text
        return {"type": "custom_tool_call", "call_id": block["id"], "name": block["name"], "input": told["freeform"]}
    more = {"namespace": block["namespace"]} if "namespace" in block else {}
    return {
        "type": "function_call",
        **more,
        "call_id": block["id"],
        "name": block["name"],
        "arguments": json.dumps(told),
    }
