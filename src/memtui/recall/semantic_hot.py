"""The memories nearest to a prompt by the vectors of whole sentences, asked of a daemon that keeps their model warm.

The daemon (recall/daemon.py) makes the prompt's vector; those of the memories lie in a file for each segment
(recall/sentences.py). If anything is missing, slow, damaged, another user's or of another version, recall goes on with
the token vectors. Hot path; imported only while there is a socket.

A file of sentences has a head (MAGIC, then in 32 bits its size, the number of memories, and where the passages start),
four floats of 64 bits that put its cosines on the scale of the token vectors, the number of the first passage of each
memory and of none behind the last in 32 bits, the passages as recall/nearest_passages_hot.py lays them out, and which
memories they are of. Numbers have the machine's byte order."""

import posix
import sys
import time

from memtui import __version__
from memtui.base import fastjson_hot, fs_hot, native_hot
from memtui.recall.nearest_passages_hot import Passages, best
from memtui.recall.vectors_hot import Vector

PROTOCOL = 1  # changes with what daemon and hook say to each other, or how texts are divided
VERSION = f"{__version__}.{PROTOCOL}"
PATIENCE = 0.08  # seconds that a hook waits for the daemon, in all: a prompt takes a small model about 10 ms
MOST_BYTES = 1 << 20  # the most bytes of an answer: a row in hex is less than 4 kB
MOST_TEXT = 2000  # characters of a prompt: more than a model reads
FIRST_PASSAGES = 4  # passages of a memory that are compared although others are nearer, because its words were found
MAGIC = f"memtui sentences {PROTOCOL} {sys.byteorder[:1]}".encode().ljust(20)
HEAD = len(MAGIC) + 12
SCALE = HEAD + 32
TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


def place(root: str) -> str:
    """Return the directory of the daemon's socket and lock."""
    return root + "/semantic"


def socket_of(root: str) -> str:
    return root + "/semantic/socket"


def failed(root: str) -> str:
    """Return the path of what the last daemon that could not load its model said."""
    return root + "/semantic/failed"


def file_of(root: str, segment: str, key: str) -> str:
    """Return the path of the file with the sentences of a segment, by the model that `key` names."""
    return f"{root}/recall/sentences/{segment}.{key}"


class AbsentError(OSError):
    """There is no daemon that answers in time, as this user, and in this version."""


def ask(root: str, request: "dict[str, object]", patience: float = PATIENCE) -> "dict[str, object]":
    """Ask the daemon, and return its answer. Raises AbsentError, also if it is of another version or another user."""
    end = time.monotonic() + patience
    directory = -1
    connection = None
    _socket = native_hot.load("_socket")
    try:
        directory = posix.open(place(root), posix.O_RDONLY | posix.O_DIRECTORY | posix.O_NOFOLLOW | posix.O_CLOEXEC)
        stat_result = posix.fstat(directory)
        if stat_result.st_uid != posix.geteuid() or stat_result.st_mode & 0o077:
            raise AbsentError("the directory is not private")
        connection = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
        connection.settimeout(patience)
        connection.connect(address(root, directory))
        if user_of(connection) not in {posix.geteuid(), -1}:
            raise AbsentError("another user's")
        request_now = {**request, "version": VERSION}
        connection.sendall(fastjson_hot.dumps(request_now).encode() + b"\n")
        parts: list[bytes] = []
        size = 0
        while not parts or b"\n" not in parts[-1]:
            connection.settimeout(max(0.001, end - time.monotonic()))
            part = connection.recv(1 << 16)
            size += len(part)
            if not part or size > MOST_BYTES or time.monotonic() > end:
                raise AbsentError("no whole answer")
            parts.append(part)
    except OSError as error:
        raise error if isinstance(error, AbsentError) else AbsentError(str(error)) from error
    finally:
        if connection is not None:
            connection.close()
        if directory >= 0:
            posix.close(directory)
    answer = fastjson_hot.loads_dict(b"".join(parts))
    if answer.get("version") != VERSION:
        raise AbsentError("another version")
    return answer


