"""Calls that change something, counted, and at one of them a fault.

`arm` puts counting functions in the place of those of `posix`, which is all that memtui's engine calls (`os` names the
same functions), of `fcntl`, and of `open` for writing. Each process of a run counts for itself: `main`, and `worker`
for what it forks. Nothing here touches a process that did not ask for it.
"""

import builtins
import errno
import fcntl
import io
import os
import posix

# What changes something on a disk, takes a lock, or makes a process.
CALLS = (
    "open write pwrite writev rename replace link symlink unlink remove mkdir rmdir fsync fdatasync ftruncate truncate"
    " chmod fchmod lchmod chown fchown lchown utime mkfifo fork"
).split()
CHANGING = posix.O_WRONLY | posix.O_RDWR | posix.O_CREAT | posix.O_TRUNC
# On a full disk these still work.
FREEING = ("unlink", "remove", "rmdir", "ftruncate", "truncate", "flock", "fork", "chmod", "fchmod", "utime")
# before, after: killed there; torn: killed within a write; once: fails; good: that and all after it fail; short: a part
# is written, and the disk is full from there on.
KILLS = ("before", "after", "torn")
GONE = 137


class Fault:
    """At which call of which process what happens; written `main:7:once:EIO`."""

    def __init__(self, role: str, index: int, kind: str, error: str = "") -> None:
        self.role, self.index, self.kind, self.error = role, index, kind, error

    def __str__(self) -> str:
        return ":".join([self.role, str(self.index), self.kind, *([self.error] if self.error else [])])

    @classmethod
    def parse(cls, text: str) -> "Fault":
        role, index, kind, *error = text.split(":")
        return cls(role, int(index), kind, *error)


class State:
    """What this process counted. `trace`: a file that takes a line for each call."""

    fault: Fault | None = None
    trace = -1
    role = "main"
    count = 0
    broken = ""


state = State()
CALLS = [name for name in CALLS if hasattr(posix, name)]
real = {name: getattr(posix, name) for name in CALLS}
real_open, real_flock = io.open, fcntl.flock


def _place(given: tuple) -> str:
    if given and isinstance(given[0], int):
        try:
            return posix.readlink(f"/proc/self/fd/{given[0]}")
        except OSError:
            return f"fd {given[0]}"
    return " ".join(os.fsdecode(each) for each in given[:2] if isinstance(each, (str, bytes)))[:300]


def _fail(error: str, given: tuple, name: str) -> None:
    number = getattr(errno, error)
    if name == "fork":
        number = errno.EAGAIN
    elif name == "write" and given[0] == 1:
        number = errno.EPIPE  # it is a pipe
    raise OSError(number, os.strerror(number), *([given[0]] if given and isinstance(given[0], str) else []))


def _fails(error: str, name: str) -> bool:
    if error == "EMFILE":
        return name == "open"
    return not (error == "ENOSPC" and name in FREEING)


def _call(name: str, function, given: tuple, named: dict):
    if name == "open" and not given[1] & CHANGING:
        if state.broken == "EMFILE":
            _fail("EMFILE", given, name)
        return function(*given, **named)
    if name == "write" and given[0] == 2:
        return function(*given, **named)
    state.count += 1
    if state.trace >= 0:
        real["write"](state.trace, f"{state.role}\t{state.count}\t{name}\t{_place(given)}\n".encode())
    if state.broken and _fails(state.broken, name):
        _fail(state.broken, given, name)
    fault = state.fault
    if fault is None or fault.role != state.role or fault.index != state.count:
        return _forked(function(*given, **named)) if name == "fork" else function(*given, **named)
    if fault.kind == "before":
        posix._exit(GONE)
    if fault.kind == "torn":
        if name == "write":
            function(given[0], bytes(given[1])[: len(given[1]) // 2])
        posix._exit(GONE)
    if fault.kind == "after":
        found = _forked(function(*given, **named)) if name == "fork" else function(*given, **named)
        if name != "fork" or found:
            posix._exit(GONE)
        return found
    assert fault.kind != "short" or name == "write", "a run of the same command makes other calls than the one before"
    if fault.kind == "short":
        state.broken = fault.error
        return function(given[0], bytes(given[1])[: max(1, len(given[1]) // 2)])
    if fault.kind == "good":
        state.broken = fault.error
    _fail(fault.error, given, name)
    return None


def _forked(pid: int) -> int:
    if pid == 0:
        state.role, state.count = "worker", 0
    return pid


def _wrapped(name: str, function):
    def call(*given, **named):
        return _call(name, function, given, named)

    return call


class _File(io.FileIO):
    def write(self, data) -> int:
        return _call("write", real["write"], (self.fileno(), bytes(data)), {})


def _open(file, mode="r", *more, **named):
    if isinstance(file, int) or mode == "w+b" or not set(mode) & set("wax+"):  # of a file without a name
        if state.broken == "EMFILE" and not isinstance(file, int):
            _fail("EMFILE", (file,), "open")
        return real_open(file, mode, *more, **named)
    assert mode == "wb", f"the harness knows no open with mode {mode}"
    return io.BufferedWriter(_call("open", lambda path, _: _File(path, "wb"), (file, posix.O_WRONLY), {}))


def arm(fault: Fault | None, trace: int = -1) -> None:
    """From now on count the changing calls of this process; at the fault's, it happens."""
    state.fault, state.trace = fault, trace
    state.count, state.broken = 0, ""
    for name in CALLS:
        for module in (posix, os):
            setattr(module, name, _wrapped(name, real[name]))
    fcntl.flock = lambda *given: _call("flock", real_flock, given, {})
    builtins.open = io.open = _open


def disarm() -> None:
    """Count no more, and let nothing fail."""
    for name in CALLS:
        for module in (posix, os):
            setattr(module, name, real[name])
    fcntl.flock = real_flock
    builtins.open = io.open = real_open
