"""The daemon that keeps a sentence model warm: it answers hooks on a Unix socket, and fills in memories' vectors. Cold.

`<root>/semantic` is its private directory: `lock` is held while it lives, `socket` answers once the model is loaded,
and `failed` says why the last one could not load it. One runs for each data root. It ends after IDLE seconds without a
request, when asked to, when its socket is no longer its own, and at a request of another version. The next one replaces
the socket that a killed one left.

A request is a line of JSON: `version`, and `op`: `embed` with `text` (answer: `key` of the model, `row` in hex), `fill`
with `directories`, `status`, `stop`. An answer is such a line with `version`."""

import os
import select
import socket
import sys
import threading
import time
from collections.abc import Callable, Sequence
from typing import Any

from memtui.base import clock, fastjson, fs
from memtui.base.errors import MemtuiError
from memtui.deliver import error_log
from memtui.recall import semantic, sentences
from memtui.recall.sentences import FastEmbedModel, Filler
from memtui.settings import config

IDLE = 1800.0
# Seconds that a new daemon waits for the one before it to end; that a client may take to send a request; and after
# which it looks whether its socket is still its own.
SUCCESSION, SENDING, LOOK = 5.0, 2.0, 20.0
# A request has at most so many bytes, and so many may be under way.
MOST_BYTES, MOST_AT_ONCE = 1 << 20, 16


class Daemon:
    """Serves one data root with one model. `fill`: directories whose indexes get their vectors at once."""

    def __init__(self, root: str, model: FastEmbedModel, idle: float = IDLE, fill: Sequence[str] = ()) -> None:
        self.root = root
        self.model = model
        self.key = sentences.key_of(model.name)
        self.idle = idle
        self.path = semantic.socket_of(root)
        self._model = threading.Lock()
        self._asked = threading.Condition()
        self._directories = list(fill)
        self._filling = ""
        self._ended = threading.Event()
        self._last = time.monotonic()
        self._since = clock.now()
        self._answered = 0
        self._places = threading.Semaphore(MOST_AT_ONCE)
        self._woken, self._wake = os.pipe2(os.O_CLOEXEC)

    def run(self) -> None:
        """Serve until it is time to end. Raises OSError if there can be no socket; the lock must be held."""
        try:
            self._run(listen(self.root))
        finally:
            with self._asked:
                self._ended.set()
                os.close(self._wake)
                os.close(self._woken)

    def _run(self, listening: socket.socket) -> None:
        own = os.stat(self.path).st_ino
        waited: list[Any] = [listening, self._woken]
        filler = threading.Thread(target=self._fill, daemon=True)
        filler.start()
        try:
            while not self._ended.is_set() and self._owns(own):
                seconds = self._last + self.idle - time.monotonic()
                if seconds <= 0 and not self._filling:
                    break
                ready, _, _ = select.select(waited, [], [], max(0.01, min(seconds, LOOK)))
                if listening in ready:
                    connection, _ = listening.accept()
                    if semantic.user_of(connection) not in {os.geteuid(), -1} or not self._places.acquire(
                        blocking=False
                    ):
                        connection.close()
                    else:
                        threading.Thread(target=self._serve, args=(connection,), daemon=True).start()
        finally:
            self._ended.set()
            with self._asked:
                self._asked.notify_all()
            if self._owns(own):
                fs.unlink(self.path)
            listening.close()
            filler.join(SUCCESSION)

    def _owns(self, number: int) -> bool:
        try:
            return os.lstat(self.path).st_ino == number
        except OSError:
            return False

    def _serve(self, connection: socket.socket) -> None:
        """Answer the request of one connection. Whatever comes or does not come over it harms no other."""
        try:
            with connection:
                connection.settimeout(SENDING)
                request = fastjson.loads_dict(_line(connection))
                answer = self.answer(request)
                connection.sendall(fastjson.dumps(answer).encode() + b"\n")
                self._answered += 1
            if answer.get("ended"):
                self.end()
        except Exception as error:
            # A client that is gone is none of ours to log; what the model says is.
            if not isinstance(error, OSError):
                error_log.add(self.root, "semantic", error)
        finally:
            self._places.release()

    def end(self) -> None:
        """End soon."""
        with self._asked:
            if not self._ended.is_set():  # else what would be woken is closed
                self._ended.set()
                os.write(self._wake, b".")

    def answer(self, request: dict[str, object]) -> dict[str, object]:
        """Return the answer to a request."""
        self._last = time.monotonic()
        reply: dict[str, object] = {"version": semantic.VERSION}
        op, text = request.get("op"), request.get("text")
        if request.get("version") != semantic.VERSION or op == "stop":
            return {**reply, "ended": True}
        if op == "embed" and isinstance(text, str):
            return {**reply, "key": self.key, "row": self.row(text).hex()}
        if op == "fill":
            directories = request.get("directories")
            names = [name for name in directories if isinstance(name, str)] if isinstance(directories, list) else []
            with self._asked:
                self._directories += [directory for directory in names if directory not in self._directories]
                self._asked.notify_all()
        state = {"pid": os.getpid(), "model": self.model.name, "since": self._since, "answered": self._answered}
        return {**reply, **state, "filling": self._filling, "waiting": len(self._directories)}

    def row(self, text: str) -> bytes:
        """Return the row of one text. One is made at a time, so that a prompt waits for one passage at most."""
        with self._model:
            return sentences.row(self.model, text)

    def _fill(self) -> None:
        filler = Filler(self.root, self.model, self.row, lambda: not self._ended.is_set())
        while not self._ended.is_set():
            with self._asked:
                self._asked.wait_for(lambda: self._ended.is_set() or bool(self._directories))
                if self._ended.is_set():
                    return
                self._filling = self._directories[0]
            try:
                filler.fill(self._filling)
            except Exception as error:  # the index was replaced, the disk is full: the next request tries again
                error_log.add(self.root, "semantic", error)
            finally:
                with self._asked:
                    self._directories.remove(self._filling)
                    self._filling = ""
                self._last = time.monotonic()


