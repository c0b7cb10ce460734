"""The two ways to a model: the Messages API, and a headless client.

The API goes through the anthropic SDK, which only the first call imports, as it is slow. The answer is the input of a
tool that the model calls, unforced, as thinking demands it; JSON as text counts as well.

`claude -p` is for people with a subscription, whose login only it can use. It runs with no tools, settings,
plugins, memory, transcript or hooks, in an empty directory of ours, a limited number at once and in a minute."""

import json
import os
import signal
import subprocess
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from typing import IO, Any

from memtui.base import fastjson_hot, fs_hot
from memtui.base.errors import MemtuiError
from memtui.base.storage import storing
from memtui.models.call import (
    POLL_SECONDS,
    Answer,
    ModelError,
    ModelUsage,
    OwnTools,
    Request,
    Stop,
    counted,
    of_status,
    priced,
    shortened,
)
from memtui.models.choice import HOST, SHORT

NO_API = ("The service does not answer as the Messages API does.", "Check ANTHROPIC_BASE_URL.")


# The Messages API

TOOL = "answer"
ONLY_THE_TOOL = f"Give your whole answer by one call of the tool `{TOOL}`, and write no other text."
CONNECT_SECONDS = 10.0
# Kinds of errors in the middle of a stream that are over after a while.
PASSING = {"overloaded_error", "rate_limit_error", "api_error", "timeout_error"}
# The most seconds that a service can make us wait before the next attempt.
MOST_AFTER = 60.0
EPHEMERAL = {"type": "ephemeral"}
# Searches of the web in a request, at most, and what one costs.
SEARCHES, SEARCH_DOLLARS = 3, 0.01
NO_WEB = "If it has no web search: memtui config set subconscious_tools read-only"
WEB_SEARCH = {"type": "web_search_20250305", "name": "web_search", "max_uses": SEARCHES}
NO_JSON = ("The model answered with text that is not JSON.", "")


class Api:
    """The API at ANTHROPIC_BASE_URL, with ANTHROPIC_API_KEY or ANTHROPIC_AUTH_TOKEN of `env`."""

    name = "api"

    def __init__(self, env: dict[str, str], model: str, own: OwnTools | None = None) -> None:
        self.model = SHORT.get(model, model)
        self._env, self._own = env, own
        self.extra = SEARCHES * SEARCH_DOLLARS if own else 0.0

    def call(self, call: Request, stop: Stop) -> Answer:
        """Make one attempt. Raises ModelError."""
        import asyncio

        return asyncio.run(self._watched(call, stop))

    async def _watched(self, call: Request, stop: Stop) -> Answer:
        """Read the answer, and break the connection off as soon as it is time to stop."""
        import asyncio

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

    async def _request(self, call: Request, stop: Stop, other: "_Heard") -> Answer:
        import anthropic

        key, token = self._env.get("ANTHROPIC_API_KEY"), self._env.get("ANTHROPIC_AUTH_TOKEN")
        try:
            async with anthropic.AsyncAnthropic(
                api_key=key or None,
                auth_token=None if key else token,
                base_url=self._env.get("ANTHROPIC_BASE_URL") or HOST,
                max_retries=0,
                # Later than `stop`, which knows what was used by then.
                timeout=anthropic.Timeout(max(1.0, stop.left) + 5.0, connect=CONNECT_SECONDS),
            ) as client:
                request: Any = client.messages.stream
                async with request(**self._body(call)) as stream:
                    async for event in stream:
                        other.message, other.is_whole = stream.current_message_snapshot, event.type == "message_stop"
                        if self._own is not None and event.type == "content_block_stop":
                            self._own.hear({"message": {"content": [event.content_block.model_dump()]}})
            return other.answer()
        except MemtuiError:
            raise
        except anthropic.APIStatusError as error:
            raise _of_error(error, other.usage(), NO_WEB if self._own is not None else "") from error
        except anthropic.APIConnectionError as error:
            raise ModelError("unreachable", f"There is no connection to the model: {_said(error)}") from error
        except (ValueError, RuntimeError) as error:  # of the SDK, for what the API does not send, and what is no JSON
            words = NO_API if other.message is None else NO_JSON
            raise ModelError("invalid", *words, other.usage()) from error
        except Exception as error:  # of the HTTP library, which the SDK lets through while it reads a stream
            raise ModelError("cut", f"The connection broke off: {_said(error)}", usage=other.usage()) from error

    def _body(self, call: Request) -> dict[str, Any]:
        head = [{"type": "text", "text": call.head, "cache_control": EPHEMERAL}] if call.head else []
        tools = [{"name": TOOL, "description": "Takes your answer.", "input_schema": call.schema}]
        return {
            "model": self.model,
            "max_tokens": call.most,
            "system": [{"type": "text", "text": f"{call.system}\n\n{ONLY_THE_TOOL}", "cache_control": EPHEMERAL}],
            "messages": [{"role": "user", "content": [*head, {"type": "text", "text": call.prompt}]}],
            "tools": [*tools, *([WEB_SEARCH] if self._own is not None else [])],
        }


