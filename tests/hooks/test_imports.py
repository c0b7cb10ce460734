"""What a hook imports is part of its price: a list for each path, and nothing from outside the standard library."""

import ast
import json
import subprocess
import sys

import pytest
from launching import EVENTS, PYTHON, SOURCES

import memtui
from memtui.client.agents import agents_hot
from memtui.hooks import bundle, bundle_writer, runner_hot
from memtui.recall import index_build

# Loaded before a bare interpreter runs its first line, or built into it.
CHEAP = {"_signal", "gc", "posix", "time", "fcntl", "_json", "_blake2", "sys", "marshal", "math"}
# What costs more than the rest of a hook; named so that a failure tells why it matters.
DEAR = {
    "json", "re", "pathlib", "typing", "dataclasses", "os", "argparse", "logging", "subprocess", "hashlib", "datetime",
    "enum", "collections", "functools", "contextlib", "tempfile", "shutil", "random", "uuid", "tomllib", "inspect",
    "asyncio", "socket", "sqlite3", "yaml", "textual", "anthropic", "rapidfuzz",
}  # fmt: skip

# In place of the launcher: the same, but at the end it says what was imported.
PROBE = """
import sys
before = set(sys.modules)
sys.path.insert(0, {sources!r})
from memtui.hooks.bundle import main
main([{event!r}])
loaded = sorted(set(sys.modules) - before)
import posix
posix.write(2, " ".join(loaded).encode())
posix._exit(0)
"""


def imported(home, event, **more):
    """(what a run of this event imported beyond a bare interpreter, what it printed)."""
    code = PROBE.format(sources=str(SOURCES), event=event)
    done = subprocess.run(
        [PYTHON, "-I", "-S", "-c", code], input=json.dumps(home.payload(event, **more)).encode(), env=home.env,
        capture_output=True, check=True,
    )  # fmt: skip
    return set(done.stderr.decode().split()), done.stdout


# Hot modules without the suffix: launchers on the disks of people name them.
NAMED = {"memtui.hooks.bundle", "memtui.hooks.launch"}


def is_hot(name):
    return name.endswith("_hot") or name in NAMED


def check(modules, *groups):
    """Judge what a hook loaded; where groups are named, it did without all modules of ours that are not in their bundles."""
    assert not modules & DEAR
    others = {name for name in modules if not name.startswith("memtui")}
    assert others <= CHEAP, "an import that nobody has weighed"
    ours = {name for name in modules - others if source_of(name).name != "__init__.py"}
    assert [name for name in ours if not is_hot(name)] == []
    if groups:
        bundled = {f"memtui.{name}" for group in groups for name in bundle_writer.modules_of(group)}
        assert ours - NAMED <= bundled, "a module of ours that this path did without"


@pytest.mark.parametrize("event", EVENTS)
def test_with_nothing_to_deliver_next_to_nothing_is_imported(home, event):
    imported(home, event)
    modules, said = imported(home, event)
    assert said == b"" or event == "SessionStart"
    # A compaction is noted in the state of the session, which other events have in their bundles.
    check(modules, bundle.EVENTS[event], *["UserPromptSubmit"] * (event == "PreCompact"))


@pytest.mark.parametrize("event", ["UserPromptSubmit", "PreToolUse"])
def test_guidance_is_delivered_and_logged_without_a_dear_import(home, event):
    home.guide("said", urgent="yes")
    modules, said = imported(home, event)
    assert b"said" in said
    check(modules)
    assert len(home.log()) == 1


@pytest.mark.slow
def test_lists_and_memory_changes_are_delivered_without_a_dear_import(home):
    home.settings('mode = "full"\nbudget = 8000\n')
    home.prompt("s0")  # which reads the settings, so that no other does
    home.remember("memory", scope="project")
    home.remember("other")
    modules, said = imported(home, "SessionStart")
    assert b"memtui-index" in said
    check(modules)
    home.leave("updates", "draft")
    home.leave("items", "item")
    home.remember("new", "with: an odd description")
    modules, said = imported(home, "UserPromptSubmit")
    assert b"draft" in said
    assert b"item" in said
    assert b"new" in said
    check(modules)
    for source in ("compact", "resume", "clear"):
        check(imported(home, "SessionStart", source=source)[0])


@pytest.mark.slow
def test_a_memory_is_recalled_by_bundled_modules_alone(home):
    text = "To put a release live, run the release pipeline of the shop."
    path = home.remember("release")
    path.write_text(f"---\nname: release\ndescription: How a release goes live\n---\n{text}\n")
    index_build.bring_up_to_date(str(home.root), str(path.parent))
    modules, said = imported(home, "UserPromptSubmit", prompt="how do we put a release of the shop live?")
    assert text.encode() in said
    check(modules, "UserPromptSubmit", "recall", "delivery", "memories")


def test_no_note_nor_use_of_a_memory_costs_a_dear_import(home):
    home.guide("mind the encoding", for_="path:src/**/*.py")
    given = {"file_path": f"{home.project}/src/a/b.py"}
    modules, said = imported(home, "PreToolUse", tool_name="Edit", tool_input=given)
    assert b"mind the encoding" in said
    check(modules)
    given = {"file_path": f"{home.config}/memory/one.md"}
    modules, _ = imported(home, "PostToolUse", tool_name="Read", tool_input=given)
    check(modules)
    assert len(home.log()) == 2
    home.guide("said")
    home.prompt()
    modules, _ = imported(home, "UserPromptSubmit")
    assert "memtui.inbox.reconciliation_hot" in modules
    check(modules, "UserPromptSubmit", "settling")
    home.write_transcript([{"type": "user", "message": {"content": "x"}, "timestamp": "2026-11-21T00:00:00Z"}])
    modules, _ = imported(home, "UserPromptSubmit")
    assert "memtui.inbox.reconciliation_hot" in modules
    check(modules)


