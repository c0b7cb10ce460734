"""Load several modules of memtui from one file: the import system takes longer to read them than their work takes.

A bundle has the names and stamps of a group of modules that a hook is about to import, in the order in which they need
each other, and their compiled code. It lies with Python's own compiled files, in `__pycache__`; the process that a hook
leaves behind writes it (hooks/bundle_writer.py). It counts as long as no source changed. Without it the modules are
imported as always. Hot path: it imports nothing of ours."""

import gc
import marshal
import posix
import sys

import memtui

# The bundle with which an event begins.
EVENTS = {
    "SessionStart": "SessionStart",
    "UserPromptSubmit": "UserPromptSubmit",
    "PreToolUse": "tools",
    "PostToolUse": "tools",
    "PreCompact": "worker",
    "Stop": "worker",
    "SessionEnd": "worker",
}
# The packages that a hook makes instead of looking for them.
PACKAGES = (
    "base",
    "client",
    "client.transcripts",
    "deliver",
    "inbox",
    "store",
    "store.frontmatter",
    "settings",
    "recall",
    "models",
    "models.subconscious",
)


def main(argv: "list[str]") -> None:
    """Run the hook of the event that `argv` names first. Never raises."""
    # Finding a package, only to run its empty `__init__`, costs a hook half a percent of its time.
    here = top()
    for name in PACKAGES:
        package = sys.modules.setdefault("memtui." + name, type(sys)("memtui." + name))
        package.__path__ = [f"{here}/{name.replace('.', '/')}"]
    # A hook ends before anything is worth collecting; the process that it leaves behind switches this on again.
    gc.disable()
    if argv and argv[0] in EVENTS:
        load(EVENTS[argv[0]])
    from memtui.hooks import runner_hot

    runner_hot.main(argv)


def top() -> str:
    """Return the directory of the package memtui."""
    return str(memtui.__path__[0])


def path(group: str) -> str:
    """Return the path of a group's bundle, for this version of Python."""
    return f"{top()}/hooks/__pycache__/{group}.{sys.implementation.cache_tag}.bundle"


def magic() -> bytes:
    """Return how a bundle begins: by Python's own number for its compiled code."""
    number: bytes = sys.modules["_frozen_importlib_external"].MAGIC_NUMBER
    return number


def load(group: str) -> None:
    """Load the modules of a group that are not loaded yet, if there is a current bundle. Never raises."""
    name = ""
    try:
        fd = posix.open(path(group), posix.O_RDONLY | posix.O_CLOEXEC)
        try:
            data = posix.read(fd, posix.fstat(fd).st_size)
        finally:
            posix.close(fd)
        names, sources, start = head_of(data)
        bodies = marshal.loads(memoryview(data)[start:]) if names else ()  # noqa: S302
        for each, source, body in zip(names, sources, bodies, strict=True):
            name = "memtui." + each
            if name in sys.modules:
                continue
            module = sys.modules[name] = type(sys)(name)
            module.__file__ = source
            exec(body, module.__dict__)  # noqa: S102
            above, _, last = name.rpartition(".")
            setattr(sys.modules[above], last, module)
    except Exception:
        sys.modules.pop(name, None)  # it is imported as always


def head_of(data: bytes) -> "tuple[tuple[str, ...], list[str], int]":
    """Return the modules of a bundle and their sources, none unless it is current, and where their code begins. Raises
    for a torn one."""
    start = 8 + int.from_bytes(data[4:8], "little")
    if data[:4] == magic():
        names, stamps = marshal.loads(memoryview(data)[8:start])  # noqa: S302  # beside Python's own compiled files
        sources = sources_of(names)
        if stamps_of(sources) == stamps:
            return names, sources, start
    return (), [], start


def sources_of(names: "tuple[str, ...]") -> "list[str]":
    """Return the source files of modules."""
    here = top()
    return [f"{here}/{name.replace('.', '/')}.py" for name in names]


def stamps_of(sources: "list[str]") -> "list[tuple[float, ...]]":
    """Return the sizes and times in whole seconds of source files, as Python compares them. Raises OSError."""
    return [posix.stat(source)[6:9:2] for source in sources]