class _Heard:
    """What was heard of an answer so far: the `message` as the SDK puts it together, and whether it `is_whole`."""

    def __init__(self, model: str) -> None:
        self.model, self.is_whole = model, False
        self.message: Any = None

    def usage(self) -> ModelUsage:
        """Return what was used so far, as far as the service has said."""
        counts = getattr(self.message, "usage", None)
        usage = priced(self._named(), counted(lambda name: getattr(counts, name, 0)))
        searches = getattr(getattr(counts, "server_tool_use", None), "web_search_requests", 0) or 0
        return usage if usage.cost is None else usage._replace(cost=usage.cost + searches * SEARCH_DOLLARS)

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
        if self.message.stop_reason == "pause_turn":
            raise ModelError("invalid", "The model was still searching the web when it had to stop.", usage=usage)
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


def _of_error(error: Any, usage: ModelUsage, refused: str = "") -> ModelError:
    """Return our error for an answer with a status that is not good, or an error in the middle of a stream."""
    status = error.status_code
    body: Any = error.body if isinstance(error.body, dict) else {}
    inner: Any = body.get("error") if isinstance(body.get("error"), dict) else {}
    passing = inner.get("type") in PASSING if status < 400 else status in {408, 429} or status >= 500
    hints = {400: refused, 401: "Check ANTHROPIC_API_KEY.", 403: "Check ANTHROPIC_API_KEY."}
    try:
        after = min(MOST_AFTER, max(0.0, float(error.response.headers.get("retry-after") or 0)))
    except ValueError:
        after = 0.0
    words = shortened(str(inner.get("message") or error.message))
    return of_status(status, passing, words, hints.get(status, ""), usage, after)


# A headless client

FLAGS = ("-p", "--no-session-persistence", "--output-format", "json")
NO_TOOLS = ("--tools", "")
WITH_KEY = ("--bare",)
# Answers of the model in one call with tools, at most, and the dollars that these may cost where no less is left.
TURNS, DOLLARS = 20, 0.5
WITH_LOGIN = ("--setting-sources", "", "--strict-mcp-config", "--disable-slash-commands")
# Set in the client. MEMTUI_INSIDE silences our hooks (hooks/runner_hot.py), CLAUDE_HEADLESS those of others, and both
# this module if something in the client should start it; the rest keeps out memory, updates and uncounted retries.
ENVIRONMENT = {
    "MEMTUI_INSIDE": "1",
    "CLAUDE_HEADLESS": "1",
    "CLAUDE_CODE_DISABLE_AUTO_MEMORY": "1",
    "CLAUDE_CODE_MAX_RETRIES": "0",
    "DISABLE_AUTOUPDATER": "1",
}
# The beginnings of variables that a session gave its children, and that would make a new one part of it.
OF_A_SESSION = (*("CLAUDECODE", "CLAUDE_CODE_SESSION", "CLAUDE_CODE_CHILD", "CLAUDE_CODE_ENTRY", "CLAUDE_PROJECT"),)
AT_ONCE, A_MINUTE, MINUTE = 2, 10, 60.0
# The most bytes of one argument (Linux: 128 KiB), and of what is read of an answer.
ARGUMENT_MOST, ANSWER_MOST = 120_000, 8 << 20
TERM_SECONDS = 2.0
RUN_IT = "Run `claude -p hello` to see why."
# What the client says when the model gave no object of the schema, in several attempts; and when it reached a limit.
NO_OBJECT = "error_max_structured_output_retries"
# Ends the client and its commands as soon as the process that started it is gone: 2.1.197 would go on.
GUARD = 'pipe=$1; shift; (read -r _ < "/dev/fd/$pipe"; kill -TERM 0) > /dev/null 2>&1 & exec "$@"'
NO_TURNS, NO_DOLLARS = "error_max_turns", "error_max_budget_usd"
Stream = IO[bytes] | int


