"""A model for the vectors of whole sentences, of the extra `semantic`, and rows of texts. Cold. The same text always
has the same row: texts go through the model one by one, for one in a batch is padded, which changes the last digits."""

import marshal
import os
import random
from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing, suppress
from functools import partial
from importlib import import_module, util
from typing import Any, NamedTuple

from memtui.base import deadline, fs_hot, ids_hot, installer, paths_hot
from memtui.base.errors import MemtuiError
from memtui.recall import fields, nearest_passages_hot, segment_hot
from memtui.recall.embed import row_of
from memtui.recall.semantic_hot import MAGIC, MOST_TEXT, SCALE, VERSION, Sentences, file_of, vector_of_row
from memtui.recall.vectors_hot import Vector
from memtui.store import triggers

PASSAGE, OVERLAP = 600, 200  # characters of a passage, and of these also in the next: some 120 tokens, and 40
MOST_PASSAGES = 64  # no more passages of one memory: some 6,000 tokens
FINENESS = 1 << 20  # values of a model are rounded to whole numbers at this scale before they become a row
# What fastembed calls the models that the setting `semantic_model` has a word for.
MODELS = {
    "polyglot": "sentence-transformers/paraphrase-multilingual-MiniLM-L12-v2",
    "english": "sentence-transformers/all-MiniLM-L6-v2",
}
# Where they are downloaded from, unless HF_ENDPOINT says otherwise, and the seconds for which a connection is tried.
HUB, CONNECTING = "https://huggingface.co", 3.0


class FastEmbedModel:
    """A model that fastembed runs, downloaded into `directory` when first needed. Raises MemtuiError."""

    def __init__(self, name: str, directory: str) -> None:
        must_be_installed()
        self.name = name
        os.environ["HF_HUB_DISABLE_TELEMETRY"] = "1"  # only the model's files are asked for
        try:
            os.makedirs(directory, 0o700, exist_ok=True)
            hub = os.environ.get("HF_ENDPOINT") or HUB
            if not os.listdir(directory):  # told before seconds of imports
                must_be_reached(hub)
            fastembed = import_module("fastembed")
            load = partial(fastembed.TextEmbedding, model_name=name, cache_dir=directory, threads=1)
            try:
                self._model: Any = load(local_files_only=True)
            except Exception:  # not here, or not whole
                must_be_reached(hub)
                self._model = load()
        except MemtuiError:
            raise
        except Exception as error:
            why = str(error).strip() or type(error).__name__
            raise MemtuiError(f"The model {name} can't be loaded: {why}") from error

    def embed(self, texts: Sequence[str]) -> Iterator[list[float]]:
        for vector in self._model.embed(list(texts)):
            yield [float(value) for value in vector]


def installed() -> bool:
    """Return whether the extra is installed for this interpreter."""
    return util.find_spec("fastembed") is not None


def must_be_installed() -> None:
    """Raise MemtuiError if the extra is not installed for this interpreter."""
    if not installed():
        raise MemtuiError("The package fastembed is not installed.", installer.adding("fastembed"))


def must_be_reached(url: str) -> None:
    """Raise MemtuiError if there is no connection to an address, or its proxy: fastembed fails after a minute only."""
    import socket
    from urllib.parse import urlsplit
    from urllib.request import getproxies, proxy_bypass

    host, proxies = urlsplit(url).hostname or "", getproxies()
    proxy = "" if proxy_bypass(host) else proxies.get("https") or proxies.get("all") or ""
    target = urlsplit(proxy or url)
    address = (target.hostname, target.port or (80 if target.scheme == "http" else 443))
    late: OSError | None = OSError()
    if deadline.within(CONNECTING, lambda: socket.create_connection(address, CONNECTING).close(), late):
        way = f" by the proxy {target.hostname}" if proxy else ""
        raise MemtuiError(f"There is no connection to {host}{way}, from which the model is downloaded once.")


def full_name(setting: object) -> str:
    """Return what fastembed calls the model that the setting `semantic_model` names."""
    return MODELS.get(str(setting), str(setting))


