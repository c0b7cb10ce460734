"""Prompts for which a person does not want a memory: "never for prompts like this". Read by the hook that recalls.

They are kept beside the memory (`beside`), as rows of `mutes/<hash of the directory>.jsonl`: the prompt (`text`) and
its terms, as recall has them (`recall/words.py`). Most directories have none, which costs one failed look."""

from memtui.core.base import fastjson, fs, ids

KIND = "mutes"
# Prompts are alike from this cosine of their terms on; a common word counts so much, any other 1.
CLOSE, COMMON = 0.6, 0.15
MOST_TERMS = 64
# Words that say nothing about what a prompt is about, in six languages, as `recall/words.py` makes terms of them.
_COMMON_TERMS = (
    "a aber about again ai all als also am an and any are as at auch auf aus avec avon be been bei being bitt but "
    "by can ce ces cet cett che com come comment como con could cual cuando da dan dann das de dein del dem den "
    "der des di did die do doe dond done dove du e ein eine einem einen einer el elle em en er es est esta estan "
    "et etre eu fair fais fare faut favor fazer for fra from fur get gli go ha habe haben hacer had has hat have "
    "hay haz he her here hey hi his how i ich if ihr il ils im in into io is ist it its je jetzt just kann kein "
    "konnen la las le les let lo los ma mach mais make mal mas may me mein mes meu mi might mio mit mon muss must "
    "my na nao nas ne need nicht no noch noi non nos nosotro not notr nous now nuestro nur o oder of ok on onde "
    "ont or os ou our over par para pas per pero peut peux pleas plus pode por porqu pour pourquoi pued puedo "
    "puoi quand quando que qui quoi san se sein sem ser seu shall she should si sie sin sind so soll some son "
    "sont sous still su sur than that the their them then ther thes they this thos to ton tra tu tuo um uma un "
    "una und une uno unser us use using voce vom von votr vous want war warum was we wenn wer werden were what "
    "when wher which who why wie will wir wird with wo would y yes yo you your zu zum zur "
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


class Mutes:
    """The muted prompts of the memories under a data root. Files are read when they are first asked for, once."""

    __slots__ = ("_common", "_known", "_root")

    def __init__(self, root: str) -> None:
        self._root = root
        self._known: dict[str, dict[str, list[frozenset[str]]]] = {}
        self._common: frozenset[str] = frozenset()

    def muted(self, directory: str, file: str, terms: "Iterable[str]") -> bool:
        """Tell whether a memory, by its directory and file there, is not wanted for a prompt with these terms."""
        known = self._known.get(directory)
        if known is None:
            known = self._known[directory] = load(self._root, directory)
        mine = known.get(file)
        if not mine:
            return False
        asked = set(terms)
        return any(self.are_close(asked, each) for each in mine)

    def are_close(self, one: "set[str]", other: "frozenset[str]") -> bool:
        """Tell whether two prompts are alike, by their terms."""
        self._common = self._common or frozenset(_COMMON_TERMS.split())
        shared = self._weight(one & other)
        return shared > 0.0 and shared * shared >= CLOSE * CLOSE * self._weight(one) * self._weight(other)

    def _weight(self, terms: "Iterable[str]") -> float:
        return sum([COMMON * COMMON if term in self._common else 1.0 for term in terms])


def load(root: str, directory: str) -> "dict[str, list[frozenset[str]]]":
    """Return the terms of the muted prompts, by the memory's file. Never raises."""
    by_file: dict[str, list[frozenset[str]]] = {}
    try:
        data = fs.read_bytes(f"{root}/{KIND}/{ids.content_hash(directory)}.jsonl")
    except OSError:
        return by_file
    for line in data.split(b"\n"):
        row = fastjson.loads_dict(line) if line else {}
        file, terms = row.get("file"), row.get("terms")
        if isinstance(file, str) and isinstance(terms, list):
            by_file.setdefault(file, []).append(frozenset([term for term in terms if isinstance(term, str)]))
    return by_file


def row(text: str, terms: "Sequence[str]", time: str) -> str:
    """Return a muted prompt as it is kept: shown by `text`, found again by its terms."""
    return fastjson.dumps({"text": text, "terms": list(dict.fromkeys(terms))[:MOST_TERMS], "time": time})