class Headless:
    """The client at `program`, without tools. `root`: memtui's directory."""

    name, extra = "claude", 0.0

    def __init__(self, env: dict[str, str], root: str, program: str, model: str) -> None:
        self.model, self._env, self._root, self._program = model, env, root, program

    def flags(self) -> list[str]:
        """Return the options of the client that say how it answers, and what it may do."""
        return [*FLAGS, *NO_TOOLS, *(WITH_KEY if self._env.get("ANTHROPIC_API_KEY") else WITH_LOGIN)]

    def call(self, call: Request, stop: Stop) -> Answer:
        """Make one attempt. Raises ModelError, MemtuiError if memtui's directory can't be written."""
        if self._env.get("CLAUDE_HEADLESS") == "1":
            raise ModelError("off", "No model is asked from within a headless client.")
        schema = json.dumps(call.schema)
        if len(schema) > ARGUMENT_MOST:
            raise ModelError("rejected", "The form of the answer is too long for the client.")
        words = [self._program, *self.flags(), "--model", self.model, "--json-schema", schema]
        with storing(self._root + "/run"), slot(self._root) as lock:
            note_spawn(self._root)
            return self.run(words, call, stop, lock.fd)

    def run(self, words: list[str], call: Request, stop: Stop, slot: int) -> Answer:
        """Run the client to its end. Raises ModelError, OSError."""
        with tempfile.TemporaryFile() as prompt, tempfile.TemporaryFile() as out:
            prompt.write((call.head + call.prompt).encode("utf-8", "replace"))
            prompt.seek(0)
            with self.client(words, call, slot, prompt, out) as (process, err):
                while process.poll() is None:
                    stop.check()
                    time.sleep(POLL_SECONDS)
                return answer_in(text_of(out), text_of(err), process.returncode, self.model)

    @contextmanager
    def client(
        self, words: list[str], call: Request, slot: int, stdin: Stream, stdout: Stream, workplace: str = ""
    ) -> "Iterator[tuple[subprocess.Popen[bytes], IO[bytes]]]":
        """Start the client, and end it after the block, or when this process is killed; the file is its standard error.
        It holds the slot as long as it lives. It gets all text from pipes and files without a name: other users of the
        machine see the arguments of a process."""
        directory = self._root + "/run/headless"
        fs_hot.makedirs(directory)
        env = {key: value for key, value in self._env.items() if not key.startswith(OF_A_SESSION)}
        with ExitStack() as stack:
            rules, err = (stack.enter_context(tempfile.TemporaryFile()) for _ in range(2))
            its_end, our_end = os.pipe()
            stack.callback(os.close, its_end)
            stack.callback(os.close, our_end)
            rules.write(call.system.encode("utf-8", "replace"))
            rules.seek(0)
            process = None
            try:
                command = ["/bin/sh", "-c", GUARD, "sh", str(its_end), *words, "--system-prompt-file"]
                with _signals_held_back():
                    process = subprocess.Popen(
                        [*command, f"/dev/fd/{rules.fileno()}"],
                        stdin=stdin,
                        stdout=stdout,
                        stderr=err,
                        cwd=workplace or directory,
                        env={**env, **ENVIRONMENT},
                        start_new_session=True,
                        pass_fds=(slot, rules.fileno(), its_end),
                    )
                yield process, err
            finally:
                if process is not None:
                    _end(process)
                    for pipe in filter(None, (process.stdin, process.stdout)):
                        pipe.close()


@contextmanager
def slot(root: str) -> Iterator[fs_hot.Lock]:
    """Hold one of the AT_ONCE places for clients. Raises ModelError, OSError."""
    with ExitStack() as stack:
        for number in range(AT_ONCE):
            try:
                lock = stack.enter_context(fs_hot.Lock(f"{root}/run/llm-client-{number}.lock", 0.0))
            except fs_hot.LockTimeoutError:
                continue
            yield lock
            return
    raise ModelError("busy", f"{AT_ONCE} clients are answering already.", "Try again later.", after=1.0)