def address(root: str, directory: int) -> str:
    """Return a path of the socket that is short enough for the kernel, given its open directory."""
    path = socket_of(root)
    return path if len(path.encode()) < 100 else f"/proc/self/fd/{directory}/socket"


def user_of(connection: "object") -> int:
    """Return the number of the user at the other end of a connection; -1 where the kernel does not tell."""
    _socket = native_hot.load("_socket")
    option = getattr(_socket, "SO_PEERCRED", None)
    if option is None:
        return -1
    credentials = connection.getsockopt(_socket.SOL_SOCKET, option, 12)  # type: ignore[attr-defined]
    return int(memoryview(credentials).cast("i")[1])


def vector_of_row(row: bytes) -> Vector:
    return Vector(list(memoryview(row).cast("b")))


def closest(
    root: str, segments: "Sequence[tuple[str, int, Iterable[int]]]", text: str, most: int
) -> "list[dict[int, float]] | None":
    """Return the memories nearest to a text with their best cosine, by segment; None if the daemon can't tell."""
    opened: list[Sentences] = []
    try:
        answer = ask(root, {"op": "embed", "text": text[:MOST_TEXT]})
        key, row = answer.get("key"), answer.get("row")
        if not isinstance(key, str) or not isinstance(row, str) or not key.isalnum():
            return None
        vector = vector_of_row(bytes.fromhex(row))
        for name, number, _ in segments:
            opened.append(Sentences(file_of(root, name, key), number))
        scaled = max(opened, key=lambda sentences: sentences.number).scaled
        by_segment = []
        for sentences, (_, _, docs) in zip(opened, segments, strict=True):
            by_segment.append({doc: scaled(cosine) for doc, cosine in sentences.nearest(vector, most, docs).items()})
        return by_segment
    except (OSError, ValueError, TypeError, IndexError, ZeroDivisionError):
        return None
    finally:
        for sentences in opened:
            sentences.close()


class Sentences:
    """The open file with the sentences of one segment, of `number` memories. Raises OSError if it is not whole."""

    __slots__ = ("_fd", "_passages", "_scale", "_starts", "number")

    def __init__(self, path: str, number: int) -> None:
        self._fd = fs_hot.open_regular(path, ours=True)
        self.number = number
        size = posix.fstat(self._fd).st_size
        head = posix.pread(self._fd, SCALE + 4 * (number + 1), 0)
        header = memoryview(head)[len(MAGIC) : HEAD].cast("I") if len(head) == SCALE + 4 * (number + 1) else (0, 0, 0)
        if not head.startswith(MAGIC) or header[0] != size or header[1] != number:
            self.close()
            raise OSError(22, "not a whole file of sentences", path)
        self._scale = memoryview(head)[HEAD:SCALE].cast("d")
        self._starts = memoryview(head)[SCALE:].cast("I")
        start: int = header[2]
        self._passages = Passages(lambda offset, length: posix.pread(self._fd, length, start + offset))

    def close(self) -> None:
        if self._fd >= 0:
            posix.close(self._fd)
            self._fd = -1

    def nearest(self, vector: Vector, most: int, docs: "Iterable[int]" = ()) -> "dict[int, float]":
        """Return the numbers of the memories that are nearest, and of those `docs`, with their best cosine."""
        starts = self._starts
        if not starts[self.number]:
            return {}
        firsts: dict[int, int] = {}
        for doc in docs:
            first = starts[doc]
            firsts.update(dict.fromkeys(range(first, min(starts[doc + 1], first + FIRST_PASSAGES)), doc))
        return best(self._passages, vector, most, self._owner, firsts)

    def _owner(self, passage: int) -> int:
        """Return the memory that a passage is of: the last one that starts at it or before."""
        low, high = 0, self.number
        while high - low > 1:
            middle = (low + high) // 2
            if self._starts[middle] <= passage:
                low = middle
            else:
                high = middle
        return low

    def scaled(self, cosine: float) -> float:
        """Return a cosine as one of token vectors, for which what judges it was fitted."""
        mean, deviation, wanted_mean, wanted_deviation = self._scale
        return min(1.0, wanted_mean + (cosine - mean) / deviation * wanted_deviation)
