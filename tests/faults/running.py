"""Hooks and commands, each in a fork of one warm process: a new interpreter each would cost fifty times as much."""

import io
import json
import os
import posix
import select
import signal
import sys
import tempfile
import time
import traceback

import faulty

HANGS = 60  # seconds
_time = time.time


class Ended:
    """How a process ended: its exit code (negative: by that signal), what it printed; `hangs`: something it started."""

    def __init__(self, code: int, out: bytes, err: bytes, hangs: bool) -> None:
        self.code, self.out, self.err, self.hangs = code, out, err, hangs


def scratch(data: bytes = b"") -> int:
    """A file without a name that holds `data`."""
    fd = os.memfd_create("scratch")
    os.write(fd, data)
    os.lseek(fd, 0, os.SEEK_SET)
    return fd


def _content(fd: int) -> bytes:
    data = os.pread(fd, 1 << 24, 0)
    os.close(fd)
    return data


def clock(seconds: float) -> None:
    """Set this process's clock ahead."""
    time.time = lambda: _time() + seconds


def _streams(given: bytes, out: int, err: int) -> None:
    stdin = scratch(given)
    for fd, number in ((stdin, 0), (out, 1), (err, 2)):
        os.dup2(fd, number)
    os.close(stdin)


def _environment(env: "dict[str, str]") -> None:
    tempfile.tempdir = env["TMPDIR"]  # found out once a process, by trying
    os.environ.clear()
    os.environ.update(env)
    posix.environ.clear()
    posix.environ.update({k.encode(): v.encode() for k, v in env.items()})


def hook(event: str, *words: str) -> int:
    """What the launcher does."""
    from memtui.hooks import runner_hot

    runner_hot.main([event, *words])
    return 0


def command(words: "list[str]") -> int:
    """What the console script does."""
    from memtui.cli.main import main

    sys.stdin, sys.stdout, sys.stderr = (
        io.TextIOWrapper(io.FileIO(fd, mode, closefd=False), encoding="utf-8", write_through=fd == 2)
        for fd, mode in ((0, "r"), (1, "w"), (2, "w"))
    )
    try:
        return main(words)
    finally:
        sys.stdout.flush()


def forked(body, env, stdin=b"", cwd="/", fault=None, trace=-1) -> Ended:
    """Run `body` in a process of its own, with a fault, and wait for it and all that it starts."""
    out, err = scratch(), scratch()
    alive, held = os.pipe()
    pid = os.fork()
    if pid == 0:
        code = 70
        try:
            os.close(alive)
            signal.signal(signal.SIGALRM, signal.SIG_DFL)
            signal.alarm(HANGS)
            os.setsid()
            os.chdir(cwd)
            _streams(stdin, out, err)
            _environment(env)
            if fault is not None or trace >= 0:
                faulty.arm(fault, trace)
            code = body()
        except BaseException:
            os.write(err, traceback.format_exc().encode())
        finally:
            posix._exit(code)
    os.close(held)
    status = os.waitpid(pid, 0)[1]
    ends = select.poll()
    ends.register(alive)
    hangs = not ends.poll(HANGS * 1000)
    os.close(alive)
    return Ended(os.waitstatus_to_exitcode(status), _content(out), _content(err), hangs)


def asked(body, env, cwd="/"):
    """What `body` returns, run in this process, with that environment; clock and streams are put back."""
    from memtui.hooks import worker_start_hot

    kept = [os.dup(fd) for fd in (0, 1, 2)]
    detached = worker_start_hot.detach
    worker_start_hot.detach = _attached
    signal.signal(signal.SIGALRM, _late)
    signal.alarm(HANGS)
    _environment(env)
    os.chdir(cwd)
    try:
        return body()
    finally:
        signal.alarm(0)
        time.time, worker_start_hot.detach = _time, detached
        sys.stdin, sys.stdout, sys.stderr = sys.__stdin__, sys.__stdout__, sys.__stderr__
        os.chdir("/")
        for number, fd in enumerate(kept):
            os.dup2(fd, number)
            os.close(fd)


def _late(*_) -> None:
    raise TimeoutError("life does not go on")


def _attached(hook, *tasks: str) -> None:
    """The worker of a hook without a process of its own."""
    from memtui.hooks import runner_hot
    from memtui.worker import main as worker

    worker.run({**hook.env, runner_hot.INSIDE: "1"}, hook.payload, hook.event, tasks)


def here(body, stdin=b"") -> Ended:
    """Run `body` in this process, its streams caught."""
    out, err = scratch(), scratch()
    _streams(stdin, out, err)
    return Ended(body(), _content(out), _content(err), False)


def failing(body, env, cwd, fault) -> Ended:
    """As `forked`, in this process: for a fault that ends no process, in what starts none."""

    def run() -> int:
        faulty.arm(fault)
        try:
            return body()
        except BaseException:
            faulty.disarm()
            os.write(2, traceback.format_exc().encode())
            return 70
        finally:
            faulty.disarm()

    return asked(lambda: here(run), env, cwd)


def hook_here(event: str, payload: dict) -> Ended:
    """A hook in this process, its worker too."""
    return here(lambda: hook(event), json.dumps(payload).encode())
