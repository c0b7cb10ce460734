"""The daemon that keeps a sentence model warm: it answers hooks on a Unix socket, and fills in memories' vectors. Cold.

`<root>/semantic` is its private directory: `lock` is held while it lives, and says which process that is; `socket`
answers once the model is loaded; and `failed` says why the last one could not load it. One runs for each data root. It
ends after IDLE seconds without a request, when asked to, when its socket is no longer its own, and at a request of
another version. The next one replaces the socket that a killed one left.

A request is a line of JSON: `version`, and `op`: `embed` with `text` (answer: `key` of the model, `row` in hex), `fill`
with `directories`, `status`, `stop`. An answer is such a line with `version`."""

import os
import queue
import socketserver
import sys
import threading
import time
from collections.abc import Callable, Iterable, Sequence

from memtui.base import clock_hot, fastjson_hot, fs_hot, paths_hot
from memtui.base.errors import MemtuiError
from memtui.client import process_hot
from memtui.deliver import error_log_hot
from memtui.recall import semantic_hot, sentences
from memtui.recall.sentences import FastEmbedModel, Filler
from memtui.settings import config_hot

IDLE = 1800.0
# Seconds that a new daemon waits for the one before it to end; that a client may take to send a request; and after
# which it looks whether it is to end, or its socket is no longer its own.
SUCCESSION, SENDING, LOOK = 1.0, 2.0, 1.0
MOST_BYTES = 1 << 20  # a request has at most so many bytes


class Daemon(socketserver.ThreadingMixIn, socketserver.UnixStreamServer):
    """Serves one data root with one model, with the lock held; `fill`: directories that get vectors. Raises OSError."""

    daemon_threads, block_on_close, timeout = True, False, LOOK

    def __init__(self, root: str, model: FastEmbedModel, idle: float = IDLE, fill: Sequence[str] = ()) -> None:
        self.root, self.model, self.idle = root, model, idle
        self.key = sentences.key_of(model.name)
        self._model = threading.Lock()
        self._directories: queue.Queue[str] = queue.Queue()
        self._filling = ""
        self._ended = threading.Event()
        self._last, self._since, self.answered = time.monotonic(), clock_hot.now(), 0
        self._add(fill)
        super().__init__(semantic_hot.socket_of(root), _Request)

    def server_bind(self) -> None:
        """Listen in place of a socket that a killed daemon left: renamed into place, so whoever sees it can connect."""
        directory = semantic_hot.place(self.root)
        path = f"{directory}/{os.getpid()}.new"
        opened = os.open(directory, os.O_RDONLY | os.O_DIRECTORY)
        try:
            for name in paths_hot.names_in(directory):
                if name.endswith(".new"):  # of one that was killed just here
                    fs_hot.unlink(f"{directory}/{name}")
            self.socket.bind(path if len(path.encode()) < 100 else f"/proc/self/fd/{opened}/{os.getpid()}.new")
            os.chmod(path, 0o600)
            self.socket.listen(self.request_queue_size)
            os.rename(path, semantic_hot.socket_of(self.root))
        except OSError:
            fs_hot.unlink(path)
            raise
        finally:
            os.close(opened)

    def run(self) -> None:
        """Serve until it is time to end."""
        own = os.stat(semantic_hot.socket_of(self.root)).st_ino
        filler = threading.Thread(target=self._fill, daemon=True)
        filler.start()
        try:
            while self._goes_on() and self._owns(own):
                self.handle_request()
        finally:
            self.end()
            self._directories.put("")
            if self._owns(own):
                fs_hot.unlink(semantic_hot.socket_of(self.root))
            self.server_close()
            filler.join(SENDING)

    def _goes_on(self) -> bool:
        is_idle = time.monotonic() > self._last + self.idle and not self._directories.unfinished_tasks
        return not (is_idle or self._ended.is_set())

    def _owns(self, number: int) -> bool:
        try:
            return os.lstat(semantic_hot.socket_of(self.root)).st_ino == number
        except OSError:
            return False

    def end(self) -> None:
        self._ended.set()

    def verify_request(self, request: object, _address: object) -> bool:
        """Tell whether a connection is of our own user."""
        return semantic_hot.user_of(request) in {os.geteuid(), -1}

    def handle_error(self, _request: object, _address: object) -> None:
        """Log what the model says; a client that is gone is none of ours to log, and harms no other."""
        error = sys.exception()
        if isinstance(error, Exception) and not isinstance(error, OSError):
            error_log_hot.add(self.root, "semantic", error)

    def answer(self, request: dict[str, object]) -> dict[str, object]:
        self._last = time.monotonic()
        reply: dict[str, object] = {"version": semantic_hot.VERSION}
        op, text = request.get("op"), request.get("text")
        if request.get("version") != semantic_hot.VERSION or op == "stop":
            return {**reply, "ended": True}
        if op == "embed" and isinstance(text, str):
            return {**reply, "key": self.key, "row": self.row(text).hex()}
        if op == "fill":
            self._add(name for name in fastjson_hot.rows(request, "directories") if isinstance(name, str))
        state = {"pid": os.getpid(), "model": self.model.name, "since": self._since, "answered": self.answered}
        return {**reply, **state, "filling": self._filling, "waiting": self._directories.unfinished_tasks}

    def row(self, text: str) -> bytes:
        """Return the row of one text. One is made at a time, so that a prompt waits for one passage at most."""
        with self._model:
            return sentences.row(self.model, text)

    def _add(self, directories: Iterable[str]) -> None:
        for directory in directories:
            if directory not in {*self._directories.queue, self._filling}:
                self._directories.put(directory)

    def _fill(self) -> None:
        filler = Filler(self.root, self.model, self.row, lambda: not self._ended.is_set())
        while directory := self._directories.get():
            self._filling = directory
            try:
                filler.fill(directory)
            except Exception as error:  # the index was replaced, the disk is full: the next request tries again
                error_log_hot.add(self.root, "semantic", error)
            self._filling, self._last = "", time.monotonic()
            self._directories.task_done()


