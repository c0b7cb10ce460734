"""Load several modules of memtui from one file: the import system takes longer to read them than their work takes.

A bundle has names and stamps of modules that a hook is about to import, in the order in which they need each other, and
their compiled code. It lies in `__pycache__`, written by the process that a hook leaves (hooks/bundle_writer.py),
and counts as long as no source changed. Hot path: it imports nothing of ours."""

import gc
import marshal
import posix
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import ModuleType

# The bundle with which an event begins.
EVENTS = {event: event for event in ("SessionStart", "UserPromptSubmit")}
EVENTS |= dict.fromkeys(("PreToolUse", "PostToolUse"), "tools")
EVENTS |= dict.fromkeys(("PreCompact", "Stop", "SessionEnd"), "worker")


def main(argv: "list[str]") -> None:
    """Run the hook of the event that `argv` names first. Never raises."""
    make_package("memtui").__dict__["__getattr__"] = read_attribute
    make_package("memtui.hooks")
    # A hook ends before anything is worth collecting; the process that it leaves behind switches this on again.
    gc.disable()
    if argv and argv[0] in EVENTS:
        load(EVENTS[argv[0]])
        if argv[5:6] == ["--agent"]:
            load(argv[-1])
    from memtui.hooks import runner_hot

    runner_hot.main(argv)


def top() -> str:
    """Return the directory of the package memtui."""
    return __file__[: -len("/hooks/bundle.py")]


def make_package(name: str) -> "ModuleType":
    """Return a package; one without code if it is not loaded: to find an empty one takes longer than to make it."""
    if name not in sys.modules:
        package = sys.modules[name] = type(sys)(name)
        package.__path__ = [top() + name[len("memtui") :].replace(".", "/")]
    return sys.modules[name]


def read_attribute(name: str) -> object:
    """Return the version from the package's own code, which few ask for. Raises AttributeError for other names."""
    if name != "__version__":
        raise AttributeError(name)
    with open(top() + "/__init__.py") as file:
        exec(file.read(), sys.modules["memtui"].__dict__)  # noqa: S102
    return sys.modules["memtui"].__dict__[name]


def path(group: str) -> str:
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
            setattr(make_package(above), last, module)
    except Exception:
        sys.modules.pop(name, None)  # it is imported as always


def head_of(data: bytes) -> "tuple[tuple[str, ...], list[str], int]":
    """Return the modules of a bundle, their sources and where the code begins; none unless current. Raises if torn."""
    start = 8 + int.from_bytes(data[4:8], "little")
    if data[:4] == magic():
        names, stamps = marshal.loads(memoryview(data)[8:start])  # noqa: S302  # beside Python's own compiled files
        sources = sources_of(names)
        if stamps_of(sources) == stamps:
            return names, sources, start
    return (), [], start


def sources_of(names: "tuple[str, ...]") -> "list[str]":
    here = top()
    return [f"{here}/{name.replace('.', '/')}.py" for name in names]


def stamps_of(sources: "list[str]") -> "list[tuple[float, ...]]":
    """Return the sizes and times in whole seconds of source files, as Python compares them. Raises OSError."""
    return [posix.stat(source)[6:9:2] for source in sources]