def key_of(name: str) -> str:
    """Return what names a model in files: letters and digits."""
    return ids_hot.content_hash(f"{VERSION} {name}")


def row(model: FastEmbedModel, text: str) -> bytes:
    (values,) = model.embed([text[:MOST_TEXT]])
    return row_of(Vector([round(value * FINENESS) for value in values]))


def passages(texts: Iterable[str]) -> list[str]:
    """Divide texts into passages, at blanks where there are any; at most MOST_PASSAGES."""
    found: list[str] = []
    for text in texts:
        plain = " ".join(text.split())
        start = 0
        while plain[start:].strip() and len(found) < MOST_PASSAGES:
            end = start + PASSAGE
            if end < len(plain):
                end = plain.rfind(" ", start + PASSAGE // 2, end) + 1 or end
            found.append(plain[start:end].strip())
            if end >= len(plain):
                break
            start = plain.find(" ", end - OVERLAP, end) + 1 or end - OVERLAP
    return found


# Pairs of memories by which cosines are put on the scale of the token vectors, and how many memories that takes.
PAIRS, LEAST = 400, 12
SEED = 5
PLAIN = (0.0, 1.0, 0.0, 1.0)  # leaves cosines as they are: mean and deviation of what is, and of what is wanted
MOST_BYTES = 1 << 30


class MemoryRows(NamedTuple):
    """The rows of a memory's passages; `mark` tells its bytes and triggers."""

    mark: str
    rows: list[bytes]


class Filler:
    """Makes the files of one data root; `make`: the row of a text; `go_on` is asked before each memory."""

    def __init__(
        self,
        root: str,
        model: FastEmbedModel,
        make: Callable[[str], bytes] | None = None,
        go_on: Callable[[], bool] = lambda: True,
    ) -> None:
        self.root = root
        self.key = key_of(model.name)
        self.make = make or (lambda text: row(model, text))
        self.go_on = go_on

    def fill(self, directory: str) -> int:
        """Write the files that a directory's index lacks, remove others; return the number read. Raises OSError."""
        manifest = segment_hot.read_manifest(self.root, directory)
        count = 0
        entries = manifest.segments if manifest is not None else []
        lacking = [entry for entry in entries if not self._is_whole(entry)]
        earlier = self._earlier(directory) if lacking else {}
        for entry in lacking:
            if not self._write(directory, entry, earlier):
                return count
            count += int(entry["number"])
        names = {f"{entry['name']}.{self.key}" for entry in entries}
        for name in self._files(directory):
            if name not in names:
                fs_hot.unlink(f"{self.root}/recall/sentences/{name}")
        return count

    def _is_whole(self, entry: dict[str, object]) -> bool:
        try:
            Sentences(file_of(self.root, str(entry["name"]), self.key), int(str(entry["number"]))).close()
        except OSError:
            return False
        return True

    def _write(self, directory: str, entry: dict[str, object], earlier: dict[str, MemoryRows]) -> bool:
        """Make and write the file of one segment, unless it is to end; what was made is kept in `earlier`."""
        lines = triggers.lines_of(self.root, directory)
        with closing(segment_hot.Segment(self.root, entry)) as opened:
            memory_rows = []
            for row in list(opened.every_row()):
                mark = f"{row[segment_hot.DIGEST]} {row[segment_hot.TRIGGERS]}"
                if mark not in earlier:
                    if not self.go_on():
                        return False
                    texts = [trigger.text for trigger in lines.get(str(row[0]), ())]
                    earlier[mark] = MemoryRows(mark, self._rows(directory, row, texts))
                memory_rows.append(earlier[mark])
            path = file_of(self.root, opened.name, self.key)
            fs_hot.makedirs(paths_hot.parent(path))
            fs_hot.write_atomic(path, as_bytes(memory_rows, scale(opened, memory_rows)), durable=False)
            return True

    def _rows(self, directory: str, row: tuple[object, ...], lines: Iterable[str]) -> list[bytes]:
        """Return the rows of a memory's passages; none if its file is not as it was indexed."""
        file = str(row[0])
        try:
            data = fs_hot.read_bytes(f"{directory}/{file}", fields.MOST_BYTES)
        except OSError:
            return []
        if ids_hot.digest(data) != row[segment_hot.DIGEST]:
            return []
        return [self.make(text) for text in passages(fields.read(data, file, lines).passages())]

    def _files(self, directory: str) -> list[str]:
        stem = os.path.basename(paths_hot.index_base(self.root, directory)) + "-"
        return [name for name in paths_hot.names_in(f"{self.root}/recall/sentences") if name.startswith(stem)]

    def _earlier(self, directory: str) -> dict[str, MemoryRows]:
        """Read what is in the files of this directory, by mark; damaged ones have nothing."""
        rows: dict[str, MemoryRows] = {}
        for name in self._files(directory):
            if name.endswith("." + self.key):
                with suppress(OSError, ValueError, EOFError, TypeError, IndexError):
                    rows |= {each.mark: each for each in read(f"{self.root}/recall/sentences/{name}") if each.rows}
        return rows


def scale(opened: segment_hot.Segment, memory_rows: Sequence[MemoryRows]) -> tuple[float, ...]:
    """Return the scale of cosines: (mean, deviation) by sentences and by token vectors; PLAIN for few memories."""
    if not opened.has_passages:
        return PLAIN
    both = [at for at, one in enumerate(memory_rows) if one.rows and opened.passages_of(at)]
    if len(both) < LEAST:
        return PLAIN
    passages = nearest_passages_hot.Passages(opened.passages)
    choose = random.Random(SEED)  # noqa: S311  no secret: the same pairs each time
    ours, targets = [], []
    for _ in range(PAIRS):
        one, other = choose.sample(both, 2)
        ours.append(vector_of_row(memory_rows[one].rows[0]).cosine(memory_rows[other].rows[0]))
        first, second = (passages.row(opened.passages_of(at)[0]) for at in (one, other))
        targets.append(vector_of_row(first).cosine(second))
    result = (*_spread(ours), *_spread(targets))
    return result if result[1] > 0 and result[3] > 0 else PLAIN


def _spread(values: Sequence[float]) -> tuple[float, float]:
    mean = sum(values) / len(values)
    return mean, (sum((value - mean) ** 2 for value in values) / len(values)) ** 0.5


def as_bytes(memory_rows: Sequence[MemoryRows], scaled: Sequence[float]) -> bytes:
    """Return the bytes of a file, as recall/semantic_hot.py tells."""
    starts = array("I", [0])
    for rows in memory_rows:
        starts.append(starts[-1] + len(rows.rows))
    packed = nearest_passages_hot.pack([row for rows in memory_rows for row in rows.rows])
    marks = marshal.dumps([rows.mark for rows in memory_rows])
    start = SCALE + 4 * len(starts)
    size = start + len(packed) + len(marks) + 4
    header = array("I", [size, len(memory_rows), start]).tobytes() + array("d", scaled).tobytes()
    return b"".join([MAGIC, header, starts.tobytes(), packed, marks, array("I", [len(marks)]).tobytes()])


def read(path: str) -> list[MemoryRows]:
    """Read a whole file. Raises OSError, or ValueError, EOFError, TypeError or IndexError for a damaged one."""
    data = fs_hot.read_bytes(path, MOST_BYTES)
    if not data.startswith(MAGIC) or len(data) < SCALE:
        raise ValueError("not a file of sentences")
    size, number, start = memoryview(data)[len(MAGIC) : SCALE - 32].cast("I")
    if size != len(data):
        raise ValueError("not whole")
    starts = memoryview(data)[SCALE : SCALE + 4 * (number + 1)].cast("I")
    length = int(memoryview(data)[-4:].cast("I")[0])
    marks = marshal.loads(data[-4 - length : -4])  # noqa: S302
    if not starts[number]:
        return [MemoryRows(mark, []) for mark in marks]
    passages = nearest_passages_hot.Passages(lambda offset, many: data[start + offset : start + offset + many])
    own = [range(starts[doc], starts[doc + 1]) for doc in range(len(marks))]
    return [MemoryRows(mark, list(map(passages.row, numbers))) for mark, numbers in zip(marks, own, strict=True)]