LAYERS = (
    "keymap",
    "base",
    "redact",
    "client",
    "deliver",
    "inbox",
    "store",
    "settings",
    "rules",
    "review",
    "recall",
    "models",
)
LAYERS += ("tidy", "learn", "worker", "hooks")
EVERY_MODULE = """
import sys
sys.path.insert(0, {sources!r})
for name in {names!r}:
    __import__(name)
import sysconfig
standard = set(sys.stdlib_module_names) | {{"memtui", "__main__"}}
print(*sorted(name for name in sys.modules if name.partition(".")[0] not in standard))
print(*sorted({{name.split(".")[1] for name in sys.modules if name.startswith("memtui.")}}))
"""


@pytest.mark.slow
@pytest.mark.parametrize("package", LAYERS[1:])
def test_each_layer_needs_only_the_standard_library_and_the_layers_below(package):
    files = sorted((SOURCES / "memtui" / package).rglob("*.py"))
    names = [".".join(file.relative_to(SOURCES).with_suffix("").parts).removesuffix(".__init__") for file in files]
    names.remove("memtui.hooks.launch") if "memtui.hooks.launch" in names else None
    assert names
    code = EVERY_MODULE.format(sources=str(SOURCES), names=names)
    done = subprocess.run([PYTHON, "-I", "-S", "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    foreign, ours = done.stdout.split("\n")[:2]
    assert [name for name in foreign.split() if not name.startswith("_")] == []
    assert set(ours.split()) <= set(LAYERS[: LAYERS.index(package) + 1])


def test_every_hook_imports_an_empty_package_and_its_version():
    code = f"import sys; sys.path.insert(0, {str(SOURCES)!r}); before = set(sys.modules); import memtui; print(*set(sys.modules) - before)"
    done = subprocess.run([sys.executable, "-I", "-S", "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["memtui"]


def test_packages_that_a_hook_makes_have_no_code_but_the_version():
    packages = {path.parent for path in (SOURCES / "memtui").rglob("*_hot.py")}
    assert len(packages) > 5
    assert [package for package in packages if (package / "__init__.py").read_text()] == []
    launcher = (SOURCES / "memtui/hooks/launch.py").read_text().replace("posix._exit(0)", "")
    code = f"__file__ = {str(SOURCES / 'memtui/hooks/launch.py')!r}\n{launcher}\n"
    code += "import memtui; print(memtui.__spec__, hasattr(memtui, 'other'), memtui.__version__)"
    done = subprocess.run([PYTHON, "-I", "-S", "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["None", "False", memtui.__version__]


# What a module on a hook's way imports inside a function, where that is worth it or never happens in a session's day.
RARE = {
    "memtui.base.fastjson_hot": {"json"},  # where the interpreter has no C scanner
    "memtui.base.ids_hot": {"hashlib"},  # where it has no _blake2
    "memtui.client.transcripts.transcript_hot": {"json"},  # in records that the fast reader refuses
    "memtui.settings.config_hot": {"tomllib"},  # once after config.toml has changed
}
# Reached by none but the worker, or after a slip: secrets are taken out of what the error log gets.
ASIDE = ("memtui.worker", "memtui.hooks.bundle_writer", "memtui.redact")


def source_of(name):
    """The file of a module of ours; None for what is no module."""
    place = SOURCES / name.replace(".", "/")
    return next((each for each in (place.with_suffix(".py"), place / "__init__.py") if each.is_file()), None)


def named_imports(name):
    """(modules that it imports when it is loaded, modules that its functions import)."""
    loaded, inside = set(), set()

    def walk(node, into):
        for each in ast.iter_child_nodes(node):
            if isinstance(each, ast.If) and ast.unparse(each.test) == "TYPE_CHECKING":
                continue
            if isinstance(each, ast.Import):
                into.update(alias.name for alias in each.names)
            elif isinstance(each, ast.ImportFrom):
                for alias in each.names:
                    full = f"{each.module}.{alias.name}"
                    into.add(full if full.startswith("memtui") and source_of(full) else each.module)
            walk(each, inside if isinstance(each, ast.FunctionDef) else into)

    walk(ast.parse(source_of(name).read_text()), loaded)
    return loaded, inside


@pytest.mark.slow
def test_a_hot_module_has_the_suffix_and_imports_hot_ones_and_little_else():
    files = [path.relative_to(SOURCES).with_suffix("") for path in (SOURCES / "memtui").rglob("*.py")]
    hot = {".".join(path.parts) for path in files if is_hot(".".join(path.parts))}
    assert len(hot) > 40
    reached, wrong = set(NAMED), {}
    for name in hot:
        loaded, inside = named_imports(name)
        ours = {
            other for other in loaded | inside if other.startswith("memtui.") and source_of(other).name != "__init__.py"
        }
        reached |= ours
        cold = {other for other in ours if not is_hot(other) and (other in loaded or not other.startswith(ASIDE))}
        dear = loaded & DEAR | (inside & DEAR) - RARE.get(name, set())
        if cold | dear:
            wrong[name] = cold | dear
    assert wrong == {}
    modules = [runner_hot.LATE_START, *[module for module, _, _ in runner_hot.EVENTS.values()]]
    started = {f"memtui.hooks.{module}" for module in modules}
    started |= {f"memtui.client.agents.{name}_hot" for name in agents_hot.NAMES[1:]}
    assert hot - reached - started == set(), "a suffix that no hook earns"
