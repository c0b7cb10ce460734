"""The client's process: how a hook identifies it, and how others tell later whether it still runs."""

import posix

from memtui.base import fs_hot

SHELLS = {"sh", "bash", "dash", "zsh", "ksh", "fish", "busybox"}
MAX_SHELLS = 4
STAT_BYTES, COMMAND_BYTES = 4096, 1 << 16
TERMINALS = ("/dev/pts/", "/dev/tty")
# The variable in which the client names the kind of session, and its values for a person's: in a terminal, an editor,
# the desktop app. A script's is `sdk-cli`, … A newer client also says whether a person attends, 1 or 0 (docs/hooks.md).
ENTRYPOINT, PERSONAL = "CLAUDE_CODE_ENTRYPOINT", ("cli", "claude-vscode", "claude-desktop")
ATTENDED = "CLAUDE_CODE_SESSION_ATTENDED"


def client() -> "list[object]":
    """Identify the client that started this hook, past any shells: [pid, start in clock ticks since the boot (empty
    without /proc), machine: the host's name and the pid namespace]."""
    pid = posix.getppid()
    name, parent, started = _stat(pid)
    for _ in range(MAX_SHELLS):
        if name not in SHELLS or parent <= 1:
            break
        pid = parent
        name, parent, started = _stat(pid)
    return [pid, started, _here()]


def attendance() -> "tuple[list[bytes], bool | None]":
    """Return the client's arguments, each up to an equals sign, and whether it reads a terminal; None if unknown."""
    process = f"/proc/{client()[0]}"
    try:
        words = fs_hot.read_bytes(process + "/cmdline", COMMAND_BYTES).split(b"\0")
        return [word.partition(b"=")[0] for word in words], posix.readlink(process + "/fd/0").startswith(TERMINALS)
    except OSError:
        return [], None


def own() -> "list[object]":
    """Identify this process, as `client` does the client."""
    return [posix.getpid(), _stat(posix.getpid())[2], _here()]


def _pid_of(identity: "object") -> int:
    """Return the process id that `client` gave on this machine; 0 for anything else."""
    if not isinstance(identity, list) or len(identity) != 3 or identity[2] != _here():
        return 0
    pid = identity[0]
    return pid if isinstance(pid, int) and not isinstance(pid, bool) and pid > 1 else 0


def gone(identity: "object") -> bool:
    """Tell whether a process that `client` identified has ended; False if that can't be known."""
    pid = _pid_of(identity)
    if not pid or not isinstance(identity, list):
        return False
    return not alive(pid) or (bool(identity[1]) and _stat(pid)[2] not in {identity[1], ""})


def runs(identity: "object") -> bool:
    """Tell whether a process that `client` identified still runs; False if that can't be known."""
    return bool(_pid_of(identity)) and not gone(identity)


def alive(pid: int) -> bool:
    try:
        posix.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True


def _stat(pid: int) -> "tuple[str, int, str]":
    """Read (name, parent, start) of a process from /proc/PID/stat, see proc_pid_stat(5); the name may hold blanks."""
    # It has no size, and without a limit a megabyte is set aside for it.
    text = fs_hot.head(f"/proc/{pid}/stat", STAT_BYTES).decode("utf-8", "replace")
    words = text[text.rfind(")") + 1 :].split()
    if len(words) < 20 or not words[1].isdecimal():
        return "", 0, ""
    started = words[19] if words[0] not in {"Z", "X"} else "ended"  # a zombie
    return text[text.find("(") + 1 : text.rfind(")")], int(words[1]), started


def _here() -> str:
    try:
        return f"{posix.uname().nodename} {posix.readlink('/proc/self/ns/pid')}"
    except OSError:
        return posix.uname().nodename