class _Request(socketserver.StreamRequestHandler):
    server: Daemon
    timeout = SENDING

    def handle(self) -> None:
        answer = self.server.answer(fastjson_hot.loads_dict(self.rfile.readline(MOST_BYTES)))
        self.wfile.write(fastjson_hot.dumps(answer).encode() + b"\n")
        self.server.answered += 1
        if answer.get("ended"):
            self.server.end()


def private(root: str) -> None:
    """Make the directory of the socket; one that others may read is made private. Raises OSError if it is not ours."""
    directory = semantic_hot.place(root)
    fs_hot.makedirs(directory)
    stat_result = os.lstat(directory)
    if stat_result.st_mode & fs_hot.S_IFMT != fs_hot.S_IFDIR or stat_result.st_uid != os.geteuid():
        raise OSError(1, "not our own directory", directory)
    if stat_result.st_mode & 0o077:
        os.chmod(directory, fs_hot.DIR_MODE)


def serve(root: str, load: Callable[[], FastEmbedModel], idle: float = IDLE, fill: Sequence[str] = ()) -> bool:
    """Load a model and serve it until it is time to end; False if another daemon does. Raises OSError, MemtuiError."""
    private(root)
    try:
        with fs_hot.Lock(semantic_hot.place(root) + "/lock", SUCCESSION) as lock:
            try:
                os.truncate(lock.fd, 0)
                os.pwrite(lock.fd, fastjson_hot.dumps(process_hot.own()).encode(), 0)
                fs_hot.unlink(semantic_hot.socket_of(root))  # a killed one left it
                daemon = Daemon(root, load(), idle, fill)
                fs_hot.unlink(semantic_hot.failed(root))
                daemon.run()
            except (OSError, MemtuiError) as error:
                fail(root, error)
                raise
    except fs_hot.LockTimeoutError:
        return False
    return True


def fail(root: str, error: Exception) -> None:
    """Note that the model could not be loaded or served: it is not tried again at once, and doctor tells it."""
    report = {"time": clock_hot.now(), "why": str(error)[:500], "version": semantic_hot.VERSION}
    fs_hot.write_cache(semantic_hot.failed(root), fastjson_hot.dumps(report).encode())


def main(argv: Sequence[str]) -> None:
    """Serve the data root `argv[0]` by its settings, and fill the directories `argv[1:]` first. Never raises."""
    root, directories = argv[0], argv[1:]
    os.chdir("/")
    try:
        name = sentences.full_name(config_hot.value(config_hot.load(root), None, "semantic_model"))
        load = lambda: sentences.FastEmbedModel(name, semantic_hot.place(root) + "/models")
        if not serve(root, load, fill=directories) and directories:
            semantic_hot.ask(root, {"op": "fill", "directories": list(directories)}, SUCCESSION)
    except (semantic_hot.AbsentError, MemtuiError):
        pass  # the other one still loads its model, the next worker asks it; or `failed` tells it
    except Exception as error:
        error_log_hot.add(root, "semantic", error)


if __name__ == "__main__":
    main(sys.argv[1:])
