"""What memtui knows of the newest client's own tools for memories, and of tools that run a shell. A client in which one of
these fails has changed: the constants that the test names have to follow.

What no session shows is read from the client's program, as text.
"""

import json
import mmap
import re

import pytest

from memtui.base import paths_hot
from memtui.client import applied_settings, locate_hot
from memtui.hooks import tools_hot
from memtui.recall import places_hot
from memtui.rules import match_hot
from waiting import eventually

from .client import NEWEST, client_or_skip
from .model import use
from .test_gate import MEMORY

pytestmark = pytest.mark.client(facts=True)

MEMORY_TOOLS = "tengu_linen_orbit"
DOCUMENT = {"store": "personal", "path": "/use-uv.md"}


@pytest.fixture(params=[NEWEST])
def binary(request):
    """The newest client's program."""
    return client_or_skip(request.param)


@pytest.fixture
def program(binary):
    """The bytes of the client's program."""
    with binary.open("rb") as file, mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ) as data:
        yield data


@pytest.fixture
def on(world):
    """A world with our hooks, in which the client offers its tools for memories."""
    world.install()
    world.switch_on(MEMORY_TOOLS)
    return world


@pytest.fixture
def path(on):
    return on.config / "projects" / paths_hot.slug(str(on.project)) / "memory" / "use-uv.md"


def write(on, model, prompt="remember that tools are installed with uv", version="new", **run):
    """Have the agent write a memory by the client's tool; the run, and what the model is told of it."""
    model.will(use("memory_write", **DOCUMENT, content=MEMORY, if_version=version), "Done.")
    run = on.claude(prompt, **run)
    return run, run.main[-1].tool_results()[-1]


def uses(on):
    return [(i["action"], i["scope"], i["path"]) for r in on.deliveries() for i in r["items"] if i["kind"] == "use"]


def changed(on):
    return on.memtui_json("inbox", "--kind", "changed")["entries"]


def test_the_memory_tools_are_these_and_name_a_file_by_store_and_path(on):
    """`tools_hot.MEMORY_TOOLS`, `tools_hot.ACTIONS`, `locate_hot.PERSONAL_STORE`."""
    offered = {tool["name"]: set(tool["input_schema"]["properties"]) for tool in on.claude("hi").main[0].body["tools"]}
    assert {name: keys for name, keys in offered.items() if "memory" in name.lower()} == {
        "memory_list": {"store", "path_prefix", "cursor"},
        "memory_read": {"store", "path"},
        "memory_write": {"store", "path", "content", "if_version"},
    }
    assert {"memory_read", "memory_write"} == tools_hot.MEMORY_TOOLS
    assert tools_hot.ACTIONS["memory_write"] == "wrote"
    by_file = {name for name, keys in offered.items() if keys & set(tools_hot.PATH_KEYS)} - tools_hot.MEMORY_TOOLS
    assert by_file <= tools_hot.ACTIONS.keys() | {"Glob", "Grep", "NotebookEdit"}


def test_a_memory_written_and_read_by_its_tools_counts_as_written_and_read(on, model, path):
    first, said = write(on, model)
    assert "Wrote" in said
    assert "never with pip" in path.read_text()
    (row,) = eventually(lambda: changed(on))
    assert (row["name"], row["change"], row["by"]) == ("use-uv", "new", "agent")
    assert (row["session"], row["prompt_text"]) == (first.session_id, "remember that tools are installed with uv")
    model.will(use("memory_read", **DOCUMENT), "Done.")
    assert "never with pip" in on.claude("how are tools installed?").main[-1].tool_results()[-1]
    assert uses(on) == [("wrote", "auto", str(path)), ("read", "auto", str(path))]
    assert on.errors() == []


def test_a_monitor_is_refused_a_command_that_a_memory_forbids(on, model):
    where = on.config / "memory"
    where.mkdir()
    (where / "keep-it.md").write_text("---\nname: keep-it\ndescription: Keep it\nforbids: touch gone\n---\nNever.\n")
    on.claude("hi")
    assert eventually((on.root / "rules" / "enforced").exists)
    model.will(use("Monitor", command="touch gone", description="x", timeout_ms=1000, persistent=False), "Done.")
    run = on.claude("go", "--allowedTools", "Monitor")
    assert "`touch gone` breaks a rule" in run.main[-1].tool_results()[-1]
    assert not (on.project / "gone").exists()


def test_the_tools_that_run_a_shell_are_these(program):
    """`match_hot.SHELLS`: of the client's tools with a command, those of the terminal."""
    (found,) = re.findall(rb'new Map\(\[(\["Bash","command"\](?:,\["\w+","\w+"\])+)\]\)', program)[:1]
    by_command = {name for name, key in json.loads(b"[" + found + b"]") if key == "command"}
    assert by_command == {*match_hot.SHELLS} | {"mcp__workspace__bash"}  # another program's: Claude Cowork


def test_a_client_that_recalls_its_own_memories_loads_no_index(on, path):
    """`loading.FLAG`."""
    path.parent.mkdir(parents=True)
    (path.parent / "MEMORY.md").write_text("- [use-uv](use-uv.md) — how tools are installed\n")
    path.write_text(MEMORY)
    assert "how tools are installed" in on.claude("how are tools installed here?").main[0].text()
    on.switch_on(applied_settings.FLAG)
    assert "— how tools are installed" not in on.claude("how are tools installed here?").main[0].text()
    assert eventually((on.root / places_hot.BY_CLIENT.lstrip("/")).exists)


def around(program, word):
    """What stands around each place of a word in the client's program."""
    found = program.find(word)
    while found >= 0:
        yield program[max(0, found - 300) : found + 300]
        found = program.find(word, found + 1)


@pytest.mark.parametrize(
    ("word", "fact"),
    [
        (b"cachedGrowthBookFeatures", rb"cachedGrowthBookFeatures\?\?\w+\.cachedFeatureFlags"),
        (b"process.env.CLAUDE_MEMORY_STORES", rb"CLAUDE_MEMORY_STORES"),
        (b"CLAUDE_CODE_TRANSCRIPT_LOCAL_GC", rb'LOCAL_GC;\w+\(.*==="keep"'),
        (b'subtype:"compact_boundary"', rb"compact_boundary"),
    ],
)
def test_what_the_client_calls_what_memtui_reads(program, word, fact):
    """`loading.STORES`, and what cuts a transcript."""
    assert any(re.search(fact, text) for text in around(program, word))


def test_a_team_shares_a_directory_of_the_memory(program):
    """`locate_hot.TEAM`."""
    assert any(
        b"`%s/file.md" % locate_hot.TEAM.encode() in text for text in around(program, b"for private memories and")
    )
    assert program.find(b"Key escapes team memory directory") >= 0