def note_spawn(root: str) -> None:
    """Note that a client is started now. Raises ModelError if A_MINUTE were started in the last minute; OSError."""
    path = f"{root}/run/llm-spawns.json"
    with fs_hot.Lock(path + ".lock", 2.0):
        now = time.time()
        spawns = fastjson_hot.rows(fastjson_hot.loads_dict(fs_hot.read_or_empty(path)), "times")
        times = [time for time in spawns if isinstance(time, float) and now - MINUTE < time <= now]
        if len(times) >= A_MINUTE:
            wait = times[-A_MINUTE] + MINUTE - now
            words = f"{A_MINUTE} clients were started in the last minute."
            raise ModelError("busy", words, "Try again in a minute.", after=wait)
        fs_hot.write_atomic(path, fastjson_hot.dumps({"times": [*times, now]}).encode(), durable=False)


@contextmanager
def _signals_held_back() -> Iterator[None]:
    """Let the signals that end this process wait: a client that starts just then would live on, known to nobody."""
    if threading.current_thread() is not threading.main_thread():
        yield  # signals interrupt the main thread alone
        return
    numbers: list[int] = []
    ending = (signal.SIGALRM, signal.SIGTERM, signal.SIGINT)
    handlers = {sign: signal.signal(sign, lambda number, _frame: numbers.append(number)) for sign in ending}
    try:
        yield
    finally:
        for each, handler in handlers.items():
            signal.signal(each, signal.SIG_DFL if handler is None else handler)
        for number in numbers:
            signal.raise_signal(number)


def _end(process: "subprocess.Popen[bytes]") -> None:
    for number in (signal.SIGTERM, signal.SIGKILL):
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, number)
        with suppress(subprocess.TimeoutExpired):
            process.wait(TERM_SECONDS)


def text_of(file: IO[bytes]) -> str:
    file.seek(0)
    return file.read(ANSWER_MOST).decode("utf-8", "replace")


def answer_in(out: str, err: str, code: int, model: str) -> Answer:
    """Return the answer in what the client printed. Raises ModelError."""
    try:
        reply: Any = json.loads(out)
    except (ValueError, RecursionError):
        reply = None
    if not isinstance(reply, dict):
        words = shortened(err or out)
        if code < 0:
            raise ModelError("cut", f"The client was ended by signal {-code}.")
        if code:
            raise ModelError("rejected", f"The client failed ({code}): {words}", RUN_IT)
        raise ModelError("invalid", "The client printed no JSON.")
    usage, cost, models = reply.get("usage"), reply.get("total_cost_usd"), reply.get("modelUsage")
    used = counted(usage.get if isinstance(usage, dict) else lambda _: 0)
    used = used._replace(cost=float(cost) if isinstance(cost, (int, float)) else None)
    if isinstance(models, dict) and len(models) == 1:
        model = str(next(iter(models)))
    if reply.get("subtype") in {NO_TURNS, NO_DOLLARS}:
        limit = f"{TURNS} answers" if reply["subtype"] == NO_TURNS else "all the dollars"
        raise ModelError("invalid", f"The model used {limit} that one call may take for its tools alone.", usage=used)
    if reply.get("stop_reason") == "refusal":
        raise ModelError("refused", "The model refused to answer.", usage=used)
    has_object = isinstance(reply.get("structured_output"), dict)
    if reply.get("subtype") == NO_OBJECT or (not reply.get("is_error") and not has_object):
        raise ModelError("invalid", "The model did not answer in the form that was asked for.", usage=used)
    if reply.get("is_error"):
        raise _of_failure(reply, used)
    return Answer(reply["structured_output"], model, used)


def _of_failure(reply: dict[str, Any], usage: ModelUsage) -> ModelError:
    """Return our error for a request of the client that failed: by its status, else by the client's words for it."""
    status = reply.get("api_error_status")
    words = shortened(str(reply.get("result") or ""))
    if isinstance(status, int):
        return of_status(status, status in {408, 429} or status >= 500, words, RUN_IT, usage)
    if "onnect" in words:
        return ModelError("unreachable", f"The client has no connection: {words}", usage=usage)
    if "JSON" in words:
        return ModelError("invalid", *NO_API)
    return ModelError("rejected", f"The client got no answer: {words}", RUN_IT, usage)
