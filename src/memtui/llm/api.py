"""The Messages API through the anthropic SDK. The SDK is slow to import: only the first call imports it.

The answer is the input of a tool that the model calls. It is not forced to: a model that thinks before it answers takes
no forced tool. An answer that is JSON as text counts as well.
"""

import json
from typing import Any

from memtui.llm.call import POLL_SECONDS, Answer, Call, Stop
from memtui.llm.errors import (
    BusyError,
    CutError,
    InvalidAnswerError,
    ModelError,
    RefusedError,
    RejectedError,
    UnreachableError,
    shortened,
)
from memtui.llm.usage import ModelUsage, priced

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
# What the service calls the kinds of tokens.
COUNTS = {
    "input": "input_tokens",
    "output": "output_tokens",
    "cached": "cache_read_input_tokens",
    "written": "cache_creation_input_tokens",
}


class Api:
    """The API at ANTHROPIC_BASE_URL, with ANTHROPIC_API_KEY or ANTHROPIC_AUTH_TOKEN of `env`."""

    name = "api"

    def __init__(self, env: dict[str, str], model: str) -> None:
        self.model = MODELS.get(model, model)
        self._env = env

    def call(self, call: Call, stop: Stop) -> Answer:
        """Make one attempt. Raises ModelError."""
        import asyncio

        return asyncio.run(self._watched(call, stop))

    async def _watched(self, call: Call, stop: Stop) -> Answer:
        """Read the answer, and break the connection off as soon as it is time to stop."""
        import asyncio

        heard = _Heard(self.model)
        task = asyncio.create_task(self._request(call, stop, heard))
        try:
            while not task.done():
                await asyncio.wait({task}, timeout=POLL_SECONDS)
                if not task.done():
                    stop.check(heard.usage())
            return task.result()
        finally:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)

    async def _request(self, call: Call, stop: Stop, heard: "_Heard") -> Answer:
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
                request: Any = client.messages.create
                stream = await request(**self._body(call))
                async with stream:
                    async for event in stream:
                        heard.take(event)
            return heard.answer()
        except ModelError:
            raise
        except anthropic.APIStatusError as error:
            raise _of_status(error, heard.usage()) from error
        except anthropic.APIConnectionError as error:
            raise UnreachableError(f"There is no connection to the model: {_said(error)}") from error
        except ValueError as error:
            raise InvalidAnswerError(
                "The service does not answer as the Messages API does.", "Check ANTHROPIC_BASE_URL.", heard.usage()
            ) from error
        except Exception as error:  # of the HTTP library, which the SDK lets through while it reads a stream
            raise CutError(f"The connection broke off: {_said(error)}", usage=heard.usage()) from error

    def _body(self, call: Call) -> dict[str, Any]:
        head = [{"type": "text", "text": call.head, "cache_control": EPHEMERAL}] if call.head else []
        return {
            "model": self.model,
            "max_tokens": call.most,
            "system": [{"type": "text", "text": f"{call.system}\n\n{ONLY_THE_TOOL}", "cache_control": EPHEMERAL}],
            "messages": [{"role": "user", "content": [*head, {"type": "text", "text": call.prompt}]}],
            "tools": [{"name": TOOL, "description": "Takes your answer.", "input_schema": call.schema}],
            "stream": True,
        }


class _Heard:
    """What was heard of an answer so far, by the events of its stream."""

    def __init__(self, model: str) -> None:
        self.model = model
        self._counts = ModelUsage()
        self._tools: dict[int, list[str]] = {}
        self._texts: list[str] = []
        self._begun = self._ended = False
        self._why_ended: str | None = None

    def take(self, event: Any) -> None:
        """Take the next event. Events of unknown types are skipped."""
        kind = event.type
        if kind == "message_start":
            self._begun = True
            self.model = str(event.message.model or self.model)
            self._count(event.message.usage)
        elif kind == "content_block_start" and event.content_block.type == "tool_use":
            self._tools[event.index] = []
        elif kind == "content_block_delta" and event.delta.type == "input_json_delta" and event.index in self._tools:
            self._tools[event.index].append(event.delta.partial_json)
        elif kind == "content_block_delta" and event.delta.type == "text_delta":
            self._texts.append(event.delta.text)
        elif kind == "message_delta":
            self._why_ended = event.delta.stop_reason
            self._count(event.usage)
        elif kind == "message_stop":
            self._ended = True

    def _count(self, used: Any) -> None:
        """Take the counts of an event; a later one names the sums so far, of some kinds or of all."""
        counts = {key: getattr(used, name, None) for key, name in COUNTS.items()}
        self._counts = self._counts._replace(**{key: value for key, value in counts.items() if value is not None})

    def usage(self) -> ModelUsage:
        """Return what was used so far, as far as the service has said."""
        return priced(self.model, self._counts)

    def answer(self) -> Answer:
        """Return the answer. Raises ModelError if it is not whole, or no answer."""
        used = self.usage()
        if not self._begun:
            raise InvalidAnswerError(
                "The service does not answer as the Messages API does.", "Check ANTHROPIC_BASE_URL."
            )
        if not self._ended:
            raise CutError("The answer broke off.", usage=used)
        if self._why_ended == "refusal":
            raise RefusedError("The model refused to answer.", usage=used)
        if self._why_ended in {"max_tokens", "model_context_window_exceeded"}:
            raise InvalidAnswerError("The answer is too long, and was cut off.", usage=used)
        return Answer(self._data(used), self.model, used)

    def _data(self, used: ModelUsage) -> object:
        text = "".join(next(iter(self._tools.values()), self._texts)).strip()
        if not self._tools and text.startswith("```") and text.endswith("```"):
            text = text.removesuffix("```").partition("\n")[2]  # marks of a code block
        try:
            return json.loads(text or "{}" if self._tools else text)
        except (ValueError, RecursionError) as error:
            raise InvalidAnswerError("The model answered with text that is not JSON.", usage=used) from error


def _said(error: Exception) -> str:
    """Return an error's message, short and on one line; with the cause, which the SDK keeps apart."""
    words, cause = str(error) or type(error).__name__, str(error.__cause__ or "")
    return shortened(f"{words} {cause}" if cause not in words else words)


def _of_status(error: Any, used: ModelUsage) -> ModelError:
    """Return our error for an answer with a status that is not good, or an error in the middle of a stream."""
    status = error.status_code
    body: Any = error.body if isinstance(error.body, dict) else {}
    inner: Any = body.get("error") if isinstance(body.get("error"), dict) else {}
    words = shortened(str(inner.get("message") or error.message))
    passing = inner.get("type") in PASSING if status < 400 else status in {408, 429} or status >= 500
    if passing:
        return BusyError(f"The model is busy ({status}): {words}", "Try again later.", used, _after(error))
    hint = "Check ANTHROPIC_API_KEY." if status in {401, 403} else ""
    if status == 404:
        hint = "Check the model: memtui config get llm_model"
    return RejectedError(f"The service did not take the request ({status}): {words}", hint, used)


def _after(error: Any) -> float:
    """Return the seconds that the service asks to wait."""
    try:
        return min(MOST_AFTER, max(0.0, float(error.response.headers.get("retry-after") or 0)))
    except ValueError:
        return 0.0
