"""What models cost in a day of 6 sessions and 40 prompts with all of memtui's model features on.

    python tests/benchmarks/model_day.py [--beside REVISION] [--backend api|claude] [--seconds 0]

Hooks run as the client starts them, over transcripts in its form, with questions, corrections, tools, mentions, and
memories that the agent writes itself. A model on loopback answers from a script after `--seconds`. Each hook's workers
have ended before the next hook runs. `--backend claude` asks through the newest client that the end-to-end tests
installed; requests then are the client's own. `--beside` does the same by the sources of another revision.

Printed for each kind of request: how many, their input (a token has four bytes here), the part of it that a cache of
prompts would hold (by the marks in the requests, within a session, from 4,096 tokens on), the output, and dollars by
the list price of the model that was asked. Kinds are told by the form of the answer."""

import argparse
import json
import os
import shutil
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from memtui.models.call import ModelUsage, priced

sys.path.insert(0, str(Path(__file__).parents[1]))
sys.path.insert(0, str(Path(__file__).parent))
from revision import sources

from e2e import client
from e2e.model import Model, Reply, Request, call, structured
from hooks import SOURCE, World

# What each session is about, and one more thing like it.
TOPICS = ("invoice printing", "label scanner", "stock import", "shift planner", "price history", "returns desk")
PROMPTS = (
    "Please add a test for the {0}, and run it.",
    "No, from now on always run the linter of the {0} before you say that you are done.",
    "How does the {0} know which till it belongs to?",
    "And for the other one?",
    "From now on keep the notes about the {0} in docs/{1}.md, never in the code.",
    "Go on.",
    "@memtui when did we last change the {0}?",
)
# The prompts with tools, and the one after which the agent saves by itself what was said.
WITH_TOOLS, SAVES, TOOLS, DAY = {0, 2, 5}, 4, 3, 40
MEMORIES, BYTES, CACHED_FROM, WHEN = 60, 4, 4096, "%Y-%m-%dT%H:%M:%S"
KINDS = {"notes": "selection", "edits": "subconscious", "actions": "dream"}
SETTINGS = """llm_backend = "{0}"
llm_model = "haiku"
llm_daily_tokens = 0
llm_daily_dollars = 0
dream = true
recall_select = true
subconscious = "full"
"""


def blank(schema: dict[str, Any]) -> Any:
    """The emptiest answer of a schema."""
    if schema.get("type") == "object":
        return {key: blank(schema["properties"][key]) for key in schema.get("required", ())}
    kinds: dict[Any, Any] = {"array": [], "boolean": False, "integer": 0, "number": 0}
    return schema.get("enum", [kinds.get(schema.get("type"), "")])[0]


class ScriptedModel(Model):
    """Answers each form, and counts what it was asked by kind."""

    def __init__(self, seconds: float) -> None:
        super().__init__()
        self.script, self.seconds = self.reply, seconds
        self.used: defaultdict[str, ModelUsage] = defaultdict(ModelUsage)
        self.counts: Counter[str] = Counter()
        self.cache: set[str] = set()
        self.offered = ["claude-haiku-5-5", "claude-sonnet-5-5"]

    def reply(self, request: Request) -> Reply:
        (tool, *_) = [tool for tool in request.body["tools"] if tool["name"] in {"answer", "StructuredOutput"}]
        form = tool["input_schema"]
        kind = next((name for key, name in KINDS.items() if key in form["properties"]), next(iter(form["properties"])))
        answer, text = blank(form), request.text()
        if kind == "selection":
            answer["notes"] = ["m1", "m2"]
        elif kind == "subconscious":
            said = text.rpartition("<memtui-person")[2].partition(">")[2].partition("</memtui")[0].strip()
            new = f"The person said: {said}"
            edit = {"block": "project_context", "old": "", "new": new, "quote": said}
            mention = text.rpartition('<memtui-mention id="')[2].partition('"')[0]
            answer |= {"note": "It goes on.", "edits": [edit] if "from now on" in said.lower() else []}
            answer["replies"] = [{"to": mention, "text": "Last week."}] if mention.startswith("m") else []
            if "looks" in form["properties"] and "How does" in said and "memtui-found" not in text:
                answer = {"looks": [{"tool": "Grep", "path": ".", "text": "till"}]}
        cached = self.cached(request.body)
        tokens, output = len(json.dumps(request.body)) // BYTES, len(json.dumps(answer)) // BYTES
        usage = ModelUsage(tokens - cached, output, cached)
        self.counts[kind] += 1
        self.used[kind] = self.used[kind].plus(priced(request.body["model"], usage))
        return call(structured(request, **answer), delay=self.seconds, input_tokens=tokens)

    def cached(self, body: dict[str, Any]) -> int:
        """Tokens of the longest beginning of a request that an earlier one had marked."""
        blocks = [*body["tools"], *body.get("system", [])]
        for message in body["messages"]:
            blocks += message["content"] if isinstance(message["content"], list) else [message["content"]]
        begun, most = body["model"], 0
        for block in blocks:
            begun += json.dumps(block)
            if isinstance(block, dict) and "cache_control" in block and len(begun) >= CACHED_FROM * BYTES:
                most = len(begun) // BYTES if begun in self.cache else most
                self.cache.add(begun)
        return most


