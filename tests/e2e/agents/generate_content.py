"""A loopback stand-in for Gemini's API, `generateContent` and `streamGenerateContent`."""

import json
from typing import Any

from e2e.model import Reply, Request

from .loopback import Loopback, Said, event_stream

COMPACTION = "<state_snapshot>"
SNAPSHOT = "<state_snapshot>\n<overall_goal>We talked about the project.</overall_goal>\n</state_snapshot>"
# Of what tokens are counted for: a compaction that saves none is not kept.
TOKEN_CHARACTERS = 4


class Asked(Said):
    """A request for content."""

    def tool_results(self) -> list[str]:
        parts = [part for content in self.body["contents"] for part in content["parts"]]
        return [str(part["functionResponse"]["response"]) for part in parts if "functionResponse" in part]


class GenerateContent(Loopback):
    """The service that Gemini CLI asks."""

    parts = ("systemInstruction", "contents")
    request = Asked

    def kind(self, path: str, body: dict[str, Any]) -> str:
        if ":countTokens" in path:
            return "aux"
        if ":generateContent" not in path and ":streamGenerateContent" not in path:
            return ""
        if COMPACTION in json.dumps(body.get("contents", [])[-1:]):
            return "compact"
        return "main" if body.get("tools") else "aux"

    def written(self, request: Request, reply: Reply) -> tuple[str, bytes]:
        tokens = len(json.dumps(request.body.get("contents", []))) // TOKEN_CHARACTERS
        if ":countTokens" in request.path:
            return "application/json", json.dumps({"totalTokens": tokens}).encode()
        blocks = [{"type": "text", "text": SNAPSHOT}] if request.kind == "compact" else reply.blocks
        answer = {
            "candidates": [
                {"index": 0, "content": {"role": "model", "parts": list(map(_part, blocks))}, "finishReason": "STOP"}
            ],
            "usageMetadata": {"promptTokenCount": tokens, "candidatesTokenCount": 10, "totalTokenCount": tokens + 10},
            "modelVersion": "stand-in",
        }
        if ":streamGenerateContent" in request.path:
            return event_stream([answer])
        return "application/json", json.dumps(answer).encode()


def _part(block: dict[str, Any]) -> dict[str, Any]:
    if block["type"] == "text":
        return {"text": block["text"]}
    return {"functionCall": {"name": block["name"], "args": block["input"]}}
