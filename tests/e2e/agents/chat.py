"""A loopback stand-in for an API of chat completions, as Qwen Code, OpenCode and Copilot CLI use it, streamed or not."""

import json
import time
from typing import Any

from e2e.model import Reply, Request

from .loopback import Loopback, Said, event_stream

MODEL = "stand-in"


class Asked(Said):
    """A request for a completion."""

    def messages(self) -> list[tuple[str, list[dict[str, Any]]]]:
        """(role, parts) of each message, tool results too; content that is a string is one `text` part."""
        return [
            (message["role"], [{"type": "text", "text": content}] if isinstance(content, str) else list(content or []))
            for message in self.body["messages"]
            for content in [message.get("content")]
        ]

    def texts(self, *roles: str) -> list[str]:
        """The text of each message of these roles, its parts joined by line feeds."""
        return ["\n".join(part.get("text", "") for part in parts) for role, parts in self.messages() if role in roles]

    def tool_results(self) -> list[str]:
        return self.texts("tool")


class Chat(Loopback):
    """The service, at `url` + `/v1`. A request that offers no tools is asked aside."""

    parts = ("messages",)
    request = Asked
    compaction = "Please create a detailed summary of the conversation"  # begins the last message of a compaction

    def kind(self, path: str, body: dict[str, Any]) -> str:
        if not path.endswith("/chat/completions"):
            return ""
        last = self.request(path, body, "", {}).messages()[-1:]
        if any(self.compaction in part.get("text", "") for _, parts in last for part in parts):
            return "compact"
        return "main" if body.get("tools") else "aux"

    def page(self, path: str) -> Any:
        models = [{"id": MODEL, "object": "model", "owned_by": "loopback"}]
        return {"object": "list", "data": models} if path.endswith("/models") else None

    def written(self, request: Request, reply: Reply) -> tuple[str, bytes]:
        text = "".join(block["text"] for block in reply.blocks if block["type"] == "text")
        calls = [
            {
                "id": block["id"],
                "type": "function",
                "function": {"name": block["name"], "arguments": json.dumps(block["input"])},
            }
            for block in reply.blocks
            if block["type"] == "tool_use"
        ]
        end = reply.stop or ("tool_calls" if calls else "stop")
        name, now, model = self.next_id("chatcmpl"), int(time.time()), request.body.get("model", MODEL)
        head: dict[str, Any] = {"id": name, "object": "chat.completion", "created": now, "model": model}
        usage = {"prompt_tokens": reply.input_tokens, "completion_tokens": 10, "total_tokens": reply.input_tokens + 10}
        if not request.body.get("stream"):
            message = {"role": "assistant", "content": text or None, **({"tool_calls": calls} if calls else {})}
            choices = [{"index": 0, "message": message, "finish_reason": end}]
            return "application/json", json.dumps({**head, "choices": choices, "usage": usage}).encode()
        head["object"] += ".chunk"
        deltas: list[dict[str, Any]] = [{"role": "assistant", "content": text}]
        deltas += [{"tool_calls": [{"index": index, **call}]} for index, call in enumerate(calls)]
        choices = [{"index": 0, "delta": delta, "finish_reason": None} for delta in deltas]
        choices.append({"index": 0, "delta": {}, "finish_reason": end})
        events = [{**head, "choices": [choice]} for choice in choices]
        kind, data = event_stream([*events, {**head, "choices": [], "usage": usage}])
        return kind, data + b"data: [DONE]\n\n"
