"""The Messages API through the anthropic SDK. The SDK is slow to import: only the first call imports it.

The answer is the input of a tool that the model calls. It is not forced to: a model that thinks before it answers takes
no forced tool. An answer that is JSON as text counts as well."""

import asyncio
import json
from typing import Any

from memtui.models.call import (
    POLL_SECONDS,
    Answer,
    Call,
    ModelError,
    ModelUsage,
    Stop,
    counted,
    of_status,
    priced,
    shortened,
)

URL = "https://api.anthropic.com"
# What a short name stands for.
MODELS = {"haiku": "claude-haiku-5-5", "sonnet": "claude-sonnet-5-5", "opus": "claude-opus-5-5"}
TOOL = "answer"
ONLY_THE_TOOL = f"Give your whole answer by one call of the tool `{TOOL}`, and write no other text."
CONNECT_SECONDS = 10.0
# Kinds of errors in the middle of a stream that are over after a while.
PASSING = {"overloaded_error", "rate_limit_error", "api_error", "timeout_error"}
# The most seconds that a service can make us wait before the next attempt.
MOST_AFTER = 60.0
EPHEMERAL = {"type": "ephemeral"}
NO_API = ("The service does not answer as the Messages API does.", "Check ANTHROPIC_BASE_URL.")
NO_JSON = ("The model answered with text that is not JSON.", "")


class Api:
    """The API at ANTHROPIC_BASE_URL, with ANTHROPIC_API_KEY or ANTHROPIC_AUTH_TOKEN of `env`."""

    name = "api"

    def __init__(self, env: dict[str, str], model: str) -> None:
        self.model = MODELS.get(model, model)
        self._env = env

    def call(self, call: Call, stop: Stop) -> Answer:
        """Make one attempt. Raises ModelError."""
        return asyncio.run(self._watched(call, stop))

    async def _watched(self, call: Call, stop: Stop) -> Answer:
        """Read the answer, and break the connection off as soon as it is time to stop."""
        other = _Heard(self.model)
        task = asyncio.create_task(self._request(call, stop, other))
        try:
            while not task.done():
                await asyncio.wait({task}, timeout=POLL_SECONDS)
                if not task.done():
                    stop.check(other.usage())
            return task.result()
        finally:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)

    async def _request(self, call: Call, stop: Stop, other: "_Heard") -> Answer:
        import anthropic

        key, token = self._env.get("ANTHROPIC_API_KEY"), self._env.get("ANTHROPIC_AUTH_TOKEN")
        try:
            async with anthropic.AsyncAnthropic(
                api_key=key or None,
                auth_token=None if key else token,
                base_url=self._env.get("ANTHROPIC_BASE_URL") or URL,
                max_retries=0,
                # Later than `stop`, which knows what was used by then.
                timeout=anthropic.Timeout(max(1.0, stop.left) + 5.0, connect=CONNECT_SECONDS),
            ) as client:
                request: Any = client.messages.stream
                async with request(**self._body(call)) as stream:
                    async for event in stream:
                        other.message, other.is_whole = stream.current_message_snapshot, event.type == "message_stop"
            return other.answer()
        except ModelError:
            raise
        except anthropic.APIStatusError as error:
            raise _of_error(error, other.usage()) from error
        except anthropic.APIConnectionError as error:
            raise ModelError("unreachable", f"There is no connection to the model: {_said(error)}") from error
        except (ValueError, RuntimeError) as error:  # of the SDK, for what the API does not send, and what is no JSON
            words = NO_API if other.message is None else NO_JSON
            raise ModelError("invalid", *words, other.usage()) from error
        except Exception as error:  # of the HTTP library, which the SDK lets through while it reads a stream
            raise ModelError("cut", f"The connection broke off: {_said(error)}", usage=other.usage()) from error

    def _body(self, call: Call) -> dict[str, Any]:
        head = [{"type": "text", "text": call.head, "cache_control": EPHEMERAL}] if call.head else []
        return {
            "model": self.model,
            "max_tokens": call.most,
            "system": [{"type": "text", "text": f"{call.system}\n\n{ONLY_THE_TOOL}", "cache_control": EPHEMERAL}],
            "messages": [{"role": "user", "content": [*head, {"type": "text", "text": call.prompt}]}],
            "tools": [{"name": TOOL, "description": "Takes your answer.", "input_schema": call.schema}],
        }


class _Heard:
    """What was heard of an answer so far: the `message` as the SDK puts it together, and whether it `is_whole`."""

    def __init__(self, model: str) -> None:
        self.model, self.is_whole = model, False
        self.message: Any = None

    def usage(self) -> ModelUsage:
        """Return what was used so far, as far as the service has said."""
        counts = getattr(self.message, "usage", None)
        return priced(self._named(), counted(lambda name: getattr(counts, name, 0)))

    def _named(self) -> str:
        return str(getattr(self.message, "model", "") or self.model)

    def answer(self) -> Answer:
        """Return the answer. Raises ModelError if it is not whole, or no answer."""
        usage = self.usage()
        if self.message is None:
            raise ModelError("invalid", *NO_API)
        if not self.is_whole:
            raise ModelError("cut", "The answer broke off.", usage=usage)
        if self.message.stop_reason == "refusal":
            raise ModelError("refused", "The model refused to answer.", usage=usage)
        if self.message.stop_reason in {"max_tokens", "model_context_window_exceeded"}:
            raise ModelError("invalid", "The answer is too long, and was cut off.", usage=usage)
        for block in self.message.content:
            if block.type == "tool_use":
                return Answer(block.input, self._named(), usage)
        text = "".join(block.text for block in self.message.content if block.type == "text").strip()
        if text.startswith("```") and text.endswith("```"):
            text = text.removesuffix("```").partition("\n")[2]  # marks of a code block
        try:
            return Answer(json.loads(text), self._named(), usage)
        except (ValueError, RecursionError) as error:
            raise ModelError("invalid", *NO_JSON, usage) from error


def _said(error: Exception) -> str:
    """Return an error's message, short and on one line; with the cause, which the SDK keeps apart."""
    words, cause = str(error) or type(error).__name__, str(error.__cause__ or "")
    return shortened(f"{words} {cause}" if cause not in words else words)


def _of_error(error: Any, usage: ModelUsage) -> ModelError:
    """Return our error for an answer with a status that is not good, or an error in the middle of a stream."""
    status = error.status_code
    body: Any = error.body if isinstance(error.body, dict) else {}
    inner: Any = body.get("error") if isinstance(body.get("error"), dict) else {}
    passing = inner.get("type") in PASSING if status < 400 else status in {408, 429} or status >= 500
    hints = {401: "Check ANTHROPIC_API_KEY.", 403: "Check ANTHROPIC_API_KEY."}
    hints[404] = "Check the model: memtui config get llm_model"
    try:
        after = min(MOST_AFTER, max(0.0, float(error.response.headers.get("retry-after") or 0)))
    except ValueError:
        after = 0.0
    words = shortened(str(inner.get("message") or error.message))
    return of_status(status, passing, words, hints.get(status, ""), usage, after)
