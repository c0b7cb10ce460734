"""Prompts for which a person does not want a memory, with their terms, in `mutes/`: read by the hook that recalls."""

from memtui.base import fastjson_hot, fs_hot, ids_hot

KIND = "mutes"
# Prompts are alike from this cosine of their terms on; a common word counts so much, any other 1.
CLOSE, COMMON = 0.6, 0.15
MOST_TERMS = 64
# The text of a row without terms, which mutes a memory for all prompts.
EVERY = "every prompt"
TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


class Mutes:
    """The muted prompts under a data root, each directory read once; `common`: terms that tell little."""

    __slots__ = ("_common", "_known", "_root")

    def __init__(self, root: str, common: "frozenset[str]") -> None:
        self._root = root
        self._known: dict[str, dict[str, list[frozenset[str]]]] = {}
        self._common = common

    def muted(self, directory: str, file: str, terms: "Iterable[str]") -> bool:
        """Tell whether a memory, by its directory and file there, is not wanted for a prompt with these terms."""
        mutes_here = self._known.get(directory)
        if mutes_here is None:
            mutes_here = self._known[directory] = load(self._root, directory)
        mine = mutes_here.get(file)
        if not mine:
            return False
        prompt_terms = set(terms)
        return any(not mute or self.are_close(prompt_terms, mute) for mute in mine)

    def are_close(self, one: "set[str]", other: "frozenset[str]") -> bool:
        """Tell whether two prompts are alike, by their terms."""
        shared = self._weight(one & other)
        return shared > 0.0 and shared * shared >= CLOSE * CLOSE * self._weight(one) * self._weight(other)

    def _weight(self, terms: "Iterable[str]") -> float:
        return sum([COMMON * COMMON if term in self._common else 1.0 for term in terms])


def load(root: str, directory: str) -> "dict[str, list[frozenset[str]]]":
    """Return the terms of the muted prompts, by the memory's file. Never raises."""
    by_file: dict[str, list[frozenset[str]]] = {}
    for line in fs_hot.head(f"{root}/{KIND}/{ids_hot.content_hash(directory)}.jsonl").split(b"\n"):
        row = fastjson_hot.loads_dict(line) if line else {}
        file, terms = row.get("file"), row.get("terms")
        if isinstance(file, str) and isinstance(terms, list):
            by_file.setdefault(file, []).append(frozenset([term for term in terms if isinstance(term, str)]))
    return by_file


def is_muted(root: str, directory: str, file: str) -> bool:
    """Tell whether a memory is muted for every prompt."""
    return frozenset() in load(root, directory).get(file, ())


def row(text: str, terms: "Sequence[str]", time: str) -> "dict[str, object]":
    """Return a muted prompt as it is kept: shown by `text`, found again by its terms."""
    return {"text": text, "terms": list(dict.fromkeys(terms))[:MOST_TERMS], "time": time}