def _line(connection: socket.socket) -> bytes:
    """Read a line; what came, if the other end closes before it ends, or says too much."""
    end = time.monotonic() + SENDING
    data = b""
    while b"\n" not in data and len(data) < MOST_BYTES and time.monotonic() < end:
        part = connection.recv(1 << 16)
        if not part:
            break
        data += part
    return data


def listen(root: str) -> socket.socket:
    """Return a listening socket, in place of one that a killed daemon left. Raises OSError."""
    directory = semantic.place(root)
    other = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    path = f"{directory}/{os.getpid()}.new"
    opened = os.open(directory, os.O_RDONLY | os.O_DIRECTORY)
    before = os.umask(0o177)
    try:
        fs.unlink(path)
        other.bind(path if len(path.encode()) < 100 else f"/proc/self/fd/{opened}/{os.getpid()}.new")
        other.listen(MOST_AT_ONCE)
        # Renamed into place: whoever sees the socket can connect to it.
        os.rename(path, semantic.socket_of(root))
    except OSError:
        other.close()
        fs.unlink(path)
        raise
    finally:
        os.umask(before)
        os.close(opened)
    return other


def private(root: str) -> None:
    """Make the directory of the socket; one that others may read is made private. Raises OSError if it is not ours."""
    directory = semantic.place(root)
    fs.makedirs(directory)
    stat_result = os.lstat(directory)
    if stat_result.st_mode & fs.S_IFMT != fs.S_IFDIR or stat_result.st_uid != os.geteuid():
        raise OSError(1, "not our own directory", directory)
    if stat_result.st_mode & 0o077:
        os.chmod(directory, fs.DIR_MODE)


def serve(root: str, load: Callable[[], FastEmbedModel], idle: float = IDLE, fill: Sequence[str] = ()) -> bool:
    """Load a model and serve it until it is time to end; False if another daemon does already. `fill` as for `Daemon`.
    Raises OSError or MemtuiError, which `failed` then tells."""
    private(root)
    try:
        with fs.Lock(semantic.place(root) + "/lock", SUCCESSION):
            try:
                fs.unlink(semantic.socket_of(root))  # a killed one left it
                daemon = Daemon(root, load(), idle, fill)
                fs.unlink(semantic.failed(root))
                daemon.run()
            except (OSError, MemtuiError) as error:
                fail(root, error)
                raise
    except fs.LockTimeoutError:
        return False
    return True


def fail(root: str, error: Exception) -> None:
    """Note that the model could not be loaded or served: it is not tried again at once, and doctor tells it."""
    report = {"time": clock.now(), "why": str(error)[:500], "version": semantic.VERSION}
    fs.write_cache(semantic.failed(root), fastjson.dumps(report).encode())


def main(argv: Sequence[str]) -> None:
    """Serve the data root `argv[0]` by its settings, and fill the directories `argv[1:]` first. Never raises."""
    root, directories = argv[0], argv[1:]
    os.chdir("/")
    try:
        name = sentences.full_name(config.value(config.load(root), None, "semantic_model"))
        served = serve(root, lambda: sentences.FastEmbedModel(name, semantic.place(root) + "/models"), fill=directories)
        if not served and directories:
            semantic.ask(root, {"op": "fill", "directories": list(directories)}, SUCCESSION)
    except semantic.AbsentError:
        pass  # the other one still loads its model; the next worker asks it
    except Exception as error:
        error_log.add(root, "semantic", error)


if __name__ == "__main__":
    main(sys.argv[1:])