class Day:
    """A world in which a day passes; `model` is asked."""

    def __init__(self, base: Path, model: ScriptedModel, source: Path, backend: str) -> None:
        self.world, self.model = World(base, memories=0, source=source), model
        for number in range(MEMORIES):
            topic = TOPICS[number % len(TOPICS)]
            self.world.remember(number, f"How the {topic} keeps part {number // len(TOPICS)} of its till in order,")
        (self.world.root / "config.toml").write_text(SETTINGS.format(backend))
        (self.world.root / "config.toml").chmod(0o600)
        python = {"files": {"benchmark": {"python": sys.executable}}}
        (self.world.root / "installs.json").write_text(json.dumps(python))
        self.world.env |= {"ANTHROPIC_BASE_URL": model.url, "ANTHROPIC_API_KEY": client.KEY}
        if backend == "claude":
            programs = base / "programs"
            programs.mkdir()
            (programs / "claude").symlink_to([*client.cached().values()][-1])
            self.world.env["PATH"] = f"{programs}:{self.world.env['PATH']}"
        self.count, self.turn = 0, 0

    def record(self, kind: str, **fields: object) -> None:
        """Append a record to the session's transcript."""
        self.count += 1
        row = {"type": kind, "uuid": f"u{self.count}", "parentUuid": f"u{self.count - 1}", "sessionId": self.session}
        row |= {"timestamp": time.strftime(f"{WHEN}.000Z", time.gmtime()), "cwd": str(self.world.project)}
        with self.world.transcript.open("a") as file:
            file.write(json.dumps(row | fields) + "\n")

    def hook(self, event: str, **fields: object) -> None:
        """Run a hook, and let the client note what it gave."""
        _, _, out = self.world.say(event, self.session, **fields)
        text = json.loads(out or b"{}").get("hookSpecificOutput", {}).get("additionalContext", "") if out else ""
        if text:
            attachment = {"type": "hook_additional_context", "hookName": event, "hookEvent": event, "content": [text]}
            self.record("attachment", attachment=attachment)

    def agent(self, *blocks: dict[str, object]) -> None:
        self.record("assistant", message={"id": f"m{self.count}", "role": "assistant", "content": list(blocks)})

    def pass_by(self) -> None:
        for number, topic in enumerate(TOPICS):
            self.session = f"00000000-0000-0000-0000-{number:012}"
            self.world.transcript = self.world.transcript.with_name(f"{self.session}.jsonl")
            self.world.transcript.write_text("")
            self.model.cache.clear()
            self.hook("SessionStart", source="startup")
            for turn in range((DAY - self.turn) // (len(TOPICS) - number)):
                self.prompt(turn % len(PROMPTS), topic)
            self.hook("SessionEnd", reason="other")

    def prompt(self, kind: int, topic: str) -> None:
        self.turn += 1
        text = PROMPTS[kind].format(topic, topic.replace(" ", "-"))
        self.record("user", message={"role": "user", "content": text})
        self.hook("UserPromptSubmit", prompt=text)
        for number in range(TOOLS if kind in WITH_TOOLS else 0):
            self.use(
                "Bash",
                {"command": f"grep -rn till src/part{number}.py"},
                f"src/part{number}.py: till = {number}\n" * 40,
            )
        if kind == SAVES:
            path = self.world.memories / f"notes-{self.turn}.md"
            body = f"---\nname: notes-{self.turn}\ndescription: {text}\n---\n\n{text}\n"
            self.use("Write", {"file_path": str(path), "content": body}, "File created.")
            path.write_text(body)
        answer = f"I have looked at the {topic}: the till is read from its own table, and two tests cover it now. " * 3
        self.agent({"type": "text", "text": answer})
        self.hook("Stop", last_assistant_message=answer.strip(), stop_hook_active=False)

    def use(self, tool: str, tool_input: dict[str, str], result: str) -> None:
        name = f"toolu_{self.count}"
        self.agent({"type": "tool_use", "id": name, "name": tool, "input": tool_input})
        self.hook("PreToolUse", tool_name=tool, tool_input=tool_input, tool_use_id=name)
        block = {"type": "tool_result", "tool_use_id": name, "content": result}
        self.record("user", message={"role": "user", "content": [block]}, toolUseResult={"stdout": result})
        self.hook("PostToolUse", tool_name=tool, tool_input=tool_input, tool_use_id=name, tool_response=result)


def lines(model: ScriptedModel) -> Iterator[str]:
    rows = {**model.used, "all": ModelUsage()}
    for usage in model.used.values():
        rows["all"] = rows["all"].plus(usage)
    for kind, usage in rows.items():
        count = model.counts[kind] or model.counts.total()
        tokens = f"{usage.input + usage.cached:9,} in, {usage.cached:8,} of them cached, {usage.output:6,} out"
        yield f"{kind:13} {count:4} requests {tokens}" + ("" if usage.cost is None else f"  ${usage.cost:.4f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--beside", metavar="REVISION")
    parser.add_argument("--backend", choices=("api", "claude"), default="api")
    parser.add_argument("--seconds", type=float, default=0.0)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(dir="/dev/shm" if os.path.isdir("/dev/shm") else None) as directory:
        base = Path(directory)
        # A copy: it takes minutes, in which the sources may change.
        sides = {"here": Path(shutil.copytree(SOURCE, base / "here"))}
        if options.beside:
            sides = {options.beside: sources(options.beside, base / "beside"), **sides}
        for side, source in sides.items():
            model = ScriptedModel(options.seconds)
            day = Day(base / f"day-{len(side)}-{len(list(base.iterdir()))}", model, source, options.backend)
            day.pass_by()
            print(f"{side}: {day.turn} prompts in {len(TOPICS)} sessions")
            print("\n".join(lines(model)), flush=True)
            rows = [json.loads(row) for path in day.world.root.glob("log/llm-*") for row in path.open()]
            print("outcomes:", dict(Counter(row.get("outcome", "begun") for row in rows)))
            errors = day.world.root / "log" / "errors.jsonl"
            print(errors.read_text()[-1000:] if errors.exists() else "no errors were logged", flush=True)
            model.close()


if __name__ == "__main__":
    main()
